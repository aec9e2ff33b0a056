import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, parseJson, pick, question } from './client.ts'
import { good } from './fakes/good.ts'
import { runSvc } from './harness.ts'
import { billed, startLedgerRig, until, type LedgerRig } from './ledger-rig.ts'

let rig: LedgerRig
let reader: string
beforeAll(async () => {
  rig = await startLedgerRig([good()], { flags: ['--workers', '2'] })
  reader = await rig.makeKey({ name: '=HYPERLINK("x")', scopes: ['chat', 'usage:read'] })
  for (const key of [rig.key, reader, reader])
    await chat(rig.service.url, question(), { headers: { authorization: `Bearer ${key}` } })
  await until(() => rig.sum('requests') === 3)
})
afterAll(() => rig[Symbol.asyncDispose]())

const usage = async (query: string, key: string): Promise<Response> =>
  await fetch(`${rig.service.url}/api/usage${query}`, { headers: { authorization: `Bearer ${key}` } })

describe('GET /api/usage', () => {
  test('gives a key the use of its line, in whichever worker', async () => {
    for (let round = 0; round < 6; round += 1) {
      const response = await usage('?by=all', reader)
      const row = pick(await response.json(), 'rows', 0)
      expect([response.status, pick(row, 'requests'), pick(row, 'cost')]).toEqual([200, 2, (2 * billed(3, 5)) / 1e9])
    }
  })

  test('needs the scope', async () => {
    const response = await usage('', rig.key)
    expect([response.status, pick(await response.json(), 'error', 'code')]).toEqual([403, 'scope_missing'])
  })

  test('as CSV is safe for spreadsheets', async () => {
    const response = await usage('?by=key&format=csv', reader)
    expect(response.headers.get('content-type')).toContain('text/csv')
    const [, line = ''] = (await response.text()).split('\r\n')
    expect(line.slice(11)).toStartWith(`"'=HYPERLINK(""x"")",2,0,0,0,6,0,0,10,0,0.000168,`)
  })

  test('names the parameter that is wrong', async () => {
    const response = await usage('?by=colour', reader)
    expect([response.status, pick(await response.json(), 'error', 'param')]).toEqual([400, 'by'])
  })
})

describe('svc usage', () => {
  async function svcUsage(...argv: readonly string[]): Promise<string> {
    const { out, err } = await runSvc(rig.home, 'usage', ...argv)
    return out + err
  }

  test('shows sums by key, with their total, beside the running service', async () => {
    const lines = (await svcUsage('--by', 'key')).trimEnd().split('\n')
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['KEY', 'REQUESTS', 'ERRORS', 'INPUT', 'OUTPUT', 'COST (USD)', 'NO PRICE', 'ESTIMATED'],
      ['=HYPERLINK("x")', '2', '0', '6', '10', '0.0002', '0', '0'],
      ['tester', '1', '0', '3', '5', '0.0001', '0', '0'],
      ['total', '3', '0', '9', '15', '0.0003', '0', '0'],
    ])
  })

  test('prints the answer of the API with --json', async () => {
    const answer = parseJson(await svcUsage('--by', 'day', '--json'))
    expect(pick(answer, 'rows', 0, 'requests')).toBe(3)
  })

  test('without a database says what to do', async () => {
    const { code, err } = await runSvc(join(rig.home, 'none'), 'usage')
    expect(err).toContain('svc keeps the use when it runs with --auth keys')
    expect(code).toBe(1)
  })
})

describe('complaint: the page takes the database down', () => {
  test('does not happen: forty questions at once are answered, and requests beside them are written', async () => {
    const before = rig.sum('requests')
    const headers = { authorization: `Bearer ${rig.key}` }
    const asked = Array.from({ length: 40 }, async () => (await usage('?by=key&format=csv', reader)).status)
    const served = Array.from({ length: 40 }, async () => (await chat(rig.service.url, question(), { headers })).status)
    const statuses = await Promise.all([...asked, ...served])
    expect(statuses).toEqual(statuses.map(() => 200))
    await until(() => rig.sum('requests') === before + 40)
  })
})
