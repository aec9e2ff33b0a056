import { describe, expect, test } from 'bun:test'
import type { FailureClass } from './failure.ts'
import type { HealthNews } from './health-news.ts'
import { healthBook, type HealthBook } from './health.ts'
import { failureOf, fakeClock } from './testing.ts'

/** Three processes that hear each other at once, or when `deliver` is called. Each has jitter of its own. */
function three({ isLate = false } = {}) {
  const clock = fakeClock()
  const told: HealthNews[] = []
  const waiting: (() => void)[] = []
  const jitters = [0, 0.5, 1]
  const books = jitters.map((jitter) => healthBook(clock.now, () => jitter))
  for (const book of books) {
    book.onNews((news) => {
      told.push(news)
      const delivery = () => {
        for (const other of books) if (other !== book) other.hear(news)
      }
      if (isLate) waiting.push(delivery)
      else delivery()
    })
  }
  function deliver(): void {
    for (const delivery of waiting.splice(0)) delivery()
  }
  const [first = healthBook(clock.now), second = healthBook(clock.now), third = healthBook(clock.now)] = books
  return { clock, told, deliver, books, first, second, third }
}

function attempt(book: HealthBook, failure?: FailureClass, retryAfterMs?: number): void {
  const begun = book.of('groq', 'small').begin()
  if (failure === undefined) begun.succeeded()
  else begun.failed(failureOf(failure, retryAfterMs === undefined ? {} : { retryAfterMs }))
}

function fail(book: HealthBook, times: number, failure: FailureClass = 'server_error'): void {
  for (let time = 0; time < times; time += 1) attempt(book, failure)
}

function held(books: readonly HealthBook[], model = 'small') {
  return books.map((book) => book.of('groq', model).unavailable())
}

const nobody = [undefined, undefined, undefined]

describe('several processes', () => {
  test('tell each other nothing while all is well', () => {
    const { told, first } = three()
    for (let time = 0; time < 50; time += 1) {
      const begun = first.of('groq', 'small').begin()
      begun.answered()
      begun.succeeded()
      first.of('groq', 'small').begin().abandoned()
    }
    expect(told).toEqual([])
  })

  test.each(['bad_request', 'context_length', 'content_policy', 'conflict', 'resources'] as const)(
    'tell each other nothing of %s, nor of the success after it',
    (failure) => {
      const { told, first } = three()
      fail(first, 5, failure)
      attempt(first)
      expect(told).toEqual([])
    },
  )

  test('count failures in a row together, and are open for the same time', () => {
    const { books, first, second, third } = three()
    fail(first, 2)
    fail(second, 1)
    fail(first, 1)
    expect(held(books)).toEqual(nobody)
    fail(third, 1)
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 6_000 })))
  })

  test('are open by counting alone when each had heard too late to tell', () => {
    const { books, told, first, second, deliver } = three({ isLate: true })
    fail(first, 3)
    fail(second, 2)
    expect(held(books)).toEqual(nobody)
    deliver()
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 5_000 })))
    expect(told.length).toBe(5)
  })

  test('that opened at the same time are all open for the longer one', () => {
    const { books, first, third, deliver } = three({ isLate: true })
    fail(first, 5)
    fail(third, 5)
    deliver()
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 6_000 })))
  })

  test('hold the whole provider off for what concerns it, and one model for the rest', () => {
    const { books, first, second } = three()
    fail(first, 4, 'connect')
    fail(second, 1, 'connect')
    expect(held(books, 'large').map((each) => each?.reason)).toEqual(['open', 'open', 'open'])
    const others = three()
    fail(others.first, 5)
    expect(held(others.books, 'large')).toEqual(nobody)
  })

  test('know that a provider was reached when a model of it fails elsewhere', () => {
    const { books, first, second } = three()
    fail(first, 4, 'connect')
    fail(second, 1, 'server_error')
    fail(first, 4, 'connect')
    expect(held(books, 'large')).toEqual(nobody)
  })

  test('count failures of one lasting class together', () => {
    const { books, first, second, third } = three()
    for (const book of [first, second, third]) attempt(book, 'credential')
    expect(held(books)).toEqual(books.map(() => ({ reason: 'cool_down', remainingMs: 60_000 })))
  })

  test('double the cool-down of rate limits together', () => {
    const { books, first, second, third } = three()
    for (const book of [first, second, third, first]) attempt(book, 'rate_limit')
    expect(held(books)).toEqual(books.map(() => ({ reason: 'cool_down', remainingMs: 10_000 })))
  })

  test('tell with a failure what it began, and only that failure', () => {
    const { told, first } = three()
    fail(first, 3, 'quota')
    attempt(first, 'rate_limit', 9_000)
    attempt(first, 'rate_limit', 1_000)
    const failed = { provider: 'groq', kind: 'failed', failure: 'quota' } as const
    const limited = { provider: 'groq', model: 'small', kind: 'failed', failure: 'rate_limit' } as const
    expect(told.filter(({ kind }) => kind === 'failed')).toEqual([
      failed,
      failed,
      { ...failed, heldOff: { coolDownMs: 300_000 } },
      { ...limited, retryAfterMs: 9_000, heldOff: { retryAfterMs: 9_000 } },
      { ...limited, retryAfterMs: 1_000 },
    ])
  })

  test.each(['server_error', 'connect', 'quota', 'rate_limit'] as const)(
    'need not have heard of the first %s to obey the last',
    (failure) => {
      const { first, told, clock } = three()
      fail(first, 5, failure)
      const late = healthBook(clock.now)
      for (const news of told.slice(-1)) late.hear(news)
      expect(held([late])).toEqual(held([first]))
      expect(held([late])[0]?.remainingMs).toBeGreaterThan(0)
    },
  )

  test('are open for as long as was told, whatever was before', () => {
    const { books, first, third, clock } = three()
    fail(third, 5)
    attempt(third)
    clock.pass(1)
    fail(first, 5)
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 4_000 })))
  })

  test('obey a Retry-After that one was given', () => {
    const { books, first } = three()
    attempt(first, 'overloaded', 9_000)
    expect(held(books)).toEqual(books.map(() => ({ reason: 'retry_after', remainingMs: 9_000 })))
  })

  test('leave failures elsewhere out of the ratio of their own', () => {
    const { books, first, second, third } = three()
    for (let round = 0; round < 6; round += 1) {
      for (let time = 0; time < 2; time += 1) attempt(first)
      fail(second, 2)
      fail(third, 2)
      expect(held(books)).toEqual(nobody)
    }
  })

  test('are open when the ratio of one opened it', () => {
    const { books, second } = three()
    for (let time = 0; time < 10; time += 1) {
      attempt(second)
      attempt(second, 'server_error')
    }
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 5_000 })))
  })
})

