import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson, pick, rawRequest } from '../../test/client.ts'
import { startPostgres, type PostgresServer } from '../../test/fakes/postgres-server.ts'
import { startRedisServer, type RedisServer } from '../../test/fakes/redis-server.ts'
import { runSvcWith, startService, type ServiceConfig, type ServiceUnderTest } from '../../test/harness.ts'
import { isAlive, workersOf } from '../../test/process-tree.ts'

/** A key on one machine. Its number is the same on all machines. */
export interface MoneyKey {
  readonly line: number
  readonly key: string
}

/** Sums of the ledger by key and model. */
export interface LedgerSum {
  readonly line: number
  readonly model: string
  /** nano-USD, with estimates. */
  readonly cost: number
  readonly estimated: number
}

/** Machines with one Redis, and with one PostgreSQL or a SQLite file each. */
export interface MoneyMachines extends AsyncDisposable {
  readonly count: number
  at(machine: number): ServiceUnderTest
  /** Makes a key on each machine, or one for all machines in PostgreSQL. */
  makeKey(): Promise<readonly MoneyKey[]>
  /** Ends a key at a machine. @throws unless the answer is 200 */
  endKey(machine: number, line: number): Promise<void>
  killWorker(machine: number): void
  /** Kills a primary with SIGKILL, and starts its machine again. */
  killMachine(machine: number): Promise<void>
  killRedis(): Promise<void>
  /** `undefined` with SQLite. */
  killPostgres: (() => Promise<void>) | undefined
  /** Ends all machines, which write what they have recorded. */
  stop(): Promise<void>
  ledger(): Promise<readonly LedgerSum[]>
}

const sums = `SELECT line, label.text AS model, sum(cost) AS cost, sum(cost_estimated) AS estimated
  FROM TABLE JOIN label ON label.id = model GROUP BY line, label.text`

/** Starts everything. @throws when this machine has no redis-server, or no PostgreSQL */
export async function startMoneyMachines(
  config: ServiceConfig,
  access: object,
  asked: { readonly machines: number; readonly workers: number; readonly withPostgres: boolean },
): Promise<MoneyMachines> {
  await using stack = new AsyncDisposableStack()
  let redis: RedisServer = await startRedisServer()
  stack.defer(() => redis.kill())
  const { port: redisPort, url: store } = redis
  let postgres: PostgresServer | undefined
  if (asked.withPostgres) {
    postgres = await startPostgres()
    stack.defer(() => postgres?.kill())
  }
  const database = await postgres?.newDatabase()
  const shared: Readonly<Record<string, string>> = database === undefined ? {} : { SVC_DATABASE: database }
  const homes: string[] = []
  const machines: ServiceUnderTest[] = []
  const bosses: string[] = []
  stack.defer(async () => {
    for (const machine of machines) machine.signal('SIGKILL')
    await Promise.all(machines.map(({ exited }) => exited))
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })

  const start = (home: string): Promise<ServiceUnderTest> =>
    startService(config, {
      flags: ['--auth', 'keys', '--store', store, ...(asked.workers > 0 ? ['--workers', String(asked.workers)] : [])],
      environment: { ...shared, SVC_HOME: home },
    })

  function at(machine: number): ServiceUnderTest {
    const found = machines[machine]
    if (found === undefined) throw new Error(`there is no machine ${machine}`)
    return found
  }

  /** Asks a management route over a connection of its own: callers may use all of those of fetch. */
  async function manage(machine: number, method: string, path: string, body = ''): Promise<unknown> {
    const lines = [
      `${method} /v1/keys${path} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: Bearer ${bosses[machine] ?? ''}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      'connection: close',
    ]
    let answer = ''
    // PostgreSQL may just have been killed.
    for (let tries = 0; tries < 40; tries += 1) {
      answer = await rawRequest(at(machine).port, `${lines.join('\r\n')}\r\n\r\n${body}`, 10_000)
      if (!answer.startsWith('HTTP/1.1 503')) break
      await Bun.sleep(250)
    }
    if (!answer.startsWith('HTTP/1.1 20')) throw new Error(`${method} /v1/keys${path}: ${answer.slice(0, 300)}`)
    return parseJson(answer.slice(answer.indexOf('\r\n\r\n') + 4))
  }

  for (let machine = 0; machine < asked.machines; machine += 1) {
    const home = mkdtempSync(join(tmpdir(), 'svc-money-'))
    homes.push(home)
    writeFileSync(join(home, 'access.json'), JSON.stringify(access))
    machines.push(await start(home))
    if (database !== undefined && machine > 0) continue
    const argv = ['keys', 'make', '--name', 'boss', '--kind', 'management', '--json']
    const { out, err } = await runSvcWith(shared, home, ...argv)
    const key = pick(parseJson(out), 'key')
    if (typeof key !== 'string') throw new Error(err)
    bosses.push(key)
  }
  const all = stack.move()

  return {
    count: asked.machines,
    at,
    async makeKey() {
      const made: MoneyKey[] = []
      for (const machine of bosses.keys()) {
        const answer = await manage(machine, 'POST', '', JSON.stringify({ name: 'caller' }))
        made.push({ line: Number(pick(answer, 'line') ?? pick(answer, 'id')), key: String(pick(answer, 'key')) })
      }
      return machines.map((_, machine) => made[machine] ?? made[0] ?? { line: 0, key: '' })
    },
    endKey: async (machine, line) => void (await manage(machine, 'DELETE', `/${line}`)),
    killWorker(machine) {
      const workers = workersOf(at(machine).pid)
      const pid = workers[Math.floor(Math.random() * workers.length)]
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    },
    async killMachine(machine) {
      const service = at(machine)
      const workers = workersOf(service.pid)
      service.signal('SIGKILL')
      await service.exited
      for (let waits = 0; workers.some(isAlive) && waits < 200; waits += 1) await Bun.sleep(50)
      machines[machine] = await start(homes[machine] ?? '')
    },
    async killRedis() {
      await redis.kill()
      await Bun.sleep(300)
      redis = await startRedisServer({ port: redisPort })
    },
    killPostgres:
      postgres === undefined
        ? undefined
        : async () => {
            await postgres.kill()
            await Bun.sleep(300)
            await postgres.start()
          },
    async stop() {
      await Promise.all(machines.map((machine) => machine.stop()))
    },
    async ledger() {
      if (postgres !== undefined)
        return (
          await postgres.query(sums.replace('TABLE', 'svc.usage_day').replace('label ON', 'svc.label ON'), database)
        ).map(sumOf)
      return homes.flatMap((home) => {
        const file = new Database(join(home, 'svc.db'), { readonly: true })
        try {
          return file.query<Record<string, unknown>, []>(sums.replace('TABLE', 'usage_day')).all().map(sumOf)
        } finally {
          file.close()
        }
      })
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function sumOf(row: Readonly<Record<string, unknown>>): LedgerSum {
  return {
    line: Number(row['line']),
    model: String(row['model']),
    cost: Number(row['cost']),
    estimated: Number(row['estimated']),
  }
}
