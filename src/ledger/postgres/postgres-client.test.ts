import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { makeCertificate } from '../../../test/fakes/certificates.ts'
import { startPostgres, type PostgresServer } from '../../../test/fakes/postgres-server.ts'
import { needs } from '../../../test/needs.ts'
import { LedgerFull, LedgerRefused, LedgerUnavailable } from '../ledger.ts'
import { OutcomeUnknown, postgresClient, type PostgresClient, type PostgresClientOptions } from './postgres-client.ts'
import { checkServerUrl } from './server-url.ts'

describe.skipIf(needs('postgres') === undefined)('a client of PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  const open: PostgresClient[] = []
  beforeAll(async () => {
    server = await startPostgres({ tls: makeCertificate({ host: '127.0.0.1' }) })
    url = await server.newDatabase()
    await server.query('CREATE SCHEMA svc', url)
  }, 30_000)
  afterAll(() => server.kill())
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close()
  })

  function client(more: Partial<PostgresClientOptions> = {}): PostgresClient {
    const made = postgresClient({ url, deadlineMs: 400, pauseMs: 150, ...more })
    open.push(made)
    return made
  }

  const one = (from: PostgresClient, value: number) =>
    from.perform(async (query) => Number((await query('SELECT $1::bigint AS value', [value]))[0]?.['value']))
  const failureOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error)

  test('gives each of many questions its own rows, beside transactions', async () => {
    const clients = [client(), client()]
    const values = await Promise.all(
      Array.from({ length: 1_000 }, (_, value) =>
        value % 3 === 0
          ? clients[value % 2]?.transaction(async (query) => {
              const [row] = await query('SELECT $1::bigint AS value, generate_series(1, 3)', [value])
              return Number(row?.['value'])
            })
          : one(clients[value % 2] ?? client(), value),
      ),
    )
    expect(values).toEqual(values.map((_, index) => index))
    expect(clients.map(({ connections }) => connections)).toEqual([1, 1])
  })

  test('works again after the server has closed its connection, idle or in a question', async () => {
    const used = client()
    await one(used, 1)
    const endAll = () =>
      server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc'")
    await endAll()
    await failureOf(one(used, 2))
    expect(await one(used, 3)).toBe(3)
    const sleeping = failureOf(used.perform((query) => query('SELECT pg_sleep(9)')))
    await Bun.sleep(50)
    await endAll()
    expect(String(await sleeping)).toContain('is starting, stopping or restarting (57P01)')
    expect(await one(used, 4)).toBe(4)
  })

  test('a transaction whose connection is lost is undone, and no statement of it runs elsewhere', async () => {
    const used = client()
    await used.perform((query) => query('CREATE TABLE one (value bigint)'))
    const lost = used.transaction(async (query) => {
      await query('INSERT INTO one VALUES (1)')
      await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc'")
      await query('INSERT INTO one VALUES (2)').catch(() => undefined)
      await query('INSERT INTO one VALUES (3)')
    })
    expect(await failureOf(lost)).toBeInstanceOf(LedgerUnavailable)
    expect(await used.perform((query) => query('SELECT * FROM one'))).toEqual([])
  })

  test('reads bytes of a database that writes them in the old way', async () => {
    const other = await server.newDatabase()
    await server.query(`ALTER DATABASE ${new URL(other).pathname.slice(1)} SET bytea_output = 'escape'`)
    const bytes = new Uint8Array([0, 92, 39, 200, 255])
    const [row] = await client({ url: other }).perform((query) => query('SELECT $1::bytea AS bytes', [bytes]))
    expect(Buffer.from(bytes).equals(Object(row?.['bytes']))).toBe(true)
  })

  test('an error in a transaction undoes it, and the connection stays', async () => {
    const used = client()
    await used.perform((query) => query('CREATE TABLE two (value bigint UNIQUE)'))
    const full = used.transaction(async (query) => {
      await query('INSERT INTO two VALUES (1)')
      throw new LedgerFull('no')
    })
    expect(await failureOf(full)).toBeInstanceOf(LedgerFull)
    const twice = used.transaction((query) => query('INSERT INTO two VALUES ($1), ($1)', [5]))
    expect(String(await failureOf(twice))).toContain('unique constraint')
    expect(await used.perform((query) => query('SELECT * FROM two'))).toEqual([])
    expect(used.connections).toBe(1)
  })

  test('a statement that was prepared before its table was changed works', async () => {
    const used = client()
    await used.perform((query) => query('CREATE TABLE three (value bigint); INSERT INTO three VALUES (7)'))
    const read = () => used.perform((query) => query('SELECT * FROM three WHERE value > $1', [0]))
    for (let round = 0; round < 7; round += 1) await read()
    await client().perform((query) => query('ALTER TABLE three ADD COLUMN more text'))
    await failureOf(read())
    expect(await read()).toEqual([{ value: '7', more: null }])
  })

  test('stores any text, without what PostgreSQL refuses', async () => {
    const text = 'a\0b \ud800 ü 😀 $1 \\ \' "'
    expect(await client().perform((query) => query('SELECT $1 AS text', [text]))).toEqual([
      { text: 'a\uFFFDb \uFFFD ü 😀 $1 \\ \' "' },
    ])
  })

  test('a server that hangs is given up after the deadline, and others do not wait; then it works again', async () => {
    const used = client()
    await one(used, 1)
    server.pause()
    const before = performance.now()
    const all = await Promise.all(Array.from({ length: 20 }, (_, value) => failureOf(one(used, value))))
    server.resume()
    expect(performance.now() - before).toBeLessThan(900)
    for (const failure of all) expect(String(failure)).toContain('test_1 at 127.0.0.1')
    expect(String(all[0])).toContain('gave no answer in 400 ms')
    await Bun.sleep(160)
    expect(await one(used, 3)).toBe(3)
  })

  test('a COMMIT without an answer has an unknown outcome', async () => {
    const used = client()
    await used.perform((query) => query('CREATE TABLE four (value bigint)'))
    const unknown = used.transaction(async (query) => {
      await query('INSERT INTO four VALUES (1)')
      server.pause()
    })
    const failure = await failureOf(unknown)
    server.resume()
    expect(failure).toBeInstanceOf(OutcomeUnknown)
  })

  test('a killed server is unavailable, until it is there again', async () => {
    const used = client()
    await one(used, 1)
    await server.kill()
    for (let round = 0; round < 2; round += 1)
      expect(String(await failureOf(one(used, 2)))).toMatch(/cannot be reached|starting, stopping/)
    await server.start()
    expect(await one(used, 3)).toBe(3)
  })

  test.each([
    [(good: string) => good.replace(/:[^:@]+@/, ':wrong@'), 'refuses the user name or the password (28P01)'],
    [(good: string) => good.replace(/\w+$/, 'none'), 'does not exist: create it (3D000)'],
    [(good: string) => `${good}?sslmode=verify-full`, 'cannot be trusted: self'],
    [(good: string) => good.replace(/:\d+\//, ':1/'), 'cannot be reached'],
  ])('a wrong setting is named without the password %#', async (change, words) => {
    const wrong = change(url)
    const failure = await failureOf(one(client({ url: wrong }), 1))
    expect(failure).toBeInstanceOf(words.includes('reached') ? LedgerUnavailable : LedgerRefused)
    expect(String(failure)).toContain(words)
    const { password } = new URL(url)
    expect(Bun.inspect(failure)).not.toContain(password)
  })

  test.each([
    ['', true],
    ['?sslmode=require', true],
    ['?sslmode=disable', false],
  ])('with %p it uses TLS: %p', async (mode, isUsed) => {
    const rows = await client({ url: checkServerUrl(url + mode) }).perform((query) =>
      query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
    )
    expect(rows).toEqual([{ ssl: isUsed }])
  })

  test('an unused connection is closed', async () => {
    const used = client({ idleMs: 20 })
    await one(used, 1)
    await Bun.sleep(60)
    await one(used, 1)
    expect(used.connections).toBe(2)
  })
})