describe('a success', () => {
  test.each(['server_error', 'connect', 'credential', 'rate_limit'] as const)(
    'at a process that only heard of %s ends it everywhere',
    (failure) => {
      const { books, first, second, clock } = three()
      fail(first, 5, failure)
      attempt(second)
      expect(held(books)).toEqual(nobody)
      fail(first, 2, failure)
      clock.pass(1)
      expect(held(books)).toEqual(nobody)
    },
  )

  test('is told once by whom the trouble reached', () => {
    const { told, first, second } = three()
    fail(first, 1)
    told.length = 0
    for (const book of [second, second, first, second, first]) attempt(book)
    expect(told).toEqual([
      { provider: 'groq', model: 'small', kind: 'succeeded' },
      { provider: 'groq', model: 'small', kind: 'succeeded' },
    ])
  })

  test('ends what crossed the success of another, too', () => {
    const { books, first, second, deliver } = three({ isLate: true })
    fail(second, 1)
    deliver()
    attempt(first)
    fail(second, 5)
    deliver()
    expect(held(books).map((each) => each?.reason)).toEqual(['open', undefined, 'open'])
    attempt(second)
    deliver()
    expect(held(books)).toEqual(nobody)
  })

  test('elsewhere is the last that a provider did, for people', () => {
    const { first, second } = three()
    fail(first, 1)
    second.of('groq', 'large').begin().failed(failureOf('server_error'))
    expect(first.look().get('groq')?.failure).toBe('server_error')
    second.of('groq', 'large').begin().succeeded()
    expect(first.look().get('groq')?.failure).toBeUndefined()
  })

  test('does not end a Retry-After', () => {
    const { books, told, first, second } = three()
    attempt(first, 'rate_limit', 9_000)
    attempt(second)
    expect(held(books)).toEqual(books.map(() => ({ reason: 'retry_after', remainingMs: 9_000 })))
    expect(told.at(-1)).toEqual({
      provider: 'groq',
      model: 'small',
      kind: 'succeeded',
      heldOff: { retryAfterMs: 9_000 },
    })
  })

  test('begins with an answer: the breaker is closed everywhere', () => {
    const { books, told, first, second, clock } = three()
    fail(first, 5)
    clock.pass(6_000)
    second.of('groq', 'small').begin().answered()
    expect(held(books)).toEqual(nobody)
    expect(books.flatMap((book) => book.openBreakers())).toEqual([])
    expect(told.at(-1)?.kind).toBe('answered')
  })
})

