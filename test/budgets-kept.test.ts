import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, pick, question, type Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'
import { billed, price, startLedgerRig, until } from './ledger-rig.ts'
import { workersOf } from './process-tree.ts'

const nanoPerUsd = 1e9
/** The cost of an answer of the upstream. */
const cost = billed(3, 5)
const testMs = 60_000

const upstream = faultUpstream(good())
const models = [{ name: 'm', price }]
const homes: string[] = []
afterAll(() => {
  upstream.stop()
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

const codeOf = (answer: Answer): string => `${answer.status} ${String(pick(answer.json, 'error', 'code'))}`
const refused = '429 insufficient_quota'

function access(nano: number, more: object = {}): string {
  return JSON.stringify({ limits: [{ for: 'everyone', usd: nano / nanoPerUsd, per: 'month', ...more }] })
}

/** A home, and services that start in it one after the other. */
function startsIn(flags: readonly string[], url = upstream.url) {
  const home = mkdtempSync(join(tmpdir(), 'svc-budgets-'))
  homes.push(home)
  const providers = [{ ...provider('a', url), models }]
  const start = (limit: string): Promise<ServiceUnderTest> => {
    writeFileSync(join(home, 'access.json'), limit)
    return startService({ providers }, { environment: { SVC_HOME: home }, flags })
  }
  return Object.assign(start, { home })
}

function ledgerOf(home: string, query: string): readonly Readonly<Record<string, unknown>>[] {
  const ledger = new Database(join(home, 'svc.db'), { readonly: true })
  try {
    return ledger.query<Record<string, unknown>, []>(query).all()
  } finally {
    ledger.close()
  }
}

const ask = (service: ServiceUnderTest) => chat(service.url, question({ max_tokens: 5 }))

describe('complaint: spend forgotten by restarts, or per replica', () => {
  test.each([
    ['one process', []],
    ['2 workers', ['--workers', '2']],
  ])(
    'is not so: %s, stopped and started again, know what was spent to the nano-dollar',
    async (_, flags) => {
      const start = startsIn(flags)
      const first = await start(access(1 * nanoPerUsd))
      for (let request = 0; request < 10; request++) expect((await ask(first)).status).toBe(200)
      await first.stop()
      const second = await start(access(10 * cost))
      expect(codeOf(await ask(second))).toBe(refused)
      await second.stop()
      const third = await start(access(10 * cost + 1))
      expect((await ask(third)).status).toBe(200)
      expect(codeOf(await ask(third))).toBe(refused)
      await third.stop()
    },
    testMs,
  )

  test.each([
    ['the only process', []],
    ['the primary and its workers', ['--workers', '2']],
  ])(
    'is not so: attempts under way at the kill -9 of %s are booked at their estimates, in sums and budgets',
    async (_, flags) => {
      using hanging = faultUpstream(({ hang }) => hang())
      const start = startsIn(flags, hanging.url)
      const first = await start(access(1 * nanoPerUsd))
      const arrived = hanging.nextHit()
      const lost = ask(first).catch(() => undefined)
      await arrived
      const stored = () => ledgerOf(start.home, 'SELECT sum(cost) AS cost FROM hold')[0]?.['cost']
      await until(() => Number(stored()) > billed(20, 5))
      const held = Number(stored())
      const workers = workersOf(first.pid)
      // Workers without a primary would go on with their requests, and book them.
      first.signal('SIGKILL')
      for (const pid of workers) process.kill(pid, 'SIGKILL')
      await first.exited
      await lost
      hanging.use(good())
      const second = await start(access(held + 1))
      expect((await ask(second)).status).toBe(200)
      expect(codeOf(await ask(second))).toBe(refused)
      await second.stop()
      const booked = 'SELECT sum(cost) AS cost, sum(unsettled) AS unsettled, sum(requests) AS requests FROM usage_day'
      const exact = { cost: held + cost, unsettled: 1, requests: expect.any(Number) }
      expect(ledgerOf(start.home, booked)).toEqual([exact])
    },
    testMs,
  )

  test(
    'is not so: after kill -9 all is known but the last quarter of a second',
    async () => {
      const start = startsIn([])
      const first = await start(access(1 * nanoPerUsd))
      for (let request = 0; request < 10; request++) await ask(first)
      await Bun.sleep(600)
      first.signal('SIGKILL')
      await first.exited
      const second = await start(access(10 * cost))
      expect(codeOf(await ask(second))).toBe(refused)
      await second.stop()
    },
    testMs,
  )
})

test(
  'complaint: client leaves: free, or charged wrongly › what it left costs its estimate, also after a restart',
  async () => {
    using hanging = faultUpstream(({ hang }) => hang())
    const start = startsIn([], hanging.url)
    const first = await start(access(1 * nanoPerUsd))
    const controller = new AbortController()
    const arrived = hanging.nextHit()
    const leaving = chat(first.url, question({ max_tokens: 5 }), { signal: controller.signal }).catch(() => undefined)
    await arrived
    controller.abort()
    await leaving
    await hanging.hits[0]?.left
    await first.stop()
    // Less than the estimate: 5 tokens of answer, and more than 20 of prompt.
    const second = await start(access(billed(20, 5)))
    expect(codeOf(await ask(second))).toBe(refused)
    await second.stop()
  },
  testMs,
)

test(
  'a limit that is added within its window counts what was spent before, by the caller it names',
  async () => {
    await using rig = await startLedgerRig([good()])
    const other = await rig.makeKey({ name: 'other' })
    const askAs = (key: string) =>
      chat(rig.service.url, question({ max_tokens: 5 }), { headers: { authorization: `Bearer ${key}` } })
    for (let request = 0; request < 3; request++) await askAs(rig.key)
    await askAs(other)
    writeFileSync(join(rig.home, 'access.json'), access(3 * cost, { for: 'each key' }))
    await until(() => rig.service.output.includes('limits reloaded'))
    const answer = await askAs(rig.key)
    expect(codeOf(answer)).toBe(refused)
    // The budget is the caller's own, so the answer has its amount.
    expect(pick(answer.json, 'error', 'message')).toContain(`of ${(3 * cost) / nanoPerUsd} USD for each key, a month`)
    for (let request = 0; request < 2; request++) expect((await askAs(other)).status).toBe(200)
    const own: unknown = await (
      await fetch(`${rig.service.url}/v1/key`, { headers: { authorization: `Bearer ${other}` } })
    ).json()
    const [limit, used] = [(3 * cost) / nanoPerUsd, (3 * cost) / nanoPerUsd]
    expect(pick(own, 'limits')).toEqual([
      {
        for: 'each key',
        kind: 'usd',
        per: 'month',
        models: null,
        ...{ limit, used, held: 0, remaining: 0 },
        window_ends: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
      },
    ])
    expect(codeOf(await askAs(other))).toBe(refused)
  },
  testMs,
)

test(
  'a database that cannot be opened: the previous limits stay in force, until it can',
  async () => {
    await using service = await startService({ providers: [{ ...provider('a', upstream.url), models }] })
    mkdirSync(join(service.home, 'svc.db'))
    await service.write('access.json', access(0))
    await until(() => service.output.includes('svc.db cannot be opened'))
    expect((await ask(service)).status).toBe(200)
    rmSync(join(service.home, 'svc.db'), { recursive: true })
    await service.write('access.json', access(0, { per: 'day' }))
    await until(async () => codeOf(await ask(service)) === refused)
  },
  testMs,
)

test(
  'complaint: reservations that never end › a killed worker leaves nothing held: its attempt is booked at its estimate',
  async () => {
    using hanging = faultUpstream(({ hang }) => hang())
    const limits = access(1)
    await using service = await startService(
      { providers: [{ ...provider('a', hanging.url), models }] },
      { files: { 'access.json': limits }, flags: ['--workers', '2'] },
    )
    const arrived = hanging.nextHit()
    const lost = ask(service).catch(() => undefined)
    await arrived
    expect(codeOf(await ask(service))).toBe(refused)
    const workers = workersOf(service.pid)
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    await lost
    await until(() => workersOf(service.pid).filter((pid) => !workers.includes(pid)).length === 2)
    hanging.use(good())
    await until(async () => (await ask(service).then(codeOf, () => '')) === refused)
    // Until a model was counted, its whole context is the estimate.
    await service.write('access.json', access(1_000 * nanoPerUsd))
    await until(async () => (await ask(service).then(codeOf, () => '')).startsWith('200'))
  },
  testMs,
)
