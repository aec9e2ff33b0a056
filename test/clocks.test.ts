import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, pick, question, type Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { shiftedClock } from './fakes/shifted-clock.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'
import { billed, price, until } from './ledger-rig.ts'

/** Budgets and sums of the real process, whose wall clock jumps; its timers go on as ever. */

const nanoPerUsd = 1e9
const [minuteMs, hourMs] = [60_000, 3_600_000]
const cost = billed(3, 5)
/** Answers that a day's budget buys. */
const answersOfDay = 2

interface Day {
  readonly zone: string
  readonly date: string
  /** Local midnight. */
  readonly start: string
  readonly hours: number
  /** The days before and after. */
  readonly around: readonly [number, number]
}

/** In the order of their times. */
const days: readonly Day[] = [
  {
    ...{ zone: 'Europe/Berlin', date: '2026-03-29', start: '2026-03-28T23:00:00Z', hours: 23 },
    around: [20260328, 20260330],
  },
  {
    ...{ zone: 'Australia/Lord_Howe', date: '2026-04-05', start: '2026-04-04T13:00:00Z', hours: 24.5 },
    around: [20260404, 20260406],
  },
  {
    ...{ zone: 'Asia/Kolkata', date: '2026-06-10', start: '2026-06-09T18:30:00Z', hours: 24 },
    around: [20260609, 20260611],
  },
  {
    ...{ zone: 'Asia/Kathmandu', date: '2026-06-20', start: '2026-06-19T18:15:00Z', hours: 24 },
    around: [20260619, 20260621],
  },
  {
    ...{ zone: 'Europe/Berlin', date: '2026-10-25', start: '2026-10-24T22:00:00Z', hours: 25 },
    around: [20261024, 20261026],
  },
]

describe('complaint: windows late, odd, never; old spend in a new budget', () => {
  const upstream = faultUpstream(good())
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'))
  const clock = shiftedClock()
  const home = join(folder, 'home')
  let service: ServiceUnderTest
  let reloads = 0
  let asked = 0

  /** Sets the wall clock of the service. */
  function setClock(time: number): void {
    clock.shift(time - Date.now())
  }

  function setZone(zone: string): void {
    const budget = { for: 'everyone', usd: (answersOfDay * cost) / nanoPerUsd, per: 'day', models: ['m'] }
    const limits = [budget, { for: 'everyone', requests: 1, per: 'hour', models: ['rated'] }]
    const path = join(home, 'access.json')
    writeFileSync(`${path}.new`, JSON.stringify({ time_zone: zone, limits }))
    renameSync(`${path}.new`, path)
  }

  function ask(model = 'm'): Promise<Answer> {
    asked += 1
    return chat(service.url, question({ model, max_tokens: 5 }))
  }

  function rows<Row>(query: string): readonly Row[] {
    const ledger = new Database(join(home, 'svc.db'), { readonly: true })
    try {
      return ledger.query<Row, []>(query).all()
    } finally {
      ledger.close()
    }
  }

  const sums = (table: string) =>
    rows<{ requests: number; cost: number }>(`SELECT sum(requests) AS requests, sum(cost) AS cost FROM ${table}`)

  /** Asks until the budget refuses. @returns the number of answers, and the error */
  async function useUp(): Promise<readonly [answers: number, message: string]> {
    for (let answers = 0; ; answers += 1) {
      const { status, json } = await ask()
      if (status === 200) continue
      expect([status, pick(json, 'error', 'code')]).toEqual([429, 'insufficient_quota'])
      return [answers, String(pick(json, 'error', 'message'))]
    }
  }

  beforeAll(async () => {
    setClock(Date.parse(days[0]?.start ?? '') - hourMs)
    mkdirSync(home)
    setZone('UTC')
    service = await startService(
      { providers: [provider('a', upstream.url, [], { models: ['m', 'rated'].map((name) => ({ name, price })) })] },
      { environment: { SVC_HOME: home, ...clock.environment } },
    )
  }, 30_000)
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    upstream.stop()
    clock[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })

  test.each(days)(
    'are not: $date in $zone has $hours hours, begins in time, and no clock refills it',
    async ({ zone, date, start, hours }) => {
      const begins = Date.parse(start)
      const ends = begins + hours * hourMs
      // What waits to be written when the zone changes is summed in the new one.
      await until(() => (sums('usage_hour')[0]?.requests ?? 0) === asked)
      setClock(begins - 30 * minuteMs)
      setZone(zone)
      reloads += 1
      await until(() => service.output.split('limits reloaded').length > reloads)
      expect(await useUp()).toEqual([answersOfDay, expect.stringContaining(`begins again at ${date} 00:00 (${zone})`)])
      setClock(begins + 5_000)
      expect(await useUp()).toEqual([answersOfDay, expect.stringContaining(` 00:00 (${zone})`)])
      setClock(ends - 10 * minuteMs)
      expect((await useUp())[0]).toBe(0)
      setClock(ends + 5_000)
      expect((await ask()).status).toBe(200)
      // An hour back is the old day, with what was spent in it.
      setClock(ends - hourMs)
      expect((await useUp())[0]).toBe(0)
      setClock(ends + 10 * minuteMs)
      expect((await useUp())[0]).toBe(answersOfDay - 1)
    },
    30_000,
  )

  test('are not: a limit an hour is neither refilled nor extended by a clock that jumps an hour', async () => {
    const now = Date.parse('2026-10-26T12:00:00Z')
    setClock(now)
    expect((await ask('rated')).status).toBe(200)
    for (const jump of [hourMs, -hourMs, 0]) {
      setClock(now + jump)
      const { status, headers } = await ask('rated')
      expect([jump, status, Number(headers.get('retry-after')) < 7_000]).toEqual([jump, 429, true])
    }
  })

  test('complaint: days doubled outside UTC › are not: days sum to the total', async () => {
    await service.stop()
    const byDay = rows<{ day: number; cost: number }>(
      'SELECT day, sum(cost) AS cost FROM usage_day GROUP BY day ORDER BY day',
    )
    const expected = days.flatMap(({ date, around: [before, after] }) =>
      [before, Number(date.replaceAll('-', '')), after].map((day) => ({ day, cost: answersOfDay * cost })),
    )
    // The request of the limit an hour.
    expect(byDay).toEqual(expected.map((each) => (each.day === 20261026 ? { ...each, cost: each.cost + cost } : each)))
    expect(sums('usage_day')).toEqual(sums('usage_hour'))
    expect(sums('usage_day')[0]?.requests).toBe(asked)
  })
})
