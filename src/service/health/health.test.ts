import { describe, expect, test } from 'bun:test'
import { failureEffects, isWhole, type FailureClass } from '../failure.ts'
import { failureOf, fakeClock } from '../testing.ts'
import { healthBook, type HealthBook } from './health.ts'

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
  test('of the whole provider changes by dns, connect, tls, credential and quota (failover.md, Breaker)', () => {
    const whole = classes.filter((name) => isWhole(failureEffects[name].scope))
    expect(whole.toSorted()).toEqual(['connect', 'credential', 'dns', 'quota', 'resources', 'tls'])
  })

  test.each(classes.filter((name) => failureEffects[name].breaker))('opens after five %s by their scope', (failure) => {
    const { book, fail } = subject()
    fail('groq', 'small', failure, 5)
    const concernsAll = isWhole(failureEffects[failure].scope)
    expect(book.of('groq', 'small').unavailable()?.reason).toBe('open')
    expect(book.of('groq', 'large').unavailable()?.reason).toBe(concernsAll ? 'open' : undefined)
    expect(book.of('other', 'small').unavailable()).toBeUndefined()
    expect(book.openBreakers()).toEqual([concernsAll ? { provider: 'groq' } : { provider: 'groq', model: 'small' }])
  })

  test('of a wrong key affects every model of the provider', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'credential', 2)
    fail('groq', 'large', 'credential', 1)
    expect(book.of('groq', 'third').unavailable()).toEqual({ reason: 'cool_down', remainingMs: 60_000 })
  })

  describe('of a key that only a status refuses', () => {
    const unproven = () => failureOf('credential', { isUnproven: true })
    const resting = { reason: 'cool_down', remainingMs: 60_000 } as const

    function refuse(book: HealthBook, model: string, callerId?: string): void {
      book.of('groq', model).begin().failed(unproven(), callerId)
    }

    test('rests the model alone, for one caller of one model', () => {
      const { book } = subject()
      for (let time = 0; time < 9; time += 1) refuse(book, 'small', 'ann')
      expect(book.of('groq', 'small').unavailable()).toEqual(resting)
      expect(book.of('groq', 'large').unavailable()).toBeUndefined()
    })

    test.each([
      ['a second model', (book: HealthBook) => refuse(book, 'large', 'ann')],
      ['a second caller', (book: HealthBook) => refuse(book, 'small', 'bob')],
    ])('rests the provider after %s', (_, confirm) => {
      const { book } = subject()
      refuse(book, 'small', 'ann')
      refuse(book, 'small', 'ann')
      expect(book.of('groq', 'third').unavailable()).toBeUndefined()
      confirm(book)
      expect(book.of('groq', 'third').unavailable()).toEqual(resting)
    })

    test('rests the provider when its list of models is refused too', () => {
      const { book } = subject()
      book.keyRefused('groq')
      expect(book.inspect().size).toBe(0)
      for (let time = 0; time < 3; time += 1) refuse(book, 'small')
      expect(book.of('groq', 'third').unavailable()).toEqual(resting)
    })

    test('is forgotten after a success, of any model', () => {
      const { book } = subject()
      refuse(book, 'small', 'ann')
      refuse(book, 'large', 'bob')
      book.of('groq', 'large').begin().succeeded()
      refuse(book, 'small', 'ann')
      refuse(book, 'small', 'ann')
      expect(book.of('groq', 'third').unavailable()).toBeUndefined()
    })

    test('reaches other processes once the provider rests', () => {
      const { book } = subject()
      const other = subject().book
      book.subscribe(other.apply)
      for (const model of ['small', 'large', 'large']) refuse(book, model)
      expect(other.of('groq', 'third').unavailable()).toEqual(resting)
    })
  })

  test('of a scope that the failure names comes before that of its class', () => {
    const { book } = subject()
    for (let time = 0; time < 3; time += 1)
      book
        .of('groq', 'small')
        .begin()
        .failed(failureOf('quota', { scope: 'model' }))
    expect(book.of('groq', 'small').unavailable()?.reason).toBe('cool_down')
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
    book
      .of('groq', 'small')
      .begin()
      .failed(failureOf('rate_limit', { scope: 'key', retryAfterMs: 9_000 }))
    expect(book.of('groq', 'large').unavailable()).toEqual({ reason: 'retry_after', remainingMs: 9_000 })
  })

  test('of a wait above 600 s rests the model for all of it, the provider for 600 s', () => {
    const { book } = subject()
    book
      .of('groq', 'small')
      .begin()
      .failed(failureOf('quota', { retryAfterMs: 7_200_000 }))
    expect(book.of('groq', 'large').unavailable()).toEqual({ reason: 'retry_after', remainingMs: 600_000 })
    book
      .of('other', 'small')
      .begin()
      .failed(failureOf('rate_limit', { retryAfterMs: 7_200_000 }))
    expect(book.of('other', 'small').unavailable()).toEqual({ reason: 'retry_after', remainingMs: 7_200_000 })
    expect(book.of('other', 'large').unavailable()).toBeUndefined()
  })

  test('of a missing model does not affect other models', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'model_gone', 3)
    expect(book.of('groq', 'small').unavailable()).toEqual({ reason: 'cool_down', remainingMs: 300_000 })
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
  })

  test('applies a Retry-After to the requested model', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'rate_limit', 1, 9_000)
    expect(book.of('groq', 'small').unavailable()).toEqual({ reason: 'retry_after', remainingMs: 9_000 })
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
  })

  test('counts a failed model as a success of the provider', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'connect', 4)
    fail('groq', 'large', 'server_error', 1)
    fail('groq', 'small', 'connect', 4)
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })

  test('is shared by every handle for the same model', () => {
    const { book, fail } = subject()
    const early = book.of('groq', 'small')
    fail('groq', 'small', 'server_error', 5)
    expect(early.unavailable()?.reason).toBe('open')
  })

  test('keeps providers and models of similar names apart', () => {
    const { book, fail } = subject()
    fail('a', 'b/c', 'server_error', 5)
    expect(book.of('a/b', 'c').unavailable()).toBeUndefined()
  })
})

