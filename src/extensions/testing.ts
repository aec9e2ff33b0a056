import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WireError } from '../formats/error.ts'
import { type Limit, type LimitOptions, type Store, StoreUnavailable } from '../stores/store.ts'
import {
  ExtensionConfigError,
  type Extension,
  type ExtensionConfig,
  type ExtensionLog,
  type Host,
  type RequestContext,
} from './extension.ts'
import { checkClaim } from './slots.ts'

/** A clock that tests set, in Unix milliseconds. */
export interface TwoClocks {
  ms: number
  /** The monotonic clock. */
  elapsedMs: number
}

/** A store without expiry, so that its users must check ages themselves. */
export interface FakeStore<Value> extends Store<Value> {
  readonly entries: Map<string, { readonly value: Value; readonly owner: string }>
  /** Number of operations. */
  calls: number
  isAway: boolean
}

/** An empty {@link FakeStore}. */
export function fakeStore<Value>(): FakeStore<Value> {
  const entries: FakeStore<Value>['entries'] = new Map()
  async function asked(): Promise<void> {
    store.calls++
    if (store.isAway) throw new StoreUnavailable('away')
  }
  const store: FakeStore<Value> = {
    entries,
    calls: 0,
    isAway: false,
    async get(key) {
      await asked()
      return entries.get(key)?.value
    },
    async set(key, value, owner) {
      await asked()
      entries.set(key, { value, owner })
    },
    async take(key) {
      await asked()
      const entry = entries.get(key)
      entries.delete(key)
      return entry?.value
    },
    async takeAll(owner) {
      await asked()
      const owned = [...entries].filter(([, entry]) => entry.owner === owner)
      for (const [key] of owned) entries.delete(key)
      return owned.map(([, entry]) => entry.value)
    },
    async delete(key) {
      await asked()
      entries.delete(key)
    },
    async list(most) {
      await asked()
      const newest = [...entries].toReversed().slice(0, most)
      return newest.map(([key, { value }]) => ({ key, value }))
    },
  }
  return store
}

/** A line of the log: level, message and fields. */
export type LogLine = readonly [level: string, message: string, fields?: unknown]

/** A log that keeps its lines. */
export function fakeLog(): { readonly log: ExtensionLog; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: string): ExtensionLog['info'] =>
    (message, fields) => {
      lines.push(fields === undefined ? [level, message] : [level, message, fields])
    }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

/** A limit without a bound on its number of clients. */
function fakeLimit({ perMinute }: LimitOptions, clock: TwoClocks): Limit {
  const saved = new Map<string, { readonly count: number; readonly at: number }>()
  return {
    async take(client) {
      if (perMinute === 0) return undefined
      const { count, at } = saved.get(client) ?? { count: perMinute, at: clock.ms }
      const grown = Math.min(perMinute, count + ((clock.ms - at) * perMinute) / 60_000)
      saved.set(client, { count: grown < 1 ? grown : grown - 1, at: clock.ms })
      return grown < 1 ? Math.ceil(((1 - grown) * 60) / perMinute) : undefined
    },
  }
}

/** A host whose stores, clock and log tests can inspect. Its `fetch` fails. */
export interface FakeHost extends Host {
  readonly clock: TwoClocks
  readonly stores: Map<string, FakeStore<unknown>>
  readonly lines: LogLine[]
}

/** A host with a configuration file, or without one. */
export function fakeHost(config?: ExtensionConfig): FakeHost {
  const clock: TwoClocks = { ms: 1_800_000_000_123, elapsedMs: 7_000 }
  const stores = new Map<string, FakeStore<unknown>>()
  const { log, lines } = fakeLog()
  const host: FakeHost = {
    clock,
    stores,
    lines,
    log,
    config: async () => config,
    store<Value>(name: string) {
      const store = stores.get(name) ?? fakeStore<unknown>()
      stores.set(name, store)
      // A store is only read by the extension that wrote its values, so their type is known.
      return store as FakeStore<Value>
    },
    lastingStore: (name, options) => host.store(name, options),
    limit: (_name, options) => fakeLimit(options, clock),
    fetch: async () => {
      throw new Error('this host has no network')
    },
    now: () => clock.ms,
    elapsedMs: () => clock.elapsedMs,
  }
  return host
}

export interface ContractOptions {
  /** Name of the folder of the extension. */
  readonly folder: string
  /** Members of a file that switches the extension on. */
  readonly values: Readonly<Record<string, unknown>>
  /** It is on without a file, too. */
  readonly needsNoFile?: true
}

/** Tests that every extension must pass. For tests. */
export function extensionContract(extension: Extension, { folder, values, needsNoFile }: ContractOptions): void {
  const started = (given: Readonly<Record<string, unknown>>) =>
    extension.start(fakeHost({ values: given, unset: new Map() }))

  describe(`the extension ${folder}`, () => {
    test('has the name of its folder', () => {
      expect(extension.name).toBe(folder)
    })

    test('is off without a file unless it needs none, and does not start with one that cannot be read', async () => {
      expect((await extension.start(fakeHost())) !== undefined).toBe(needsNoFile ?? false)
      const unreadable: Host = {
        ...fakeHost(),
        config: () => Promise.reject(new SyntaxError('not JSON')),
      }
      await expect(extension.start(unreadable)).rejects.toThrow(SyntaxError)
    })

    test('claims slots that the page has, and routes once each', async () => {
      const { part, routes = [] } = (await started(values)) ?? {}
      checkClaim({ name: folder, slots: part?.slots ?? [] }, [])
      const keys = routes.map(({ method, path }) => `${method} ${path}`)
      expect(new Set(keys).size).toBe(keys.length)
      for (const { path } of routes) expect(path).toStartWith('/')
    })

    test('starts with any value of any member, or names the member that it refuses', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...Object.keys(values)),
          fc.jsonValue({ maxDepth: 2 }),
          async (name, value) => {
            const failure: unknown = await started({ ...values, [name]: value }).then(
              () => undefined,
              (error: unknown) => error,
            )
            if (failure !== undefined) expect(failure).toBeInstanceOf(ExtensionConfigError)
          },
        ),
        { numRuns: 300 },
      )
    })

    test('has a guard and a recogniser, if any, that answer or throw a WireError for any request', async () => {
      const { guard, recognise } = (await started(values)) ?? {}
      const headerValue = fc.stringMatching(/^[!-~]{0,40}$/)
      await fc.assert(
        fc.asyncProperty(fc.webPath(), headerValue, headerValue, async (path, authorization, cookie) => {
          const request = new Request(`https://svc.test${path || '/'}`, { headers: { authorization, cookie } })
          const visit: RequestContext = { request, path: path || '/', address: '203.0.113.9', id: 'request-1' }
          for (const ask of [guard, recognise]) {
            const failure: unknown = await Promise.try(() => ask?.(visit)).then(
              () => undefined,
              (error: unknown) => error,
            )
            if (failure !== undefined) expect(failure).toBeInstanceOf(WireError)
          }
        }),
        { numRuns: 200 },
      )
    })
  })
}
