import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { chat, parseJson, pick, question } from './client.ts'
import { makeCertificate } from './fakes/certificates.ts'
import { faultUpstream, type FaultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { startPostgres, type PostgresServer } from './fakes/postgres-server.ts'
import { startRedisServer, type RedisServer } from './fakes/redis-server.ts'
import { runSvcWith, startService, type ServiceUnderTest } from './harness.ts'
import { until } from './ledger-rig.ts'
import { needs } from './needs.ts'

/** Runs the files of examples/machines/. Only addresses, ports, paths, certificates and the password are replaced. */

const folder = join(import.meta.dir, '..', 'examples', 'machines')
const password = crypto.randomUUID()
const authority = makeCertificate({ host: 'tests authority', isAuthority: true })
const certificate = makeCertificate({ host: '127.0.0.1', issuer: authority })

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
    .replaceAll('10.0.0.3', '127.0.0.1')
    .replaceAll('YOUR-PASSWORD', password)
}

/** Lines without comments. */
function linesOf(name: string): readonly string[] {
  return read(name)
    .split('\n')
    .filter((line) => !/^\s*(#|--|$)/.test(line))
}

/** `Environment=` of the unit, and the texts of its comments that begin with a scheme. */
function unit() {
  const environment = Object.fromEntries(
    linesOf('svc.conf').flatMap((line) => {
      const [, name, value = ''] = /^Environment=(\w+)=(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value]]
    }),
  )
  const urlOf = (scheme: string) => new RegExp(`${scheme}://\\S+`).exec(read('svc.conf'))?.[0] ?? ''
  return { environment, database: urlOf('postgres'), store: urlOf('rediss') }
}

const hasAll = needs('postgres') !== undefined && needs('redis-server') !== undefined

describe.skipIf(!hasAll)('the example for two machines', () => {
  let postgres: PostgresServer | undefined
  let redis: RedisServer | undefined
  let upstream: FaultUpstream | undefined
  let home: string
  let environment: Readonly<Record<string, string>>
  const machines: ServiceUnderTest[] = []

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-machines-'))
    const settings = linesOf('postgresql.conf').filter((line) => !/^ssl_\w+_file/.test(line))
    const hba = linesOf('pg_hba.conf').map((line) => line.replace('10.0.0.0/24', '127.0.0.1/32'))
    // In valkey.conf, files and ports are those of this test.
    const flags = linesOf('valkey.conf')
      .filter((line) => !/^(port|tls-|bind)/.test(line))
      .flatMap((line) => {
        const [name = '', ...values] = line.split(' ')
        return [`--${name}`, ...values]
      })
    ;[postgres, redis] = await Promise.all([
      startPostgres({ tls: certificate, settings, hba }),
      startRedisServer({ tls: certificate, flags }),
    ])
    for (const statement of linesOf('database.sql')) await postgres.query(statement)
    const unitFile = unit()
    const url = unitFile.database.replace('db.internal:5432', `127.0.0.1:${postgres.port}`)
    const credential = join(home, 'database')
    writeFileSync(credential, `${url}\n`, { mode: 0o600 })
    const { SVC_HOST: _, NODE_EXTRA_CA_CERTS: __, ...rest } = unitFile.environment
    environment = {
      ...rest,
      SVC_DATABASE: String(rest['SVC_DATABASE']).replace('%d', home),
      SVC_STORE: unitFile.store.replace('valkey.internal:6379', `127.0.0.1:${redis.port}`),
      OPENAI_API_KEY: 'key-for-tests',
      GROQ_API_KEY: 'key-for-tests',
    }
    upstream = faultUpstream(good())
    const providers = read('providers.jsonc').replaceAll(
      /("id": "\w+"),/g,
      `$1, "base_url": "${upstream.url}", "models": [{"name": "m", "price": {"input": 3, "output": 15}}],`,
    )
    const start = () =>
      startService(providers, { environment, trusts: authority, files: { 'access.json': read('access.jsonc') } })
    machines.push(...(await Promise.all([start(), start()])))
  }, 60_000)
  afterAll(async () => {
    await Promise.all(machines.map((machine) => machine[Symbol.asyncDispose]()))
    upstream?.stop()
    await Promise.all([postgres?.kill(), redis?.kill()])
    rmSync(home, { recursive: true, force: true })
  })

  test('shares keys, limits and use, over TLS alone', async () => {
    const trusting = { ...environment, NODE_EXTRA_CA_CERTS: join(machines[0]?.home ?? '', 'authority.pem') }
    const svc = (...argv: readonly string[]) => runSvcWith(trusting, machines[0]?.home ?? '', ...argv)
    const { out, err } = await svc('keys', 'make', '--name', 'tester')
    expect(out, err).toStartWith('sk-svc_')
    const ask = async (machine: ServiceUnderTest | undefined) =>
      (await chat(machine?.url ?? '', question(), { headers: { authorization: `Bearer ${out.trim()}` } })).status
    await until(async () =>
      (await Promise.all([0, 1, 0, 1].map((at) => ask(machines[at])))).every((each) => each === 200),
    )
    const statuses: number[] = []
    // Eight at a time are allowed, of both machines together; a quarter of them runs here.
    for (let round = 0; round < 40; round += 1)
      statuses.push(...(await Promise.all([ask(machines[0]), ask(machines[1])])))
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    // 60 a minute, and as many as a minute gives back meanwhile.
    const all = upstream?.hits.length ?? 0
    expect(all).toBeGreaterThanOrEqual(50)
    expect(all).toBeLessThanOrEqual(70)
    await until(async () => {
      const rows = pick(parseJson((await svc('usage', '--json')).out), 'rows')
      return (
        Array.isArray(rows) && rows.reduce((sum: number, row) => sum + Number(pick(row, 'inputTokens')), 0) === all * 3
      )
    })
    const plain = new RedisClient(`redis://svc:${password}@127.0.0.1:${redis?.port}`, {
      autoReconnect: false,
      connectionTimeout: 500,
    })
    await expect(plain.send('PING', [])).rejects.toThrow()
    plain.close()
    const clear = await runSvcWith(
      {
        ...trusting,
        SVC_DATABASE: readFileSync(join(home, 'database'), 'utf8').trim().replace('verify-full', 'disable'),
      },
      home,
      ...['keys', 'list'],
    )
    expect([clear.code, clear.err]).toEqual([1, expect.stringContaining('refuses the user name or the password')])
    for (const { output } of machines) expect(output).not.toContain(password)
  }, 40_000)
})
