import { describe, expect, test } from 'bun:test'
import type { FailureClass } from '../failure.ts'
import { failureOf, fakeClock } from '../testing.ts'
import type { HealthEvent } from './health-event.ts'
import { healthBook, type HealthBook } from './health.ts'

/** Three processes that receive each other's events at once, or at `deliver`. Each has its own jitter. */
function three({ isLate = false } = {}) {
  const clock = fakeClock()
  const published: HealthEvent[] = []
  const waiting: (() => void)[] = []
  const jitters = [0, 0.5, 1]
  const books = jitters.map((jitter) => healthBook(clock.now, () => jitter))
  for (const book of books) {
    book.subscribe((event) => {
      published.push(event)
      const delivery = () => {
        for (const other of books) if (other !== book) other.apply(event)
      }
      if (isLate) waiting.push(delivery)
      else delivery()
    })
  }
  function deliver(): void {
    for (const delivery of waiting.splice(0)) delivery()
  }
  const [first = healthBook(clock.now), second = healthBook(clock.now), third = healthBook(clock.now)] = books
  return { clock, published, deliver, books, first, second, third }
}

function attempt(book: HealthBook, failure?: FailureClass, retryAfterMs?: number): void {
  const begun = book.of('groq', 'small').begin()
  if (failure === undefined) begun.succeeded()
  else begun.failed(failureOf(failure, retryAfterMs === undefined ? {} : { retryAfterMs }))
}

function fail(book: HealthBook, times: number, failure: FailureClass = 'server_error'): void {
  for (let time = 0; time < times; time += 1) attempt(book, failure)
}

function unavailability(books: readonly HealthBook[], model = 'small') {
  return books.map((book) => book.of('groq', model).unavailable())
}

const available = [undefined, undefined, undefined]