describe('an attempt', () => {
  test('is settled once', () => {
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

  test.each(['completes', 'is cut'])(
    'that started to answer before the provider failed, and %s, does not close the breaker',
    (how) => {
      const { book, clock } = subject()
      const old = book.of('groq', 'small').begin()
      old.answered()
      clock.pass(60_000)
      for (let time = 0; time < 5; time += 1) book.of('groq', 'large').begin().failed(failureOf('connect'))
      if (how === 'completes') old.succeeded()
      else old.failed(failureOf('cut'))
      expect(book.openBreakers()).toEqual([{ provider: 'groq' }])
    },
  )

  test('that is abandoned is neither success nor failure', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'server_error', 4)
    book.of('groq', 'small').begin().abandoned()
    expect(book.openBreakers()).toEqual([])
    fail('groq', 'small', 'server_error', 1)
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'small' }])
  })

  test('that probes keeps the breaker open until it is settled', () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'connect', 5)
    clock.pass(5_000)
    const probe = book.of('groq', 'small').begin()
    expect(book.of('groq', 'large').unavailable()?.reason).toBe('open')
    probe.succeeded()
    expect(book.of('groq', 'large').unavailable()).toBeUndefined()
    expect(book.openBreakers()).toEqual([])
  })

  test('that probes and is abandoned allows another probe', () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'connect', 5)
    clock.pass(5_000)
    book.of('groq', 'small').begin().abandoned()
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })

  test("that probes a model and fails by the provider's connection allows another probe of the model", () => {
    const { book, fail, clock } = subject()
    fail('groq', 'small', 'server_error', 5)
    clock.pass(5_000)
    book.of('groq', 'small').begin().failed(failureOf('connect'))
    expect(book.of('groq', 'small').unavailable()).toBeUndefined()
  })
})

describe('the book', () => {
  test('keeps models in use among 30,000 invented names, and forgets the others', () => {
    const { book, fail } = subject()
    fail('groq', 'bad', 'server_error', 5)
    fail('groq', 'forgotten', 'server_error', 5)
    for (let count = 0; count < 30_000; count += 1) {
      book.of('groq', `model-${count}`)
      if (count % 5_000 === 0) book.of('groq', 'bad')
    }
    expect(book.openBreakers()).toEqual([{ provider: 'groq', model: 'bad' }])
    expect(book.of('groq', 'bad').unavailable()?.reason).toBe('open')
  })
})

describe('inspect', () => {
  test('lists no unused provider', () => {
    expect(subject().book.inspect().size).toBe(0)
  })

  test('shows a healthy provider', () => {
    const { book } = subject()
    book.of('groq', 'small').begin().succeeded()
    expect(book.inspect().get('groq')).toEqual({ unavailable: undefined, failure: undefined, models: [] })
  })

  test('shows the last failure until the next success', () => {
    const { book, fail } = subject()
    book.of('groq', 'large').begin().succeeded()
    fail('groq', 'small', 'server_error', 1)
    expect(book.inspect().get('groq')).toEqual({ unavailable: undefined, failure: 'server_error', models: [] })
    book.of('groq', 'large').begin().succeeded()
    expect(book.inspect().get('groq')?.failure).toBeUndefined()
  })

  test('shows no failure of the request itself', () => {
    const { book, fail } = subject()
    for (const failure of ['bad_request', 'context_length', 'content_policy'] as const)
      fail('groq', 'small', failure, 1)
    expect(book.inspect().get('groq')?.failure).toBeUndefined()
  })

  test('shows an unreachable provider', () => {
    const { book, fail, clock } = subject()
    book.of('groq', 'small').begin().succeeded()
    fail('groq', 'small', 'connect', 5)
    expect(book.inspect().get('groq')).toEqual({
      unavailable: { reason: 'open', remainingMs: 5_000 },
      failure: 'connect',
      models: [],
    })
    clock.pass(6_000)
    expect(book.inspect().get('groq')).toEqual({ unavailable: undefined, failure: 'connect', models: [] })
  })

  test('shows unavailable models', () => {
    const { book, fail } = subject()
    fail('groq', 'small', 'rate_limit', 1, 9_000)
    fail('groq', 'large', 'model_gone', 3)
    fail('other', 'small', 'server_error', 1)
    book.of('groq', 'third').begin().succeeded()
    expect(book.inspect().get('groq')).toEqual({
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
    book.inspect()
    const probe = book.of('groq', 'small').begin()
    expect(book.of('groq', 'large').unavailable()?.reason).toBe('open')
    probe.succeeded()
    expect(book.openBreakers()).toEqual([])
  })
})
