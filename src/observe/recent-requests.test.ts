import { afterEach, describe, expect, jest, test } from 'bun:test'
import fc from 'fast-check'
import { personOf, sentBy, personOfRecord } from '../people/testing.ts'
import { recentRequests } from './recent-requests.ts'
import type { RequestRecord } from './record.ts'

afterEach(() => void jest.useRealTimers())

const noon = Date.UTC(2026, 0, 1, 12)

function recordOf(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    time: noon,
    id: 'r',
    model: 'm',
    api: 'chat',
    stream: false,
    status: 200,
    provider: 'groq',
    trail: [{ name: 'groq', status: 200, ms: 12 }],
    totalMs: 20,
    ...personOfRecord(more),
    ...more,
  }
}

function subject() {
  const recent = recentRequests(() => noon)
  return {
    recent,
    recordMany(count: number, more: (index: number) => Partial<RequestRecord> = () => ({})) {
      for (let index = 0; index < count; index += 1) recent.record(recordOf({ id: String(index), ...more(index) }))
    },
    ids: (after = 0) => recent.requests('all users', after).map(({ id }) => id),
  }
}

describe('recent requests', () => {
  test('keeps the members of a record, but no errors and bodies', () => {
    const { recent } = subject()
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
    const cost = { nanoUsd: 1, source: 'config' } as const
    const trail = [{ name: 'groq', status: 429, failure: 'rate_limit', reason: 'status 429', ambiguous: true, ms: 12 }]
    recent.record(
      recordOf({
        trail,
        usage,
        cost,
        user: 'ada',
        error: 'internal_error',
        firstTokenMs: 5,
      }),
    )
    expect(recent.requests('all users', 0)).toStrictEqual([
      {
        time: noon,
        id: 'r',
        model: 'm',
        api: 'chat',
        stream: false,
        status: 200,
        error: 'internal_error',
        provider: 'groq',
        user: 'ada',
        firstTokenMs: 5,
        totalMs: 20,
        promptTokens: 1,
        completionTokens: 2,
        cost: 0.000000001,
        costSource: 'config',
        trail: [{ provider: 'groq', status: 429, failure: 'rate_limit', mayBeBilled: true, ms: 12 }],
      },
    ])
  })

  test('keeps the last thousand, oldest first', () => {
    const { recordMany, ids } = subject()
    recordMany(2_345)
    expect(ids()).toEqual(Array.from({ length: 1_000 }, (_, index) => String(1_345 + index)))
  })

  test('returns requests newer than a mark, of any age', () => {
    const { recent, recordMany, ids } = subject()
    recordMany(3)
    const mark = recent.count
    expect(ids(mark)).toEqual([])
    recordMany(2, (index) => ({ id: `new-${index}` }))
    expect(ids(mark)).toEqual(['new-0', 'new-1'])
    recordMany(5_000)
    expect(ids(mark)).toHaveLength(1_000)
  })

  test('keeps the first 32 attempts of a trail', () => {
    const { recent } = subject()
    recent.record(
      recordOf({ trail: Array.from({ length: 100 }, (_, ms) => ({ name: 'groq', failure: 'server_error', ms })) }),
    )
    expect(recent.requests('all users', 0)[0]?.trail.map(({ ms }) => ms)).toEqual(
      Array.from({ length: 32 }, (_, ms) => ms),
    )
  })

  test('sums all requests by the minute, also those no longer kept', () => {
    const { recent, recordMany } = subject()
    recordMany(10_000)
    expect(recent.minutes('all users', 0)).toMatchObject([{ time: noon, requests: 10_000 }])
    expect(recent.minutes('all users', recent.count)).toEqual([])
  })

  test('counts the attempts at a provider', () => {
    const { recent, recordMany } = subject()
    recordMany(3)
    expect(recent.attempts('groq')).toMatchObject({ count: 3, ok: 3 })
  })

  test('finds the latest with an id', () => {
    const { recent, recordMany } = subject()
    recordMany(3, (index) => ({ id: 'same', model: `m${index}` }))
    expect(recent.find('all users', 'same')?.model).toBe('m2')
    recordMany(1_000)
    expect(recent.find('all users', 'same')).toBeUndefined()
  })

  test.each(['__proto__', 'constructor', '..', '', 'x'.repeat(10_000), '\0', 'r/'])(
    'finds nothing under the id %j',
    (id) => {
      const { recent } = subject()
      recent.record(recordOf())
      expect(recent.find('all users', id)).toBeUndefined()
    },
  )

  test('returns up to a thousand requests from any mark', () => {
    fc.assert(
      fc.property(fc.nat({ max: 3_000 }), fc.nat({ max: 4_000 }), (count, after) => {
        const { recordMany, ids } = subject()
        recordMany(count)
        const first = Math.max(0, count - 1_000, after)
        expect(ids(after)).toEqual(
          Array.from({ length: Math.max(0, count - first) }, (_, index) => String(first + index)),
        )
      }),
      { numRuns: 20 },
    )
  })
})