describe('several processes', () => {
  test('publish nothing without failures', () => {
    const { published, first } = three()
    for (let time = 0; time < 50; time += 1) {
      const begun = first.of('groq', 'small').begin()
      begun.answered()
      begun.succeeded()
      first.of('groq', 'small').begin().abandoned()
    }
    expect(published).toEqual([])
  })

  test.each(['bad_request', 'context_length', 'content_policy', 'conflict', 'resources'] as const)(
    'publish neither %s nor the success after it',
    (failure) => {
      const { published, first } = three()
      fail(first, 5, failure)
      attempt(first)
      expect(published).toEqual([])
    },
  )

  test('count consecutive failures together, and are open for the same time', () => {
    const { books, first, second, third } = three()
    fail(first, 2)
    fail(second, 1)
    fail(first, 1)
    expect(unavailability(books)).toEqual(available)
    fail(third, 1)
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 6_000 })))
  })

  test('are open by counting alone when all events arrive late', () => {
    const { books, published, first, second, deliver } = three({ isLate: true })
    fail(first, 3)
    fail(second, 2)
    expect(unavailability(books)).toEqual(available)
    deliver()
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 5_000 })))
    expect(published.length).toBe(5)
  })

  test('that open at the same time use the longer time', () => {
    const { books, first, third, deliver } = three({ isLate: true })
    fail(first, 5)
    fail(third, 5)
    deliver()
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 6_000 })))
  })

  test('skip the whole provider for its failures, and one model for others', () => {
    const { books, first, second } = three()
    fail(first, 4, 'connect')
    fail(second, 1, 'connect')
    expect(unavailability(books, 'large').map((each) => each?.reason)).toEqual(['open', 'open', 'open'])
    const others = three()
    fail(others.first, 5)
    expect(unavailability(others.books, 'large')).toEqual(available)
  })

  test('count a failed model elsewhere as a success of the provider', () => {
    const { books, first, second } = three()
    fail(first, 4, 'connect')
    fail(second, 1, 'server_error')
    fail(first, 4, 'connect')
    expect(unavailability(books, 'large')).toEqual(available)
  })

  test('count failures of one lasting class together', () => {
    const { books, first, second, third } = three()
    for (const book of [first, second, third]) attempt(book, 'credential')
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'cool_down', remainingMs: 60_000 })))
  })

  test('double the cool-down of rate limits together', () => {
    const { books, first, second, third } = three()
    for (const book of [first, second, third, first]) attempt(book, 'rate_limit')
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'cool_down', remainingMs: 10_000 })))
  })

  test('share the Retry-After of a retried attempt, which is no failure, and publish its end', () => {
    const { books, first, published } = three()
    const request = first.of('groq', 'small').begin()
    for (let time = 0; time < 5; time += 1)
      first.of('groq', 'small').retrying(failureOf('overloaded', { retryAfterMs: 2_000 }))
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'retry_after', remainingMs: 2_000 })))
    request.succeeded()
    expect(published.map(({ kind }) => kind)).toEqual(['snapshot', 'succeeded'])
    expect(books.flatMap((book) => book.openBreakers())).toEqual([])
  })

  test('publish restrictions only with failures that start or extend them', () => {
    const { published, first } = three()
    fail(first, 3, 'quota')
    attempt(first, 'rate_limit', 9_000)
    attempt(first, 'rate_limit', 1_000)
    const failed = { provider: 'groq', kind: 'failed', failure: 'quota' } as const
    const limited = { provider: 'groq', model: 'small', kind: 'failed', failure: 'rate_limit' } as const
    expect(published.filter(({ kind }) => kind === 'failed')).toEqual([
      failed,
      failed,
      { ...failed, restrictions: { coolDownMs: 300_000 } },
      { ...limited, retryAfterMs: 9_000, restrictions: { retryAfterMs: 9_000 } },
      { ...limited, retryAfterMs: 1_000 },
    ])
  })

  test.each(['server_error', 'connect', 'quota', 'rate_limit'] as const)(
    'apply the restrictions of the last %s without the earlier ones',
    (failure) => {
      const { first, published, clock } = three()
      fail(first, 5, failure)
      const late = healthBook(clock.now)
      for (const event of published.slice(-1)) late.apply(event)
      expect(unavailability([late])).toEqual(unavailability([first]))
      expect(unavailability([late])[0]?.remainingMs).toBeGreaterThan(0)
    },
  )

  test('are open for the published time after an earlier one', () => {
    const { books, first, third, clock } = three()
    fail(third, 5)
    attempt(third)
    clock.pass(1)
    fail(first, 5)
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 4_000 })))
  })

  test('share a Retry-After', () => {
    const { books, first } = three()
    attempt(first, 'overloaded', 9_000)
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'retry_after', remainingMs: 9_000 })))
  })

  test('exclude failures elsewhere from their ratio', () => {
    const { books, first, second, third } = three()
    for (let round = 0; round < 6; round += 1) {
      for (let time = 0; time < 2; time += 1) attempt(first)
      fail(second, 2)
      fail(third, 2)
      expect(unavailability(books)).toEqual(available)
    }
  })

  test('are open when the ratio of one opens its breaker', () => {
    const { books, second } = three()
    for (let time = 0; time < 10; time += 1) {
      attempt(second)
      attempt(second, 'server_error')
    }
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 5_000 })))
  })
})