describe('a probe of another process', () => {
  function expired() {
    const subject = three()
    fail(subject.first, 5)
    subject.clock.pass(4_000)
    expect(held(subject.books)).toEqual(nobody)
    return subject
  }

  test('holds off until it is settled', () => {
    const { books, second, clock } = expired()
    const probe = second.of('groq', 'small').begin()
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 1_000 })))
    clock.pass(29_999)
    expect(held(books).every((each) => each?.reason === 'open')).toBe(true)
    probe.succeeded()
    expect(held(books)).toEqual(nobody)
  })

  test('holds off for 30 s at most: its process may have died', () => {
    const { first, second, third, clock } = expired()
    second.of('groq', 'small').begin()
    clock.pass(30_000)
    expect(held([first, third])).toEqual([undefined, undefined])
    third.of('groq', 'small').begin()
    expect(held([first])).toEqual([{ reason: 'open', remainingMs: 1_000 }])
  })

  test.each(['abandoned', 'bad_request', 'credential', 'connect'] as const)(
    'gives its place free when it is %s',
    (end) => {
      const { books, second } = expired()
      const probe = second.of('groq', 'small').begin()
      if (end === 'abandoned') probe.abandoned()
      else probe.failed(failureOf(end))
      expect(held(books)).toEqual(nobody)
      expect(books.flatMap((book) => book.openBreakers()).length).toBe(3)
    },
  )

  test('that fails doubles the time everywhere, decided once', () => {
    const { books, second } = expired()
    second.of('groq', 'small').begin().failed(failureOf('server_error'))
    expect(held(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 10_000 })))
  })

  test('that fails holds nobody off beyond that time', () => {
    const { books, second, clock } = expired()
    second.of('groq', 'small').begin().failed(failureOf('server_error'))
    clock.pass(10_000)
    expect(held(books)).toEqual(nobody)
  })

  test('makes an attempt of the last resort no probe', () => {
    const { told, first, second } = expired()
    second.of('groq', 'small').begin()
    first.of('groq', 'small').begin().abandoned()
    expect(told.at(-1)?.kind).toBe('probing')
  })
})

describe('a newcomer', () => {
  function newcomer(clock: { readonly now: () => number }, news: readonly HealthNews[]): HealthBook {
    const book = healthBook(clock.now, () => 0)
    book.onNews((heard) => {
      throw new Error(`it told on ${heard.kind}`)
    })
    for (const each of news) book.hear(JSON.parse(JSON.stringify(each)))
    return book
  }

  test('hears nothing when all is well, nor of what the request was to blame for', () => {
    const { books, first } = three()
    attempt(first)
    attempt(first, 'bad_request')
    fail(first, 5)
    attempt(first)
    expect(books.flatMap((book) => book.standing())).toEqual([])
  })

  test.each([
    ['an open breaker', 'server_error', 5, undefined],
    ['a cool-down', 'quota', 3, undefined],
    ['a Retry-After', 'rate_limit', 1, 9_000],
  ] as const)('hears of %s, and what remains of it', (_, failure, times, retryAfterMs) => {
    const { first, second, clock } = three()
    for (let time = 0; time < times; time += 1) attempt(first, failure, retryAfterMs)
    clock.pass(1_000)
    const expected = held([first])
    expect(expected[0]?.remainingMs).toBeGreaterThan(0)
    expect(held([newcomer(clock, first.standing())])).toEqual(expected)
    expect(held([newcomer(clock, second.standing())])).toEqual(expected)
  })

  test('goes on with the doubling of a breaker', () => {
    const { first, clock } = three()
    fail(first, 5)
    clock.pass(4_000)
    fail(first, 1)
    clock.pass(8_000)
    const book = healthBook(clock.now, () => 0)
    for (const news of first.standing()) book.hear(news)
    fail(book, 1)
    expect(held([book])).toEqual([{ reason: 'open', remainingMs: 16_000 }])
  })

  test('goes on with a row of failures, and with one of a lasting class', () => {
    const { first, clock } = three()
    fail(first, 4)
    fail(first, 2, 'quota')
    const book = healthBook(clock.now)
    for (const news of first.standing()) book.hear(news)
    expect(held([book])).toEqual([undefined])
    attempt(book, 'quota')
    expect(held([book])).toEqual([{ reason: 'cool_down', remainingMs: 300_000 }])
    attempt(book, 'server_error')
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'small' }])
  })

  test('tells of the success that ends what it heard of', () => {
    const { first, clock } = three()
    fail(first, 1)
    const told: HealthNews[] = []
    const book = healthBook(clock.now)
    book.onNews((news) => told.push(news))
    for (const news of first.standing()) book.hear(news)
    attempt(book)
    expect(told).toEqual([{ provider: 'groq', model: 'small', kind: 'succeeded' }])
  })

  test('waits for a probe that is under way', () => {
    const { first, clock } = three()
    fail(first, 5)
    clock.pass(4_000)
    first.of('groq', 'small').begin()
    const book = newcomer(clock, first.standing())
    expect(held([book])).toEqual([{ reason: 'open', remainingMs: 1_000 }])
    clock.pass(30_000)
    expect(held([book])).toEqual([undefined])
  })

  test('hears of whole providers first, then of the models wanted last, a thousand news in all', () => {
    const { first } = three()
    for (let count = 0; count < 1_500; count += 1)
      first
        .of('groq', `model-${count}`)
        .begin()
        .failed(failureOf('rate_limit', { retryAfterMs: 1_000 }))
    fail(first, 5, 'connect')
    const standing = first.standing()
    expect(standing.length).toBe(1_000)
    expect(standing.slice(0, 2).map(({ provider, model }) => ({ provider, model }))).toEqual([
      { provider: 'groq', model: undefined },
      { provider: 'groq', model: 'model-1499' },
    ])
  })
})