describe('one user', () => {
  function shared() {
    const made = subject()
    made.recordMany(3, (index) => ({ ...sentBy({ user: 'ada' }), id: `ada-${index}`, firstTokenMs: 10 }))
    made.recordMany(2, () => ({ ...sentBy({ user: 'bob' }), error: 'provider_error', status: 502 }))
    made.recordMany(1, () => ({ user: undefined }))
    return made.recent
  }

  test('sees their own requests only', () => {
    expect(
      shared()
        .requests({ id: 'ada' }, 1)
        .map(({ id }) => id),
    ).toEqual(['ada-1', 'ada-2'])
  })

  test('sees the sums of their own requests', () => {
    const recent = shared()
    expect(recent.minutes({ id: 'ada' }, 0)).toMatchObject([{ requests: 3, errors: 0, firstTokenP50: 10 }])
    expect(recent.minutes({ id: 'ada' }, 2)).toMatchObject([{ requests: 3 }])
    expect(recent.minutes({ id: 'ada' }, 3)).toEqual([])
  })

  test('is another one at another identity provider, and the same under another name', () => {
    const made = subject()
    made.recordMany(1, () => ({ ...sentBy({ user: 'ada', subject: 'first-1' }), id: 'of-first' }))
    made.recordMany(1, () => ({
      user: 'key:k',
      line: 1,
      person: personOf({ user: 'ada', subject: 'first-1' }),
      id: 'of-key',
    }))
    const seen = (person: string) =>
      ['of-first', 'of-key'].map((id) => made.recent.find({ id: person }, id) !== undefined)
    expect([seen('other-1'), seen('first-1')]).toEqual([
      [false, false],
      [true, true],
    ])
  })

  test('does not find a request of another user', () => {
    const recent = shared()
    expect(recent.find({ id: 'ada' }, 'ada-1')).toBeDefined()
    expect(recent.find({ id: 'bob' }, 'ada-1')).toBeUndefined()
  })

  test.each(['', 'undefined', '__proto__', 'Ada'])('sees nothing under the id %j', (id) => {
    expect([shared().requests({ id }, 0), shared().minutes({ id }, 0)]).toEqual([[], []])
  })
})

describe('a listener', () => {
  function listening() {
    jest.useFakeTimers()
    const { recent, recordMany } = subject()
    let calls = 0
    const stop = recent.subscribe(() => {
      calls += 1
    })
    return { recent, recordMany, stop, calls: () => calls }
  }

  test('is called once for the requests of a quarter of a second', () => {
    const { recordMany, calls } = listening()
    recordMany(2_000)
    jest.advanceTimersByTime(249)
    expect(calls()).toBe(0)
    jest.advanceTimersByTime(1)
    expect(calls()).toBe(1)
  })

  test('is called at most four times a second', () => {
    const { recordMany, calls } = listening()
    for (let turn = 0; turn < 100; turn += 1) {
      recordMany(1)
      jest.advanceTimersByTime(10)
    }
    expect(calls()).toBe(4)
  })

  test('needs no timer while nothing is recorded', () => {
    const { recordMany } = listening()
    expect(jest.getTimerCount()).toBe(0)
    recordMany(5)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(250)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('is not called after it unsubscribed, and leaves no timer', () => {
    const { recordMany, stop, calls } = listening()
    recordMany(1)
    stop()
    expect(jest.getTimerCount()).toBe(0)
    recordMany(1)
    expect([jest.getTimerCount(), calls()]).toEqual([0, 0])
  })

  test('unsubscribes without affecting others', () => {
    const { recent, recordMany, stop, calls } = listening()
    let others = 0
    recent.subscribe(() => {
      others += 1
    })
    recordMany(1)
    stop()
    jest.advanceTimersByTime(250)
    expect([calls(), others]).toEqual([0, 1])
  })
})