describe('a success', () => {
  test.each(['server_error', 'connect', 'credential', 'rate_limit'] as const)(
    'ends %s everywhere, also at a process without an own failure',
    (failure) => {
      const { books, first, second, clock } = three()
      fail(first, 5, failure)
      attempt(second)
      expect(unavailability(books)).toEqual(available)
      fail(first, 2, failure)
      clock.pass(1)
      expect(unavailability(books)).toEqual(available)
    },
  )

  test('is published once by each process that knows of failures', () => {
    const { published, first, second } = three()
    fail(first, 1)
    published.length = 0
    for (const book of [second, second, first, second, first]) attempt(book)
    expect(published).toEqual([
      { provider: 'groq', model: 'small', kind: 'succeeded' },
      { provider: 'groq', model: 'small', kind: 'succeeded' },
    ])
  })

  test('also ends failures that crossed the success of another', () => {
    const { books, first, second, deliver } = three({ isLate: true })
    fail(second, 1)
    deliver()
    attempt(first)
    fail(second, 5)
    deliver()
    expect(unavailability(books).map((each) => each?.reason)).toEqual(['open', undefined, 'open'])
    attempt(second)
    deliver()
    expect(unavailability(books)).toEqual(available)
  })

  test('elsewhere counts as the last outcome for display', () => {
    const { first, second } = three()
    fail(first, 1)
    second.of('groq', 'large').begin().failed(failureOf('server_error'))
    expect(first.inspect().get('groq')?.failure).toBe('server_error')
    second.of('groq', 'large').begin().succeeded()
    expect(first.inspect().get('groq')?.failure).toBeUndefined()
  })

  test('does not end a Retry-After', () => {
    const { books, published, first, second } = three()
    attempt(first, 'rate_limit', 9_000)
    attempt(second)
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'retry_after', remainingMs: 9_000 })))
    expect(published.at(-1)).toEqual({
      provider: 'groq',
      model: 'small',
      kind: 'succeeded',
      restrictions: { retryAfterMs: 9_000 },
    })
  })

  test('starts with an answer: the breaker closes everywhere', () => {
    const { books, published, first, second, clock } = three()
    fail(first, 5)
    clock.pass(6_000)
    second.of('groq', 'small').begin().answered()
    expect(unavailability(books)).toEqual(available)
    expect(books.flatMap((book) => book.openBreakers())).toEqual([])
    expect(published.at(-1)?.kind).toBe('answered')
  })
})

describe('a probe of another process', () => {
  function expired() {
    const subject = three()
    fail(subject.first, 5)
    subject.clock.pass(4_000)
    expect(unavailability(subject.books)).toEqual(available)
    return subject
  }

  test('keeps the breaker open until it is settled', () => {
    const { books, second, clock } = expired()
    const probe = second.of('groq', 'small').begin()
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 1_000 })))
    clock.pass(29_999)
    expect(unavailability(books).every((each) => each?.reason === 'open')).toBe(true)
    probe.succeeded()
    expect(unavailability(books)).toEqual(available)
  })

  test('is ignored after 30 s: its process may have died', () => {
    const { first, second, third, clock } = expired()
    second.of('groq', 'small').begin()
    clock.pass(30_000)
    expect(unavailability([first, third])).toEqual([undefined, undefined])
    third.of('groq', 'small').begin()
    expect(unavailability([first])).toEqual([{ reason: 'open', remainingMs: 1_000 }])
  })

  test.each(['abandoned', 'bad_request', 'credential', 'connect'] as const)(
    'allows another probe when it ends with %s',
    (end) => {
      const { books, second } = expired()
      const probe = second.of('groq', 'small').begin()
      if (end === 'abandoned') probe.abandoned()
      else probe.failed(failureOf(end))
      expect(unavailability(books)).toEqual(available)
      expect(books.flatMap((book) => book.openBreakers()).length).toBe(3)
    },
  )

  test('that fails doubles the time everywhere, once', () => {
    const { books, second } = expired()
    second.of('groq', 'small').begin().failed(failureOf('server_error'))
    expect(unavailability(books)).toEqual(books.map(() => ({ reason: 'open', remainingMs: 10_000 })))
  })

  test('that fails is over after that time', () => {
    const { books, second, clock } = expired()
    second.of('groq', 'small').begin().failed(failureOf('server_error'))
    clock.pass(10_000)
    expect(unavailability(books)).toEqual(available)
  })

  test('prevents attempts of the last resort from being probes', () => {
    const { published, first, second } = expired()
    second.of('groq', 'small').begin()
    first.of('groq', 'small').begin().abandoned()
    expect(published.at(-1)?.kind).toBe('probing')
  })
})

