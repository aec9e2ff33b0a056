import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FailureClass } from './failure.ts'
import type { AttemptHealth } from './health-attempt.ts'
import type { HealthNews } from './health-news.ts'
import { healthBook, type HealthBook } from './health.ts'
import { failureOf, fakeClock } from './testing.ts'

const count = 3
const models = ['small', 'large']
const newsClasses = [
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
  fc.constantFrom<Outcome[]>(...newsClasses, 'bad_request', 'succeeded', 'abandoned'),
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

/** What happens to three processes. `carry`: the news that waited longest on one way goes a step on. */
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
 * Processes around one middle, as workers are around their primary and machines around their store: news travel to it
 * and from it at any pace, those on one way in order. Throws when hearing makes somebody tell.
 */
function network(jitters: readonly number[]) {
  const clock = fakeClock()
  const told: HealthNews[] = []
  let isHearing = false
  const books = jitters.map((jitter) => healthBook(clock.now, () => jitter))
  const toMiddle: HealthNews[][] = books.map(() => [])
  const fromMiddle: HealthNews[][] = books.map(() => [])

  for (const [index, book] of books.entries()) {
    book.onNews((news) => {
      if (isHearing) throw new Error(`${news.kind} was told on`)
      told.push(news)
      toMiddle[index]?.push(JSON.parse(JSON.stringify(news)))
    })
  }

  function carry(way: number): void {
    const teller = way % books.length
    if (way < books.length) {
      const news = toMiddle[teller]?.shift()
      if (news !== undefined) for (const [index, queue] of fromMiddle.entries()) if (index !== teller) queue.push(news)
      return
    }
    const news = fromMiddle[teller]?.shift()
    if (news === undefined) return
    isHearing = true
    books[teller]?.hear(news)
    isHearing = false
  }

  function deliver(): void {
    for (let way = 0; way < 2 * books.length; way += 1) {
      const queue = [...toMiddle, ...fromMiddle][way] ?? []
      while (queue.length > 0) carry(way)
    }
  }

  return { clock, books, told, carry, deliver }
}

type Network = ReturnType<typeof network>

/** Plays steps one after the other. `end`: attempts still under way come to nothing. */
function player({ books, carry, clock }: Network) {
  const underWay: { readonly attempt: AttemptHealth; readonly retryAfterMs: number | undefined }[] = []

  function play(each: Step): void {
    switch (each.kind) {
      case 'begin': {
        const health = books[each.at.book]?.of('groq', each.at.model)
        if (health !== undefined) underWay.push({ attempt: health.begin(), retryAfterMs: each.retryAfterMs })
        return
      }
      case 'settle': {
        const [settled] = underWay.splice(each.which % Math.max(1, underWay.length), 1)
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
    for (const { attempt } of underWay) attempt.abandoned()
  }

  return { play, end }
}

function playAll(all: Network, history: readonly Step[]): void {
  const { play, end } = player(all)
  for (const each of history) play(each)
  end()
}

function heldOff(books: readonly HealthBook[]): readonly string[] {
  return books.flatMap((book) => models.map((model) => book.of('groq', model).unavailable()?.reason ?? 'free'))
}

const jitters = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: count, maxLength: count })
const steps = fc.array(step, { minLength: 20, maxLength: 150, size: 'max' })

describe('processes that hear each other late', () => {
  test('are all free after a success that everybody heard of, but for a Retry-After', () => {
    fc.assert(
      fc.property(jitters, steps, fc.nat(count - 1), (randoms, history, book) => {
        const all = network(randoms)
        playAll(all, history)
        all.deliver()
        for (const model of models) all.books[book]?.of('groq', model).begin().succeeded()
        all.deliver()
        expect(heldOff(all.books).filter((reason) => reason !== 'free' && reason !== 'retry_after')).toEqual([])
      }),
    )
  })

  test('are all free after ten minutes, whatever was lost', () => {
    fc.assert(
      fc.property(jitters, steps, (randoms, history) => {
        const all = network(randoms)
        playAll(all, history)
        all.clock.pass(300_001)
        expect(heldOff(all.books).filter((reason) => reason !== 'free')).toEqual([])
      }),
    )
  })

  test('fall silent after one success each', () => {
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
        all.told.length = 0
        succeed()
        expect(all.told).toEqual([])
      }),
    )
  })
})

describe('processes at a dead provider', () => {
  /**
   * @returns how often it was asked until all hold off, when in each round some ask at once and hear each other after
   *   it
   */
  function asked(rounds: readonly (readonly boolean[])[], isAtOnce: boolean): number {
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

  test('ask it five times in all when they hear each other at once', () => {
    fc.assert(
      fc.property(rounds, (each) => {
        expect(asked([[true, true, true], ...each, ...Array<boolean[]>(5).fill([true, true, true])], true)).toBe(5)
      }),
    )
  })

  test('ask it at most once more for each further process when each asks while the others do', () => {
    fc.assert(
      fc.property(rounds, (each) => {
        const asks = asked([...each, ...Array<boolean[]>(5).fill([true, true, true])], false)
        expect(asks).toBeGreaterThanOrEqual(5)
        expect(asks).toBeLessThanOrEqual(5 + count - 1)
      }),
    )
  })
})

describe('processes that hear each other at once', () => {
  test('have one probe under way at most, within the 30 s that one may take', () => {
    let probes = 0
    fc.assert(
      fc.property(jitters, fc.array(atOnce, { minLength: 40, maxLength: 150, size: 'max' }), (randoms, history) => {
        const all = network(randoms)
        const begun = new Map<string | undefined, number>()
        for (const book of all.books) {
          book.onNews((news) => {
            const since = begun.get(news.model)
            if (news.kind === 'probing') {
              probes += 1
              expect(since === undefined || all.clock.now() - since >= 30_000).toBe(true)
              begun.set(news.model, all.clock.now())
            } else if (news.kind !== 'failed' || (news.heldOff?.breaker?.remainingMs ?? 0) > 0) begun.delete(news.model)
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
    how: fc.constantFrom<Outcome[]>(...newsClasses, 'server_error', 'server_error', 'succeeded'),
    retryAfterMs: fc.option(fc.nat(9_000), { nil: undefined }),
  })

  test('decide as one process would that made all their attempts', () => {
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
