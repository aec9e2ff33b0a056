import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import { countTimes, percentileOf } from '../../observe/time-histogram.ts'
import type { OutcomeQuestion } from './outcome-question.ts'
import { batchOf, usedRequest } from './testing.ts'
import { charged } from './use-batch.ts'
import { useSums } from './use-sums.ts'
import { zoneHours } from './zone-hours.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 10, 23, 12)

describe.each(databases)('speed and failures in %s', (_name, make) => {
  let place: TestDatabase
  beforeEach(async () => {
    place = await make()
    await place.open()
  }, 30_000)
  afterEach(() => place.remove())

  const days: OutcomeQuestion = { unit: 'day', by: 'model', from: 20261101, to: 20261130 }
  const hours: OutcomeQuestion = { unit: 'hour', by: 'provider', from: now - 24 * hour, to: now }

  async function read(question: OutcomeQuestion) {
    const reader = await place.useReader()
    const { times, groups, failures } = await reader.outcomes(question)
    const figures = ({ first, total }: (typeof times)[number] | (typeof groups)[number]) => [
      countTimes(first),
      countTimes(total),
      Math.round(percentileOf(total, 0.5) ?? 0),
    ]
    return {
      times: times.map((each) => [each.time, ...figures(each)]),
      groups: Object.fromEntries(groups.map((each) => [each.name, figures(each)])),
      failures: failures.map((each) => [each.time, each.failure, each.requests, each.attempts]),
    }
  }

  test('are summed by hour and day over batches, each batch once', async () => {
    const store = place.useStore()
    const stream = usedRequest({ time: now, stream: true, firstTokenMs: 100, totalMs: 1_000 })
    const failed = usedRequest({
      time: now - hour,
      status: 502,
      error: 'provider_error',
      provider: undefined,
      trail: [
        { name: 'a', failure: 'timeout', ms: 5 },
        { name: 'b', failure: 'rate_limit', status: 429, ms: 5 },
      ],
    })
    const second = batchOf(2, [
      { ...stream, listedAs: 'GPT-5', provider: 'b' },
      { ...stream, totalMs: 20_000 },
    ])
    await store.write([batchOf(1, [stream, failed])])
    await store.write([second, batchOf(3, [failed])])
    await store.write([second])
    expect(await read(days)).toEqual({
      times: [[20261123, 3, 3, expect.any(Number)]],
      groups: { m: [2, 2, expect.any(Number)], 'GPT-5': [1, 1, expect.any(Number)] },
      failures: [
        [20261123, 'provider_error', 2, 0],
        [20261123, expect.stringMatching(/timeout|rate_limit/), 0, 2],
        [20261123, expect.stringMatching(/timeout|rate_limit/), 0, 2],
      ],
    })
    const { times, groups, failures } = await read(hours)
    expect(times.map(([time, first]) => [time, first])).toEqual([[now, 3]])
    expect(Object.keys(groups).toSorted()).toEqual(['a', 'b'])
    expect(failures.map(([time]) => time)).toEqual([now - hour, now - hour, now - hour])
  })

  test('do not count clients that left, and no speed of answers with an error', async () => {
    const store = place.useStore()
    await store.write([
      batchOf(1, [
        usedRequest({ time: now, status: 499, error: 'client_closed_request' }),
        usedRequest({ time: now, status: 200, error: 'stream_cut', firstTokenMs: 3 }),
      ]),
    ])
    expect(await read(days)).toEqual({ times: [], groups: {}, failures: [[20261123, 'stream_cut', 1, 0]] })
  })

  test('of requests whose rows were given up are summed alike', async () => {
    const sums = useSums()
    const requests = [10, 1_000].map((totalMs) => charged(usedRequest({ time: now, totalMs })))
    sums.add({ requests }, zoneHours('UTC'))
    const merged = useSums()
    merged.add({ sums: structuredClone(sums.totals()) }, zoneHours('UTC'))
    merged.add({ sums: sums.totals() }, zoneHours('UTC'))
    const store = place.useStore()
    await store.write([{ source: 'one', number: 1, sums: merged.totals() }])
    expect((await read(days)).times).toEqual([[20261123, 0, 4, 10]])
  })

  test('of old hours are deleted, and days stay', async () => {
    await place.useStore().write([batchOf(1, [usedRequest({ time: now, status: 500, error: 'internal_error' })])])
    await place.useStore().write([batchOf(2, [usedRequest({ time: now })])])
    const later = place.useStore({ now: now + 101 * 24 * hour })
    for (let round = 0; round < 5 && (await later.sweep()); round += 1);
    const counts = await Promise.all(
      ['times_hour', 'failure_hour', 'times_day', 'failure_day'].map(
        async (table) => (await place.query(`SELECT count(*) AS count FROM ${table}`))[0]?.['count'],
      ),
    )
    expect(counts).toEqual([0, 0, 1, 1])
  })
})