describe('what a book hears', () => {
  test('makes no entry unless it is of trouble, nor for more than a thousand providers', () => {
    const book = healthBook(fakeClock().now)
    for (const kind of ['answered', 'succeeded', 'probing', 'probe_over'] as const)
      book.hear({ provider: 'groq', kind })
    expect(book.look().size).toBe(0)
    for (let count = 0; count < 2_000; count += 1)
      book.hear({ provider: `provider-${count}`, kind: 'failed', failure: 'connect' })
    expect(book.look().size).toBe(1_000)
  })

  test('of a breaker closed here meanwhile does not open it when it is of a probe', () => {
    const book = healthBook(fakeClock().now)
    attempt(book, 'server_error')
    book.hear({ provider: 'groq', model: 'small', kind: 'probing' })
    expect(held([book])).toEqual([undefined])
  })
})

describe('late news', () => {
  const subject = { provider: 'groq', model: 'small' } as const

  test('of a success end the trouble that was before it, and no other', () => {
    const clock = fakeClock(),
      book = healthBook(clock.now, () => 0.5)
    fail(book, 3, 'model_gone')
    clock.pass(1_000)
    book.hear({ ...subject, kind: 'succeeded', agoMs: 2_000 })
    expect(held([book])[0]?.reason).toBe('cool_down')
    book.hear({ ...subject, kind: 'succeeded', agoMs: 500 })
    expect(held([book])).toEqual([undefined])
  })

  test('of a breaker that closed close it, unless it opened after that', () => {
    const clock = fakeClock(),
      book = healthBook(clock.now, () => 0.5)
    fail(book, 5)
    clock.pass(1_000)
    book.hear({ ...subject, kind: 'answered', agoMs: 1_500 })
    expect(held([book])[0]?.reason).toBe('open')
    book.hear({ ...subject, kind: 'answered', agoMs: 500 })
    expect(held([book])).toEqual([undefined])
  })

  test.each([
    ['here', (book: HealthBook) => attempt(book)],
    ['elsewhere', (book: HealthBook) => book.hear({ ...subject, kind: 'succeeded' })],
  ])('of a trouble that a success %s has ended begin it not again', (_, succeed) => {
    const clock = fakeClock(),
      book = healthBook(clock.now, () => 0.5)
    fail(book, 1)
    clock.pass(1_000)
    succeed(book)
    clock.pass(1_000)
    const standing = { ...subject, kind: 'standing', row: 0, sameClass: 0, heldOff: { coolDownMs: 60_000 } } as const
    book.hear({ ...standing, agoMs: 1_500 })
    expect(held([book])).toEqual([undefined])
    book.hear({ ...standing, agoMs: 500 })
    expect(held([book])[0]?.reason).toBe('cool_down')
  })

  test.each([
    [0, 'open'],
    [1_000, undefined],
  ] as const)(
    'of a success end a trouble that was told before it and heard after it, where hearing may lag by %i ms',
    (lagMs, reason) => {
      const clock = fakeClock(),
        book = healthBook(clock.now)
      book.hear({
        ...subject,
        kind: 'failed',
        failure: 'server_error',
        heldOff: { breaker: { remainingMs: 50_000, stepMs: 50_000 } },
        lagMs,
      })
      clock.pass(1_000)
      book.hear({ ...subject, kind: 'succeeded', agoMs: 1_015 })
      expect(held([book])[0]?.reason).toBe(reason)
    },
  )

  test.each([
    [0, undefined],
    [1_000, 'cool_down'],
  ] as const)(
    'of a trouble that was told after a success, and before that was heard, begin it where hearing may lag by %i ms',
    (lagMs, reason) => {
      const clock = fakeClock(),
        book = healthBook(clock.now)
      attempt(book, 'server_error')
      book.hear({ ...subject, kind: 'succeeded', lagMs })
      clock.pass(1_000)
      book.hear({ ...subject, kind: 'standing', row: 0, sameClass: 0, heldOff: { coolDownMs: 60_000 }, agoMs: 1_015 })
      expect(held([book])[0]?.reason).toBe(reason)
    },
  )

  test('of a success say what holds it off all the same, also to who knew nothing of it', () => {
    const book = healthBook(fakeClock().now)
    book.hear({ ...subject, kind: 'succeeded', heldOff: { retryAfterMs: 7_000 }, agoMs: 2_000 })
    expect(held([book])).toEqual([{ reason: 'retry_after', remainingMs: 7_000 }])
  })
})

