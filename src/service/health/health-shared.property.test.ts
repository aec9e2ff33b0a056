import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FailureClass } from '../failure.ts'
import { failureOf, fakeClock } from '../testing.ts'
import type { AttemptHealth } from './attempt-health.ts'
import type { HealthEvent } from './health-event.ts'
import { healthBook, type HealthBook } from './health.ts'

const count = 3
const models = ['small', 'large']
const sharedClasses = [
  'server_error',
  'connect',
  'credential',
  'model_gone',
  'rate_limit',
  'cut',
] as const satisfies readonly FailureClass[]

type Outcome = FailureClass | 'succeeded' | 'abandoned'

const outcome = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<Outcome[]>('server_error', 'connect') },
  fc.constantFrom<Outcome[]>(...sharedClasses, 'bad_request', 'succeeded', 'abandoned'),
)
const place = fc.record({ book: fc.nat(count - 1), model: fc.constantFrom(...models) })
const pass = fc.record({ kind: fc.constant('pass'), ms: fc.oneof(fc.nat(50), fc.nat(20_000)) })

const begin = fc.record({
  kind: fc.constant('begin'),
  at: place,
  retryAfterMs: fc.option(fc.nat(30_000), { nil: undefined }),
})
const end = fc.record({
  kind: fc.constant('settle'),
  which: fc.nat(),
  outcome,
  answers: fc.nat(9).map((number) => number === 0),
})

/** Steps of three processes. `carry`: the oldest event of one queue moves on. */
const step = fc.oneof(
  { weight: 4, arbitrary: begin },
  { weight: 4, arbitrary: end },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('carry'), way: fc.nat(2 * count - 1) }) },
  pass,
)
const atOnce = fc.oneof({ weight: 4, arbitrary: begin }, { weight: 4, arbitrary: end }, pass)

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

function settle(attempt: AttemptHealth, how: Outcome, retryAfterMs?: number): void {
  if (how === 'succeeded') attempt.succeeded()
  else if (how === 'abandoned') attempt.abandoned()
  else attempt.failed(failureOf(how, retryAfterMs === undefined ? {} : { retryAfterMs }))
}

/**
 * Workers around their primary. Each way between them has a queue of events, which arrive in order, at any time. Throws
 * when a process publishes an event that it received.
 */
function network(jitters: readonly number[]) {
  const clock = fakeClock()
  const published: HealthEvent[] = []
  let isApplying = false
  const books = jitters.map((jitter) => healthBook(clock.now, () => jitter))
  const toPrimary: HealthEvent[][] = books.map(() => [])
  const fromPrimary: HealthEvent[][] = books.map(() => [])

  for (const [index, book] of books.entries()) {
    book.subscribe((event) => {
      if (isApplying) throw new Error(`${event.kind} was published again`)
      published.push(event)
      toPrimary[index]?.push(structuredClone(event))
    })
  }

  function carry(way: number): void {
    const sender = way % books.length
    if (way < books.length) {
      const event = toPrimary[sender]?.shift()
      if (event !== undefined)
        for (const [index, queue] of fromPrimary.entries()) if (index !== sender) queue.push(event)
      return
    }
    const event = fromPrimary[sender]?.shift()
    if (event === undefined) return
    isApplying = true
    books[sender]?.apply(event)
    isApplying = false
  }

  function deliver(): void {
    for (let way = 0; way < 2 * books.length; way += 1) {
      const queue = [...toPrimary, ...fromPrimary][way] ?? []
      while (queue.length > 0) carry(way)
    }
  }

  return { clock, books, published, carry, deliver }
}

type Network = ReturnType<typeof network>

/** Plays steps one after the other. `end` abandons the open attempts. */
function player({ books, carry, clock }: Network) {
  const open: { readonly attempt: AttemptHealth; readonly retryAfterMs: number | undefined }[] = []

  function play(each: Step): void {
    switch (each.kind) {
      case 'begin': {
        const health = books[each.at.book]?.of('groq', each.at.model)
        if (health !== undefined) open.push({ attempt: health.begin(), retryAfterMs: each.retryAfterMs })
        return
      }
      case 'settle': {
        const [settled] = open.splice(each.which % Math.max(1, open.length), 1)
        if (each.answers) settled?.attempt.answered()
        if (settled !== undefined) settle(settled.attempt, each.outcome, settled.retryAfterMs)
        return
      }
      case 'carry':
        return carry(each.way)
      case 'pass':
        return clock.pass(each.ms)
    }
  }

  function end(): void {
    for (const { attempt } of open) attempt.abandoned()
  }

  return { play, end }
}

function playAll(all: Network, history: readonly Step[]): void {
  const { play, end } = player(all)
  for (const each of history) play(each)
  end()
}

function reasons(books: readonly HealthBook[]): readonly string[] {
  return books.flatMap((book) => models.map((model) => book.of('groq', model).unavailable()?.reason ?? 'available'))
}

const jitters = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: count, maxLength: count })
const steps = fc.array(step, { minLength: 20, maxLength: 150, size: 'max' })

