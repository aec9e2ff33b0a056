import { describe, expect, test } from 'bun:test'
import { failureEffects, type FailureClass } from './failure.ts'
import { healthBook } from './health.ts'
import { failureOf, fakeClock } from './testing.ts'

function subject() {
  const clock = fakeClock()
  const book = healthBook(clock.now, () => 0.5)
  function fail(provider: string, model: string, failure: FailureClass, times: number, retryAfterMs?: number): void {
    for (let time = 0; time < times; time += 1) {
      book
        .of(provider, model)
        .begin()
        .failed(failureOf(failure, retryAfterMs === undefined ? {} : { retryAfterMs }))
    }
  }
  return { clock, book, fail }
}

const classes = Object.keys(failureEffects).filter((name): name is FailureClass => Object.hasOwn(failureEffects, name))

describe('health', () => {
  test('of a provider speaks of dns, connection, TLS, credential and quota; the rest of the model (failover.md, Breaker)', () => {
    const whole = classes.filter((name) => failureEffects[name].scope === 'provider')
    expect(whole.toSorted()).toEqual(['connect', 'credential', 'dns', 'quota', 'resources', 'tls'])
  })

  test.each(classes.filter((name) => failureEffects[name].breaker))(
    'opens after five %s where they belong',
    (failure) => {
      const { book, fail } = subject()
      fail('groq', 'small', failure, 5)
      const isWhole = failureEffects[failure].scope === 'provider'
      expect(book.of('groq', 'small').unavailable()?.reason).toBe('open')
      expect(book.of('groq', 'large').unavailable()?.reason).toBe(isWhole ? 'open' : undefined)
      expect(book.of('other', 'small').unavailable()).toBeUndefined()
      expect(book.openBreakers()).toEqual([isWhole ? { provider: 'groq' } : { provider: 'groq', model: 'small' }])
    },
  )

  test('of a bad key holds off every model of the provider', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'credential', 2)
    fail('groq', 'large', 'credential', 1)
    expect(book.of('groq', 'third').unavailable()).toEqual({ reason: 'cool_down', remainingMs: 60_000 })
  })

  test('of a model that is gone leaves the other models alone', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'model_gone', 3)
    expect(book.of('groq', 'small').unavailable()).toEqual({ reason: 'cool_down', remainingMs: 300_000 })
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
  })

  test('takes Retry-After for the model that was asked for', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'rate_limit', 1, 9_000)
    expect(book.of('groq', 'small').unavailable()).toEqual({ reason: 'retry_after', remainingMs: 9_000 })
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
  })

  test('knows that a provider whose model fails was reached', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'connect', 4)
    fail('groq', 'large', 'server_error', 1)
    fail('groq', 'small', 'connect', 4)
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })

  test('is told through every handle for the same model', () => {
    const { book, fail } = subject()
    const early = book.of('groq', 'small')
    fail('groq', 'small', 'server_error', 5)
    expect(early.unavailable()?.reason).toBe('open')
  })

  test('does not mix up a provider and a model of similar names', () => {
    const { book, fail } = subject()
    fail('a', 'b/c', 'server_error', 5)
    expect(book.of('a/b', 'c').unavailable()).toBeUndefined()
  })
})