describe('a name that means different things', () => {
  /** Two processes that hear each other; each is said what the name means to it. */
  function two(one: string, other: string) {
    const clock = fakeClock(),
      books = [healthBook(clock.now, () => 0.5), healthBook(clock.now, () => 0.5)] as const
    const [first, second] = books
    first.onNews((news) => second.hear(JSON.parse(JSON.stringify(news))))
    second.onNews((news) => first.hear(JSON.parse(JSON.stringify(news))))
    const mean = (book: HealthBook, target: string) => book.setTargets(new Map([['groq', target]]))
    mean(first, one)
    mean(second, other)
    const breaks = (book: HealthBook, target: string) => {
      for (let time = 0; time < 5; time += 1) book.of('groq', 'small', target).begin().failed(failureOf('connect'))
    }
    const reason = (book: HealthBook, target: string) => book.of('groq', 'small', target).unavailable()?.reason
    return { clock, first, second, mean, breaks, reason }
  }

  test('has a health each: who means something else goes on, shows nothing, and its success ends nothing', () => {
    const { first, second, breaks, reason } = two('a', 'b')
    breaks(first, 'a')
    expect([
      reason(first, 'a'),
      reason(second, 'b'),
      second.openBreakers(),
      second.look().get('groq')?.unavailable,
    ]).toEqual(['open', undefined, [], undefined])
    breaks(second, 'b')
    second.of('groq', 'small', 'b').begin().answered()
    expect([reason(first, 'a'), first.openBreakers().length, second.openBreakers()]).toEqual(['open', 1, []])
  })

  test('is the same trouble to all who mean the same', () => {
    const { first, second, breaks, reason } = two('a', 'a')
    breaks(first, 'a')
    expect([reason(second, 'a'), second.openBreakers()]).toEqual(['open', [{ provider: 'groq' }]])
  })

  test('means to who says no target what it means to the hearer', () => {
    const { first, reason } = two('a', 'b')
    for (let time = 0; time < 5; time += 1)
      first.hear({ provider: 'groq', model: 'small', kind: 'failed', failure: 'server_error' })
    expect(reason(first, 'a')).toBe('open')
    first.hear({ provider: 'groq', model: 'small', kind: 'answered' })
    expect(reason(first, 'a')).toBeUndefined()
  })

  test('is heard of in time by who takes a change over a moment later than the teller', () => {
    const { first, second, mean, breaks, reason } = two('a', 'a')
    mean(first, 'b')
    breaks(first, 'b')
    expect([reason(second, 'a'), second.openBreakers()]).toEqual([undefined, []])
    mean(second, 'b')
    expect([reason(second, 'b'), second.openBreakers()]).toEqual(['open', [{ provider: 'groq' }]])
  })

  test('is a clean slate when it changes, and nothing is left of what it was', () => {
    const { first, mean, breaks, reason } = two('a', 'z')
    breaks(first, 'a')
    mean(first, 'b')
    expect([reason(first, 'b'), first.openBreakers(), first.standing()]).toEqual([undefined, [], []])
  })

  test('is told to newcomers with its target', () => {
    const { clock, first, breaks } = two('a', 'a')
    breaks(first, 'a')
    expect(first.standing()).toMatchObject([{ provider: 'groq', target: 'a', kind: 'standing' }])
    const late = healthBook(clock.now)
    for (const news of first.standing()) late.hear(news)
    expect([late.of('groq', 'small', 'a').unavailable()?.reason, late.of('groq', 'small', 'b').unavailable()]).toEqual([
      'open',
      undefined,
    ])
  })

  test('is heard of although a thousand others were', () => {
    const book = healthBook(fakeClock().now)
    for (let count = 0; count < 1_000; count += 1)
      book.hear({ provider: `provider-${count}`, target: 'x', kind: 'failed', failure: 'connect' })
    book.setTargets(new Map([['groq', 'a']]))
    book.hear({ provider: 'groq', target: 'a', kind: 'failed', failure: 'quota', heldOff: { coolDownMs: 1_000 } })
    expect(book.of('groq', 'small', 'a').unavailable()?.reason).toBe('cool_down')
    expect(book.of('provider-1', 'small', 'x').unavailable()).toBeUndefined()
  })

  test('has, at the bound, the place of whom nobody told of for longest, unless that one is meant', () => {
    const book = healthBook(fakeClock().now)
    const trouble = (provider: string, target: string) =>
      book.hear({ provider, target, kind: 'failed', failure: 'quota', heldOff: { coolDownMs: 60_000 } })
    book.setTargets(new Map([['groq', 'a']]))
    trouble('groq', 'a')
    for (let count = 1; count < 1_000; count += 1) trouble(`provider-${count}`, 'x')
    trouble('provider-1', 'x')
    trouble('groq', 'b')
    const reasons = [
      ['groq', 'a'],
      ['groq', 'b'],
      ['provider-1', 'x'],
      ['provider-2', 'x'],
      ['provider-3', 'x'],
    ] as const
    expect(reasons.map(([provider, target]) => book.of(provider, 'small', target).unavailable()?.reason)).toEqual([
      'cool_down',
      'cool_down',
      'cool_down',
      undefined,
      'cool_down',
    ])
  })

  test('is told to newcomers before a thousand that are not meant', () => {
    const { first, breaks } = two('a', 'z')
    for (let count = 0; count < 999; count += 1)
      first.hear({
        provider: 'groq',
        target: `${count}`,
        kind: 'failed',
        failure: 'connect',
        heldOff: { breaker: { remainingMs: 5_000, stepMs: 5_000 } },
      })
    for (let time = 0; time < 5; time += 1) first.of('groq', 'small', 'a').begin().failed(failureOf('server_error'))
    breaks(first, 'a')
    const standing = first.standing()
    expect([standing.length, standing[0], standing[1]]).toMatchObject([
      1_000,
      { target: 'a' },
      { target: 'a', model: 'small' },
    ])
    expect(standing[2]?.target).toBe('0')
  })

  test('is let go where it is not meant and its trouble is over, and stays where it is meant', () => {
    const { clock, first, breaks } = two('a', 'z')
    breaks(first, 'a')
    const heard = { provider: 'groq', model: 'small', kind: 'failed' } as const
    first.hear({
      ...heard,
      target: 'b',
      failure: 'server_error',
      heldOff: { breaker: { remainingMs: 5_000, stepMs: 5_000 } },
    })
    first.hear({ ...heard, target: 'c', failure: 'model_gone', heldOff: { coolDownMs: 60_000 } })
    clock.pass(34_999)
    expect(first.standing().map(({ target }) => target)).toEqual(['a', 'c', 'b'])
    clock.pass(1)
    expect(first.standing().map(({ target }) => target)).toEqual(['a', 'c'])
    clock.pass(25_000)
    first.hear({ ...heard, target: 'd', failure: 'server_error' })
    expect(first.standing().map(({ target }) => target)).toEqual(['a', 'd'])
    first.setTargets(new Map([['groq', 'b']]))
    expect(first.openBreakers()).toEqual([])
  })
})