describe('processes whose events arrive late', () => {
  test('are available after a success that all received, except for a Retry-After', () => {
    fc.assert(
      fc.property(jitters, steps, fc.nat(count - 1), (randoms, history, book) => {
        const all = network(randoms)
        playAll(all, history)
        all.deliver()
        for (const model of models) all.books[book]?.of('groq', model).begin().succeeded()
        all.deliver()
        expect(reasons(all.books).filter((reason) => reason !== 'available' && reason !== 'retry_after')).toEqual([])
      }),
    )
  })

  test('are available after ten minutes, with any lost events', () => {
    fc.assert(
      fc.property(jitters, steps, (randoms, history) => {
        const all = network(randoms)
        playAll(all, history)
        all.clock.pass(300_001)
        expect(reasons(all.books).filter((reason) => reason !== 'available')).toEqual([])
      }),
    )
  })

  test('publish nothing after one success each', () => {
    fc.assert(
      fc.property(jitters, steps, (randoms, history) => {
        const all = network(randoms)
        const succeed = () => {
          for (const book of all.books) for (const model of models) book.of('groq', model).begin().succeeded()
        }
        playAll(all, history)
        all.deliver()
        succeed()
        all.deliver()
        all.published.length = 0
        succeed()
        expect(all.published).toEqual([])
      }),
    )
  })
})

describe('processes at a dead provider', () => {
  /** @returns the number of attempts until all breakers are open, when some processes try in each round */
  function attemptsUntilOpen(rounds: readonly (readonly boolean[])[], isAtOnce: boolean): number {
    const all = network(rounds.slice(0, count).map((_, index) => index / count))
    let asks = 0
    for (const round of rounds) {
      const attempts: AttemptHealth[] = []
      for (const [index, asks] of round.entries()) {
        const health = all.books[index]?.of('groq', 'small')
        if (asks && health !== undefined && health.unavailable() === undefined) attempts.push(health.begin())
        if (isAtOnce) for (const attempt of attempts.splice(0)) askDead(attempt)
      }
      for (const attempt of attempts) askDead(attempt)
      all.deliver()
    }
    return asks

    function askDead(attempt: AttemptHealth): void {
      asks += 1
      attempt.failed(failureOf('timeout'))
      if (isAtOnce) all.deliver()
    }
  }

  const rounds = fc.array(fc.array(fc.boolean(), { minLength: count, maxLength: count }), {
    minLength: 30,
    maxLength: 60,
  })

  test('make five attempts in all when events arrive at once', () => {
    fc.assert(
      fc.property(rounds, (each) => {
        expect(
          attemptsUntilOpen([[true, true, true], ...each, ...Array<boolean[]>(5).fill([true, true, true])], true),
        ).toBe(5)
      }),
    )
  })

  test('make at most one more attempt for each further process when events arrive late', () => {
    fc.assert(
      fc.property(rounds, (each) => {
        const asks = attemptsUntilOpen([...each, ...Array<boolean[]>(5).fill([true, true, true])], false)
        expect(asks).toBeGreaterThanOrEqual(5)
        expect(asks).toBeLessThanOrEqual(5 + count - 1)
      }),
    )
  })
})

describe('processes whose events arrive at once', () => {
  test('have at most one probe at a time, within its 30 s', () => {
    let probes = 0
    fc.assert(
      fc.property(jitters, fc.array(atOnce, { minLength: 40, maxLength: 150, size: 'max' }), (randoms, history) => {
        const all = network(randoms)
        const begun = new Map<string | undefined, number>()
        for (const book of all.books) {
          book.subscribe((event) => {
            const since = begun.get(event.model)
            if (event.kind === 'probing') {
              probes += 1
              expect(since === undefined || all.clock.now() - since >= 30_000).toBe(true)
              begun.set(event.model, all.clock.now())
            } else if (event.kind !== 'failed' || (event.restrictions?.breaker?.remainingMs ?? 0) > 0)
              begun.delete(event.model)
          })
        }
        const { play } = player(all)
        for (const each of history) {
          play(each)
          all.deliver()
        }
      }),
    )
    expect(probes).toBeGreaterThan(20)
  })

  const attempt = fc.record({
    kind: fc.constant('attempt'),
    at: place,
    how: fc.constantFrom<Outcome[]>(...sharedClasses, 'server_error', 'server_error', 'succeeded'),
    retryAfterMs: fc.option(fc.nat(9_000), { nil: undefined }),
  })

  test('decide like a single process with all their attempts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 5, arbitrary: attempt }, pass), { minLength: 10, maxLength: 40, size: 'max' }),
        (history) => {
          const all = network([0.5, 0.5, 0.5])
          const single = healthBook(all.clock.now, () => 0.5)
          let attempts = 0
          for (const each of history) {
            if (each.kind === 'pass') all.clock.pass(each.ms)
            // The ratio is each process's own: with 19 attempts it decides nothing.
            else if (attempts < 19) {
              attempts += 1
              for (const book of [all.books[each.at.book], single])
                if (book !== undefined) settle(book.of('groq', each.at.model).begin(), each.how, each.retryAfterMs)
              all.deliver()
            }
            for (const model of models) {
              const expected = rounded(single, model)
              for (const book of all.books) expect(rounded(book, model)).toEqual(expected)
            }
          }
        },
      ),
    )
  })

  function rounded(book: HealthBook, model: string) {
    const unavailability = book.of('groq', model).unavailable()
    return unavailability === undefined
      ? undefined
      : { ...unavailability, remainingMs: Math.round(unavailability.remainingMs) }
  }
})