describe('a new process', () => {
  function newProcess(clock: { readonly now: () => number }, events: readonly HealthEvent[]): HealthBook {
    const book = healthBook(clock.now, () => 0)
    book.subscribe((event) => {
      throw new Error(`it published ${event.kind} again`)
    })
    for (const each of events) book.apply(structuredClone(each))
    return book
  }

  test('receives nothing without failures, nor for failures of requests', () => {
    const { books, first } = three()
    attempt(first)
    attempt(first, 'bad_request')
    fail(first, 5)
    attempt(first)
    expect(books.flatMap((book) => book.snapshot())).toEqual([])
  })

  test.each([
    ['an open breaker', 'server_error', 5, undefined],
    ['a cool-down', 'quota', 3, undefined],
    ['a Retry-After', 'rate_limit', 1, 9_000],
  ] as const)('receives %s with its remaining time', (_, failure, times, retryAfterMs) => {
    const { first, second, clock } = three()
    for (let time = 0; time < times; time += 1) attempt(first, failure, retryAfterMs)
    clock.pass(1_000)
    const expected = unavailability([first])
    expect(expected[0]?.remainingMs).toBeGreaterThan(0)
    expect(unavailability([newProcess(clock, first.snapshot())])).toEqual(expected)
    expect(unavailability([newProcess(clock, second.snapshot())])).toEqual(expected)
  })

  test('continues to double the time of a breaker', () => {
    const { first, clock } = three()
    fail(first, 5)
    clock.pass(4_000)
    fail(first, 1)
    clock.pass(8_000)
    const book = healthBook(clock.now, () => 0)
    for (const event of first.snapshot()) book.apply(event)
    fail(book, 1)
    expect(unavailability([book])).toEqual([{ reason: 'open', remainingMs: 12_000 }])
  })

  test('continues to count consecutive failures, also of a lasting class', () => {
    const { first, clock } = three()
    fail(first, 4)
    fail(first, 2, 'quota')
    const book = healthBook(clock.now)
    for (const event of first.snapshot()) book.apply(event)
    expect(unavailability([book])).toEqual([undefined])
    attempt(book, 'quota')
    expect(unavailability([book])).toEqual([{ reason: 'cool_down', remainingMs: 300_000 }])
    attempt(book, 'server_error')
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'small' }])
  })

  test('publishes the success after failures that it received', () => {
    const { first, clock } = three()
    fail(first, 1)
    const published: HealthEvent[] = []
    const book = healthBook(clock.now)
    book.subscribe((event) => published.push(event))
    for (const event of first.snapshot()) book.apply(event)
    attempt(book)
    expect(published).toEqual([{ provider: 'groq', model: 'small', kind: 'succeeded' }])
  })

  test('waits for the current probe', () => {
    const { first, clock } = three()
    fail(first, 5)
    clock.pass(4_000)
    first.of('groq', 'small').begin()
    const book = newProcess(clock, first.snapshot())
    expect(unavailability([book])).toEqual([{ reason: 'open', remainingMs: 1_000 }])
    clock.pass(30_000)
    expect(unavailability([book])).toEqual([undefined])
  })

  test('receives whole providers first, then the most recently used models, a thousand events in all', () => {
    const { first } = three()
    for (let count = 0; count < 1_500; count += 1)
      first
        .of('groq', `model-${count}`)
        .begin()
        .failed(failureOf('rate_limit', { retryAfterMs: 1_000 }))
    fail(first, 5, 'connect')
    const events = first.snapshot()
    expect(events.length).toBe(1_000)
    expect(events.slice(0, 2).map(({ provider, model }) => ({ provider, model }))).toEqual([
      { provider: 'groq', model: undefined },
      { provider: 'groq', model: 'model-1499' },
    ])
  })
})

describe('an event of another process', () => {
  test('creates no entry without a failure', () => {
    const book = healthBook(fakeClock().now)
    for (const kind of ['answered', 'succeeded', 'probing', 'probe_over'] as const)
      book.apply({ provider: 'groq', kind })
    expect(book.inspect().size).toBe(0)
    book.apply({ provider: 'groq', kind: 'failed', failure: 'connect' })
    expect(book.inspect().size).toBe(1)
  })

  test('about a probe does not open a breaker that has closed here', () => {
    const book = healthBook(fakeClock().now)
    attempt(book, 'server_error')
    book.apply({ provider: 'groq', model: 'small', kind: 'probing' })
    expect(unavailability([book])).toEqual([undefined])
  })

  test('about a success carries remaining restrictions, also to a process without them', () => {
    const book = healthBook(fakeClock().now)
    book.apply({ provider: 'groq', kind: 'failed', failure: 'connect' })
    book.apply({ provider: 'groq', kind: 'succeeded', restrictions: { retryAfterMs: 7_000 } })
    expect(unavailability([book])).toEqual([{ reason: 'retry_after', remainingMs: 7_000 }])
  })
})