describe('an attempt', () => {
  test('is settled once: what comes later is ignored', () => {
    const { book } = subject()
    for (let time = 0; time < 5; time += 1) {
      const attempt = book.of('groq', 'small').begin()
      attempt.succeeded()
      attempt.failed(failureOf('server_error'))
      attempt.abandoned()
    }
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })

  test('that answered may still be cut, and then counts as a failure', () => {
    const { book } = subject()
    for (let time = 0; time < 5; time += 1) {
      const attempt = book.of('groq', 'small').begin()
      attempt.answered()
      attempt.failed(failureOf('cut'))
    }
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'small' }])
  })

  test.each(['ends well', 'is cut'])(
    'that began to answer before the provider was lost, and %s, brings it back for nobody',
    (how) => {
      const { book, clock } = subject()
      const old = book.of('groq', 'small').begin()
      old.answered()
      clock.pass(60_000)
      for (let time = 0; time < 5; time += 1) book.of('groq', 'large').begin().failed(failureOf('connect'))
      if (how === 'ends well') old.succeeded()
      else old.failed(failureOf('cut'))
      expect(book.openBreakers()).toEqual([{ provider: 'groq' }])
    },
  )

  test('that is abandoned counts neither way', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'server_error', 4)
    book.of('groq', 'small').begin().abandoned()
    expect(book.openBreakers()).toEqual([])
    fail('groq', 'small', 'server_error', 1)
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'small' }])
  })

  test('that probes holds the others off until it is settled', () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'connect', 5)
    clock.pass(5_000)
    const probe = book.of('groq', 'small').begin()
    expect(book.of('groq', 'large').unavailable()?.reason).toBe('open')
    probe.succeeded()
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
    expect(book.openBreakers()).toEqual([])
  })

  test('that probes and is abandoned gives its place free', () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'connect', 5)
    clock.pass(5_000)
    book.of('groq', 'small').begin().abandoned()
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })

  test("that probes a model and fails by the provider's connection gives the model's place free", () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'server_error', 5)
    clock.pass(5_000)
    book.of('groq', 'small').begin().failed(failureOf('connect'))
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })
})

describe('the book', () => {
  test('keeps what is wanted now and then among 100,000 made-up names, and forgets the rest', () => {
    const { book, fail } = subject()
    fail('groq', 'bad', 'server_error', 5)
    fail('groq', 'forgotten', 'server_error', 5)
    for (let count = 0; count < 100_000; count += 1) {
      book.of('groq', `model-${count}`)
      if (count % 5_000 === 0) book.of('groq', 'bad')
    }
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'bad' }])
    expect(book.of('groq', 'bad').unavailable()?.reason).toBe('open')
  })
})

describe('a look at the book', () => {
  test('knows nothing of whom nobody asked', () => {
    expect(subject().book.look().size).toBe(0)
  })

  test('finds a provider that answers in order', () => {
    const { book } = subject()
    book.of('groq', 'small').begin().succeeded()
    expect(book.look().get('groq')).toEqual({ unavailable: undefined, failure: undefined, models: [] })
  })

  test('finds a provider whose last attempt failed, until one is answered', () => {
    const { book, fail } = subject()
    book.of('groq', 'large').begin().succeeded()
    fail('groq', 'small', 'server_error', 1)
    expect(book.look().get('groq')).toEqual({ unavailable: undefined, failure: 'server_error', models: [] })
    book.of('groq', 'large').begin().succeeded()
    expect(book.look().get('groq')?.failure).toBeUndefined()
  })

  test('finds no fault with a provider whose last request was at fault itself', () => {
    const { book, fail } = subject()
    for (const failure of ['bad_request', 'context_length', 'content_policy'] as const)
      fail('groq', 'small', failure, 1)
    expect(book.look().get('groq')?.failure).toBeUndefined()
  })

  test('finds a provider that cannot be reached, whatever its models did before', () => {
    const { book, fail, clock } = subject()
    book.of('groq', 'small').begin().succeeded()
    fail('groq', 'small', 'connect', 5)
    expect(book.look().get('groq')).toEqual({
      unavailable: { reason: 'open', remainingMs: 5_000 },
      failure: 'connect',
      models: [],
    })
    clock.pass(6_000)
    expect(book.look().get('groq')).toEqual({ unavailable: undefined, failure: 'connect', models: [] })
  })

  test('finds models that are left alone by themselves', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'rate_limit', 1, 9_000)
    fail('groq', 'large', 'model_gone', 3)
    fail('other', 'small', 'server_error', 1)
    book.of('groq', 'third').begin().succeeded()
    expect(book.look().get('groq')).toEqual({
      unavailable: undefined,
      failure: undefined,
      models: [
        { model: 'small', unavailable: { reason: 'retry_after', remainingMs: 9_000 }, failure: 'rate_limit' },
        { model: 'large', unavailable: { reason: 'cool_down', remainingMs: 300_000 }, failure: 'model_gone' },
      ],
    })
  })

  test('changes nothing', () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'connect', 5)
    clock.pass(5_000)
    book.look()
    const probe = book.of('groq', 'small').begin()
    expect(book.of('groq', 'large').unavailable()?.reason).toBe('open')
    probe.succeeded()
    expect(book.openBreakers()).toEqual([])
  })
})
