import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, parseJson, pick, question } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { isStream } from './fakes/good.ts'
import { startPostgres, type PostgresServer } from './fakes/postgres-server.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, usageChunk } from './fakes/replies.ts'
import { provider, runSvcWith, startService, type ServiceUnderTest } from './harness.ts'
import { billed, price, until } from './ledger-rig.ts'
import { needs } from './needs.ts'

/** A provider that bills a random usage for each answer. */
function billing(bill: { nanoUsd: number }): Script {
  return async (exchange) => {
    const [prompt, answer] = [1 + Math.floor(Math.random() * 5_000), 1 + Math.floor(Math.random() * 900)]
    bill.nanoUsd += billed(prompt, answer)
    const top = { usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer } }
    if (!isStream(exchange)) return await exchange.write(reply(200, JSON.stringify(completion('good', { top }))))
    const events = [chunk({ role: 'assistant', content: 'good' }), chunk({}, 'stop'), usageChunk(top)].map(event)
    await exchange.write(
      Buffer.concat([Buffer.from(streamHead), ...[...events, done].map((each) => framed(each)), lastChunk]),
    )
  }
}

describe.skipIf(needs('postgres') === undefined)('two machines with one PostgreSQL', () => {
  let postgres: PostgresServer
  let environment: Readonly<Record<string, string>>
  let upstream: FaultUpstream
  const bill = { nanoUsd: 0 }
  const machines: ServiceUnderTest[] = []
  const homes: string[] = []

  beforeAll(async () => {
    postgres = await startPostgres()
    environment = { SVC_DATABASE: await postgres.newDatabase() }
    upstream = faultUpstream(billing(bill))
    for (const flags of [[], ['--workers', '2']]) machines.push(await start({}, ...flags))
  }, 60_000)
  afterAll(async () => {
    for (const machine of machines) await machine[Symbol.asyncDispose]()
    await upstream.stop()
    await postgres.kill()
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })

  function start(more: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<ServiceUnderTest> {
    const config = { providers: [provider('a', upstream.url, [], { models: [{ name: 'm', price }] })] }
    return startService(config, { flags: ['--auth', 'keys', ...flags], environment: { ...environment, ...more } })
  }

  const one = (): ServiceUnderTest => machines[0] ?? never()
  const other = (): ServiceUnderTest => machines[1] ?? never()
  const svc = (machine: ServiceUnderTest, ...argv: readonly string[]) => runSvcWith(environment, machine.home, ...argv)
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

  async function status(
    machine: ServiceUnderTest,
    key: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<number> {
    return (await chat(machine.url, question(more), { headers: bearer(key) })).status
  }

  async function make(machine: ServiceUnderTest, ...flags: readonly string[]): Promise<{ id: number; key: string }> {
    const { out, err } = await svc(machine, 'keys', 'make', '--name', 'tester', '--json', ...flags)
    if (out === '') throw new Error(err)
    const made = parseJson(out)
    return { id: Number(pick(made, 'id')), key: String(pick(made, 'key')) }
  }

  /** Milliseconds until all of many requests have a status. */
  async function msUntil(machine: ServiceUnderTest, key: string, wanted: number): Promise<number> {
    const start = performance.now()
    for (;;) {
      // Both workers are asked, by connections of their own.
      const all = await Promise.all(Array.from({ length: 6 }, () => status(machine, key)))
      if (all.every((each) => each === wanted)) return performance.now() - start
      if (performance.now() - start > 5_000) throw new Error(`still ${all.join()}`)
    }
  }

  test('a key made or ended at one holds there at once, and at the other within a second', async () => {
    const boss = await make(one(), '--kind', 'management')
    const send = (method: string, path: string, body?: object) =>
      fetch(`${other().url}/v1/keys${path}`, {
        method,
        headers: bearer(boss.key),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    for (let round = 0; round < 2; round += 1) {
      // On the command line of one, in use at both; over HTTP at a worker of the other.
      const { id, key } = await make(one())
      expect(await status(one(), key)).toBe(200)
      expect(await msUntil(other(), key, 200)).toBeLessThan(1_000)
      expect((await send('DELETE', `/${id}`)).status).toBe(200)
      expect(await Promise.all(Array.from({ length: 6 }, () => status(other(), key)))).toEqual(Array(6).fill(401))
      expect(await msUntil(one(), key, 401)).toBeLessThan(1_000)
    }
    const made: unknown = await (await send('POST', '', { name: 'over http' })).json()
    expect(await msUntil(one(), String(pick(made, 'key')), 200)).toBeLessThan(1_000)
    const listed = await svc(one(), 'keys', 'list', '--json')
    expect(pick(parseJson(listed.out), 'keys', 3)).toMatchObject({ name: 'over http', made_by: 'key:tester' })
    const verified = await svc(other(), 'audit', 'verify')
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('6 entries')])
  }, 30_000)

  test('a write of the use that waits for a lock of another program delays no end of a key', async () => {
    const database = environment['SVC_DATABASE']
    const { id, key } = await make(one())
    await msUntil(other(), key, 200)
    const lock = postgres
      .query('BEGIN; LOCK TABLE svc.usage_hour IN EXCLUSIVE MODE; SELECT pg_sleep(60)', database)
      .catch(() => undefined)
    const writes = `SELECT pid FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO usage_hour%'`
    await until(async () => {
      await status(other(), key)
      return (await postgres.query(writes)).length > 0
    })
    await svc(one(), 'keys', 'end', String(id))
    expect(await msUntil(other(), key, 401)).toBeLessThan(1_000)
    await postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'`)
    await lock
  }, 30_000)

  test('sums of both are the bill, while PostgreSQL is killed and started again', async () => {
    const { key } = await make(one())
    await msUntil(other(), key, 200)
    let isOver = false
    const slowest = { ms: 0 }
    const load = Array.from({ length: 6 }, async (_, index) => {
      while (!isOver) {
        const sentAt = performance.now()
        const stream = index % 3 === 0 ? { stream: true, stream_options: { include_usage: true } } : {}
        expect(await status(index % 2 === 0 ? one() : other(), key, stream)).toBe(200)
        slowest.ms = Math.max(slowest.ms, performance.now() - sentAt)
        await Bun.sleep(5)
      }
    })
    await Bun.sleep(400)
    await postgres.kill()
    await Bun.sleep(400)
    await postgres.start()
    await Bun.sleep(400)
    // A server that hangs slows no request either.
    const before = slowest.ms
    slowest.ms = 0
    postgres.pause()
    await Bun.sleep(800)
    postgres.resume()
    expect(slowest.ms).toBeLessThan(Math.max(400, before * 2))
    await Bun.sleep(400)
    isOver = true
    await Promise.all(load)
    const total = async (): Promise<number> => {
      const { out, err } = await svc(one(), 'usage', '--json')
      if (out === '') throw new Error(err)
      const rows = pick(parseJson(out), 'rows')
      const costs = Array.isArray(rows) ? rows.map((row) => Math.round(Number(pick(row, 'cost')) * 1e9)) : []
      return costs.reduce((sum, cost) => sum + cost, 0)
    }
    await until(async () => (await total()) >= bill.nanoUsd)
    expect(await total()).toBe(bill.nanoUsd)
    const database = environment['SVC_DATABASE']
    const [sums] = await postgres.query(
      'SELECT sum(requests) AS requests, sum(cost) AS cost FROM svc.usage_day',
      database,
    )
    const [rows] = await postgres.query('SELECT count(*) AS requests, sum(cost) AS cost FROM svc.request', database)
    expect(sums).toEqual(rows ?? {})
    expect(Number(sums?.['cost'])).toBe(bill.nanoUsd)
  }, 30_000)

  test('complaint: database away at the start: refused for ever › known keys pass, others get 503', async () => {
    const { key } = await make(one())
    const boss = await make(one(), '--kind', 'management')
    const home = mkdtempSync(join(tmpdir(), 'svc-away-'))
    homes.push(home)
    const before = await start({ SVC_HOME: home })
    expect(await status(before, key)).toBe(200)
    await before.stop()
    await postgres.kill()
    const [known, fresh] = await Promise.all([start({ SVC_HOME: home }, '--workers', '2'), start({})])
    machines.push(known, fresh)
    expect(await status(known, key)).toBe(200)
    const refused = await chat(fresh.url, question(), { headers: bearer(key) })
    expect([refused.status, pick(refused.json, 'error', 'code')]).toEqual([503, 'store_unavailable'])
    expect(refused.headers.get('retry-after')).toBe('1')
    const made = await fetch(`${known.url}/v1/keys`, {
      method: 'POST',
      headers: bearer(boss.key),
      body: JSON.stringify({ name: 'none' }),
    })
    expect([made.status, pick(await made.json(), 'error', 'code')]).toEqual([503, 'store_unavailable'])
    expect(await svc(one(), 'keys', 'list')).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be reached'),
    })
    await postgres.start()
    expect(await msUntil(fresh, key, 200)).toBeLessThan(3_000)
    expect(known.output + fresh.output).toContain('keys cannot be read from the database')
  }, 30_000)

  test('no output has the password', () => {
    const { password } = new URL(environment['SVC_DATABASE'] ?? '')
    for (const { output } of machines) expect(output).not.toContain(password)
  })
})

function never(): never {
  throw new Error('not started')
}