describe('targets', () => {
  /** Two processes that receive each other's events, each with its own target of the provider. */
  function two(one: string, other: string) {
    const clock = fakeClock(),
      books = [healthBook(clock.now, () => 0.5), healthBook(clock.now, () => 0.5)] as const
    const [first, second] = books
    first.subscribe((event) => second.apply(structuredClone(event)))
    second.subscribe((event) => first.apply(structuredClone(event)))
    const setTarget = (book: HealthBook, target: string) => book.setTargets(new Map([['groq', target]]))
    setTarget(first, one)
    setTarget(second, other)
    const breaks = (book: HealthBook, target: string) => {
      for (let time = 0; time < 5; time += 1) book.of('groq', 'small', target).begin().failed(failureOf('connect'))
    }
    const reason = (book: HealthBook, target: string) => book.of('groq', 'small', target).unavailable()?.reason
    return { clock, first, second, setTarget, breaks, reason }
  }

  test('have a health each: other targets stay available, show nothing, and their successes end nothing', () => {
    const { first, second, breaks, reason } = two('a', 'b')
    breaks(first, 'a')
    expect([
      reason(first, 'a'),
      reason(second, 'b'),
      second.openBreakers(),
      second.inspect().get('groq')?.unavailable,
    ]).toEqual(['open', undefined, [], undefined])
    breaks(second, 'b')
    second.of('groq', 'small', 'b').begin().answered()
    expect([reason(first, 'a'), first.openBreakers().length, second.openBreakers()]).toEqual(['open', 1, []])
  })

  test('that are equal share their health', () => {
    const { first, second, breaks, reason } = two('a', 'a')
    breaks(first, 'a')
    expect([reason(second, 'a'), second.openBreakers()]).toEqual(['open', [{ provider: 'groq' }]])
  })

  test('that change later than those of the sender still get its events', () => {
    const { first, second, setTarget, breaks, reason } = two('a', 'a')
    setTarget(first, 'b')
    breaks(first, 'b')
    expect([reason(second, 'a'), second.openBreakers()]).toEqual([undefined, []])
    setTarget(second, 'b')
    expect([reason(second, 'b'), second.openBreakers()]).toEqual(['open', [{ provider: 'groq' }]])
  })

  test('start with a new health when they change, and the old one is forgotten', () => {
    const { first, setTarget, breaks, reason } = two('a', 'z')
    breaks(first, 'a')
    setTarget(first, 'b')
    expect([reason(first, 'b'), first.openBreakers(), first.snapshot()]).toEqual([undefined, [], []])
  })

  test('are part of the events for a new process', () => {
    const { clock, first, breaks } = two('a', 'a')
    breaks(first, 'a')
    expect(first.snapshot()).toMatchObject([{ provider: 'groq', target: 'a', kind: 'snapshot' }])
    const late = healthBook(clock.now)
    for (const event of first.snapshot()) late.apply(event)
    expect([late.of('groq', 'small', 'a').unavailable()?.reason, late.of('groq', 'small', 'b').unavailable()]).toEqual([
      'open',
      undefined,
    ])
  })

  test('of other processes are forgotten at the next change', () => {
    const { first, setTarget, reason } = two('a', 'z')
    for (const target of ['b', 'c'])
      first.apply({ provider: 'groq', target, kind: 'failed', failure: 'quota', restrictions: { coolDownMs: 60_000 } })
    expect(first.snapshot().map(({ target }) => target)).toEqual(['b', 'c'])
    setTarget(first, 'b')
    expect(first.snapshot().map(({ target }) => target)).toEqual(['b'])
    expect(reason(first, 'b')).toBe('cool_down')
  })
})
