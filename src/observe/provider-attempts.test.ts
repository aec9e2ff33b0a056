import { describe, expect, test } from 'bun:test'
import { attemptBook } from './provider-attempts.ts'
import type { RecordedAttempt } from './record.ts'

const noon = Date.UTC(2026, 0, 1, 12)
const hourMs = 3_600_000
const nothing = { count: 0, ok: 0, firstTokenP50: undefined, firstTokenP95: undefined, lastError: undefined }

function subject() {
  const book = attemptBook()
  return {
    ...book,
    ask: (trail: readonly RecordedAttempt[], { time = noon, stream = false, model = 'm', listed = 'm' } = {}) =>
      book.add({ time, model, listedAs: listed, stream, trail }),
  }
}

describe('the attempts at a provider', () => {
  test('are empty without attempts', () => {
    expect(subject().of('groq', noon)).toEqual(nothing)
  })

  test('are counted for each provider by outcome', () => {
    const { ask, of } = subject()
    ask([
      { name: 'groq', status: 429, failure: 'rate_limit', reason: 'status 429: slow down', ms: 12 },
      { name: 'openai', status: 200, ms: 340 },
    ])
    ask([{ name: 'groq', status: 200, ms: 50 }])
    expect(of('groq', noon)).toEqual({
      ...nothing,
      count: 2,
      ok: 1,
      lastError: { time: noon + 12, failure: 'rate_limit', reason: 'status 429: slow down', model: 'm', status: 429 },
    })
    expect(of('openai', noon)).toEqual({ ...nothing, count: 1, ok: 1 })
  })

  test('include first token times of successful streams only', () => {
    const { ask, of } = subject()
    for (const ms of [100, 200, 300]) ask([{ name: 'groq', status: 200, ms }], { stream: true })
    ask([{ name: 'groq', status: 200, ms: 9_000 }])
    ask([{ name: 'groq', status: 200, failure: 'cut', ms: 9_000 }], { stream: true })
    expect(of('groq', noon)).toMatchObject({ count: 5, ok: 4, firstTokenP50: 200, firstTokenP95: 300 })
  })

  test('have what refusals taught, each trait of a model once, for a day', () => {
    const { ask, of } = subject()
    ask([{ name: 'groq', status: 200, adapted: ['system_first'], ms: 9 }])
    ask([{ name: 'groq', status: 400, failure: 'bad_request', adapted: ['alternates'], ms: 9 }])
    ask([{ name: 'groq', status: 200, adapted: ['system_first', 'sampling'], ms: 1 }], { listed: 'M' })
    ask([{ name: 'groq', status: 200, adapted: ['system_first'], ms: 2 }])
    expect(of('groq', noon).lessons).toEqual([
      { time: noon + 1, model: 'M', trait: 'system_first' },
      { time: noon + 1, model: 'M', trait: 'sampling' },
      { time: noon + 2, model: 'm', trait: 'system_first' },
    ])
    expect(of('groq', noon + 24 * 3_600_000 + 2).lessons).toBeUndefined()
    for (let n = 0; n < 40; n++) ask([{ name: 'groq', status: 200, adapted: [`t${n}`], ms: 1 }])
    expect(of('groq', noon).lessons).toHaveLength(20)
  })

  test('that failed for lack of resources are not counted', () => {
    const { ask, of } = subject()
    ask([{ name: 'groq', failure: 'resources', ms: 1 }])
    ask([{ name: 'groq', failure: 'budget', ms: 0 }])
    expect(of('groq', noon)).toEqual(nothing)
  })

  test('keep the latest error, in any order of records', () => {
    const { ask, of } = subject()
    ask([{ name: 'groq', failure: 'timeout', ms: 5_000 }], { time: noon, model: 'new' })
    ask([{ name: 'groq', status: 500, failure: 'server_error', ms: 5 }], { time: noon - 60_000, model: 'old' })
    expect(of('groq', noon).lastError).toEqual({
      ...{ time: noon + 5_000, failure: 'timeout', reason: undefined, model: 'new', status: undefined },
    })
  })

  test('expire after an hour, except the last error', () => {
    const { ask, of } = subject()
    ask([{ name: 'groq', failure: 'dns', ms: 0 }])
    expect(of('groq', noon + hourMs - 1).count).toBe(1)
    expect(of('groq', noon + hourMs)).toMatchObject({ count: 0, lastError: { failure: 'dns' } })
  })

  test('are limited to the last 500', () => {
    const { ask, of } = subject()
    for (let turn = 0; turn < 100; turn += 1) ask([{ name: 'groq', failure: 'dns', ms: 0 }])
    for (let turn = 0; turn < 499; turn += 1) ask([{ name: 'groq', status: 200, ms: 1 }])
    expect(of('groq', noon)).toMatchObject({ count: 500, ok: 499 })
  })

  test('are limited to a thousand providers', () => {
    const { ask, of } = subject()
    for (let each = 0; each <= 1_000; each += 1) ask([{ name: `p${each}`, status: 200, ms: 1 }])
    expect([of('p0', noon).count, of('p1', noon).count, of('p1000', noon).count]).toEqual([0, 1, 1])
  })

  test.each(['__proto__', 'constructor', 'toString'])('are kept under any name: %s', (name) => {
    const { ask, of } = subject()
    expect(of(name, noon).count).toBe(0)
    ask([{ name, status: 200, ms: 1 }])
    expect(of(name, noon).count).toBe(1)
  })
})
