import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { makeKey, parseKeyRequest } from '../src/people/keys/manage-keys.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { provider, startService, type ServiceOptions, type ServiceUnderTest } from './harness.ts'

/** USD per million tokens: 3 and 15, so that a token costs 3,000 and 15,000 nano-USD. */
export const price = { input: 3, output: 15 } as const

/** The cost of an answer in nano-USD, as a provider with {@link price} bills it. */
export function billed(prompt: number, completion: number): number {
  return prompt * 3_000 + completion * 15_000
}

/** A service with `--auth keys` in a home that outlives it. */
export interface LedgerRig extends AsyncDisposable {
  readonly home: string
  readonly service: ServiceUnderTest
  /** A key with the scopes `chat`, `models:read` and `usage:read`. */
  readonly key: string
  /** Starts the service again in the same home. */
  restart(): Promise<ServiceUnderTest>
  /** Makes another key. */
  makeKey(request: object): Promise<string>
  /** Reads svc.db, or another file of the home. */
  read(query: string, file?: string): readonly Readonly<Record<string, unknown>>[]
  /** The sum of a column over all hours. */
  sum(column: string): number
}

/** Options of {@link startLedgerRig}. */
export interface LedgerRigOptions extends ServiceOptions {
  /** Fields of all providers, such as `api_key`. */
  readonly every?: Readonly<Record<string, unknown>>
}

/** Starts providers `a`, `b`, … with these scripts for model `m`. */
export async function startLedgerRig(scripts: readonly Script[], options: LedgerRigOptions = {}): Promise<LedgerRig> {
  const home = mkdtempSync(join(tmpdir(), 'svc-ledger-'))
  const upstreams = scripts.map((script) => faultUpstream(script))
  const models = [{ name: 'm', upstream: 'm-1', price }]
  const config = {
    owners: [],
    providers: upstreams.map(({ url }, index) =>
      provider(String.fromCharCode(97 + index), url, [], { models, ...options.every }),
    ),
  }
  const makeOne = async (request: object): Promise<string> => {
    const ledger = await openLedger({ path: join(home, 'svc.db') })
    try {
      return (await makeKey(ledger.keys, parseKeyRequest(request), { by: 'test', now: Date.now() })).key
    } finally {
      await ledger.close()
    }
  }
  const key = await makeOne({ name: 'tester', scopes: ['chat', 'models:read'] })
  const start = () =>
    startService(config, {
      ...options,
      flags: ['--auth', 'keys', ...(options.flags ?? [])],
      environment: { ...options.environment, SVC_HOME: home },
    })
  let service = await start()

  function read(query: string, file = 'svc.db') {
    const database = new Database(join(home, file), { readonly: true })
    try {
      return database.query<Record<string, unknown>, []>(query).all()
    } finally {
      database.close()
    }
  }

  return {
    home,
    get service() {
      return service
    },
    key,
    async restart() {
      service = await start()
      return service
    },
    makeKey: makeOne,
    read,
    sum: (column) => Number(read(`SELECT total(${column}) AS sum FROM usage_hour`)[0]?.['sum']),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      for (const upstream of upstreams) await upstream.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Waits until a claim is true. @throws after 20 s, or another time */
export async function until(claim: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  for (const end = performance.now() + limitMs; !(await claim()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it never came true')
}
