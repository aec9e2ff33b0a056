import { describe, expect, test } from 'bun:test'
import { AllFailed, failover, type Candidate } from './failover.ts'
import { UpstreamFailure, type FailureClass } from './failure.ts'
import type { Unavailability } from './health/health-state.ts'
import { healthBook } from './health/health.ts'
import { callOf, failureOf, fakeClock, rejection } from './testing.ts'

/** How a candidate reacts: answers with a text, or throws. */
type Behaviour = string | Error

interface Fake extends Candidate {
  readonly behaviours: Behaviour[]
}

function candidate(name: string, behaviour: Behaviour | Behaviour[], unavailability?: Unavailability): Fake {
  return { name, behaviours: Array.isArray(behaviour) ? behaviour : [behaviour], unavailable: () => unavailability }
}

/** A walk over fakes, with the names of those that were tried. An answer in brackets is empty. */
function walkOver(...fakes: Fake[]) {
  const asked: string[] = []
  const released: string[] = []
  const walk = failover<Fake, string>(fakes, {
    isEmpty: (reply) => reply.startsWith('('),
    release: (reply) => released.push(reply),
    isDeferred: ({ failure }) => failure === 'no_price',
  })
  const ask = async (each: Fake): Promise<string> => {
    asked.push(each.name)
    const behaviour = each.behaviours.shift() ?? 'nothing more'
    if (typeof behaviour !== 'string') throw behaviour
    return behaviour
  }
  return { asked, released, walk, ask, next: (call = callOf()) => walk.next(ask, call) }
}

const down = () => failureOf('server_error')
const openFor = (remainingMs: number): Unavailability => ({ reason: 'open', remainingMs })
const coolingFor = (remainingMs: number): Unavailability => ({ reason: 'cool_down', remainingMs })
const retryAfterIn = (remainingMs: number): Unavailability => ({ reason: 'retry_after', remainingMs })
const full: Unavailability = { reason: 'full', remainingMs: 1_000 }

describe('failover', () => {
  test('tries only the first when it answers', async () => {
    const { next, asked } = walkOver(candidate('a', 'hello'), candidate('b', 'other'))
    const {
      candidate: { name },
      reply,
    } = await next()
    expect({ name, reply, asked }).toEqual({ name: 'a', reply: 'hello', asked: ['a'] })
  })

  test.each([
    ['of one', [candidate('a', down())], [true]],
    ['of two', [candidate('a', down()), candidate('b', down())], [false, true]],
    ['with one that is skipped', [candidate('a', down(), coolingFor(1)), candidate('b', down())], [false, true]],
    ['with one that will not be asked', [candidate('a', down(), retryAfterIn(1)), candidate('b', down())], [true]],
    ['that are all skipped', ['a', 'b'].map((name) => candidate(name, down(), openFor(1))), [false, true]],
  ] as const)('says which candidate is the last %s', async (_name, fakes, expected) => {
    const lasts: boolean[] = []
    const walk = failover<Fake, string>(fakes)
    const asking = walk.next(async ({ behaviours: [behaviour] }, isLast) => {
      lasts.push(isLast)
      throw behaviour
    }, callOf())
    expect(await rejection(asking)).toBeInstanceOf(AllFailed)
    expect(lasts).toEqual([...expected])
  })

  test('moves on when the first fails', async () => {
    const { next, asked } = walkOver(candidate('a', down()), candidate('b', 'hello'), candidate('c', 'other'))
    expect((await next()).candidate.name).toBe('b')
    expect(asked).toEqual(['a', 'b'])
  })

  const movedOnFrom = [
    'dns',
    'bad_request',
    'context_length',
    'credential',
    'quota',
    'rate_limit',
    'timeout',
    'malformed',
    'content_policy',
  ] as const
  test.each(movedOnFrom)('moves on from %s that is not final', async (failure) => {
    const { next } = walkOver(candidate('a', failureOf(failure)), candidate('b', 'hello'))
    expect((await next()).candidate.name).toBe('b')
  })

  test('tries candidates in the given order', async () => {
    const { next, asked } = walkOver(candidate('c', down()), candidate('a', down()), candidate('b', down()))
    await rejection(next())
    expect(asked).toEqual(['c', 'a', 'b'])
  })

  test('tries the next only after the one before has failed', async () => {
    let isUnderWay = false
    const walk = failover<Fake, string>([candidate('a', ''), candidate('b', '')])
    const overlaps: boolean[] = []
    await rejection(
      walk.next(async () => {
        overlaps.push(isUnderWay)
        isUnderWay = true
        await Bun.sleep(1)
        isUnderWay = false
        throw down()
      }, callOf()),
    )
    expect(overlaps).toEqual([false, false])
  })

  test('throws every failure with its candidate when all failed', async () => {
    const failures = [failureOf('rate_limit'), failureOf('dns')] as const
    const { next } = walkOver(candidate('a', failures[0]), candidate('b', failures[1]))
    const error = await rejection(next())
    if (!(error instanceof AllFailed)) throw error
    expect(error.failures).toEqual([
      { name: 'a', failure: failures[0] },
      { name: 'b', failure: failures[1] },
    ])
    expect(error.skipped).toEqual([])
    expect(error.cause).toEqual([...failures])
  })

  test('without candidates fails without failures', async () => {
    const error = await rejection(walkOver().next())
    expect(error).toBeInstanceOf(AllFailed)
    expect(error).toHaveProperty('failures', [])
  })

  test.each(['content_policy', 'resources'] as const)('stops at %s that is final', async (failure: FailureClass) => {
    const final = failureOf(failure, { isFinal: true })
    const { next, asked } = walkOver(candidate('a', final), candidate('b', 'hello'))
    expect(await rejection(next())).toBe(final)
    expect(asked).toEqual(['a'])
  })

  test('stops at an internal error', async () => {
    const internalError = new TypeError('undefined is not a function')
    const { next, asked } = walkOver(candidate('a', internalError), candidate('b', 'hello'))
    expect(await rejection(next())).toBe(internalError)
    expect(asked).toEqual(['a'])
  })

  test('stops when the caller has left, with the abort reason', async () => {
    const controller = new AbortController()
    const gone = new Error('gone')
    const asked: string[] = []
    const walk = failover<Fake, string>([candidate('a', ''), candidate('b', '')])
    const error = await rejection(
      walk.next(async ({ name }) => {
        asked.push(name)
        controller.abort(gone)
        throw down()
      }, callOf(controller.signal)),
    )
    expect(error).toBe(gone)
    expect(asked).toEqual(['a'])
  })

  test('continues behind the last candidate', async () => {
    const { next, asked } = walkOver(
      candidate('a', down()),
      candidate('b', 'first'),
      candidate('c', down()),
      candidate('d', 'second'),
    )
    expect((await next()).reply).toBe('first')
    expect((await next()).reply).toBe('second')
    expect(await rejection(next())).toBeInstanceOf(AllFailed)
    expect(asked).toEqual(['a', 'b', 'c', 'd'])
  })

  test('throws the failures of all its calls when no candidate remains', async () => {
    const { next } = walkOver(candidate('a', down()), candidate('b', 'first'), candidate('c', down()))
    await next()
    const error = await rejection(next())
    if (!(error instanceof AllFailed)) throw error
    expect(error.failures.map(({ name }) => name)).toEqual(['a', 'c'])
  })
})

describe('failover that stops in doubt', () => {
  const walk = (failure: UpstreamFailure) => {
    const fakes = [candidate('a', failure), candidate('b', 'hello'), candidate('c', 'never', openFor(9))]
    const cautious = failover<Fake, string>(fakes, { isEmpty: () => false, release() {}, stopsInDoubt: true })
    return cautious.next(walkOver().ask, callOf())
  }

  test('tries no candidate after an ambiguous failure', async () => {
    const error = await rejection(walk(new UpstreamFailure('timeout', 'late', { ambiguous: true })))
    expect(error).toBeInstanceOf(AllFailed)
    expect(error).toMatchObject({ isInDoubt: true, skipped: [], failures: [{ name: 'a' }] })
  })

  test.each(['malformed', 'empty', 'too_large', 'cut'] as const)(
    'tries none after an answer that is %s',
    async (one) => {
      expect(await rejection(walk(new UpstreamFailure(one, 'no', { status: 200 })))).toMatchObject({ isInDoubt: true })
    },
  )

  test.each([
    ['server_error', 500],
    ['server_error', 200],
    ['rate_limit', 200],
    ['malformed', undefined],
    ['empty', 204],
  ] as const)('goes on after %s with the status %p', async (failure, status) => {
    expect(await walk(new UpstreamFailure(failure, 'no', { status }))).toMatchObject({ reply: 'hello' })
  })
})

describe('failover past unavailable candidates', () => {
  test.each([openFor(1), coolingFor(1), retryAfterIn(1), full])(
    'skips one that is %j while another is available',
    async (unavailability) => {
      const { next, asked } = walkOver(candidate('a', 'never', unavailability), candidate('b', 'hello'))
      expect((await next()).candidate.name).toBe('b')
      expect(asked).toEqual(['b'])
    },
  )

  test('tries all in order when none is available', async () => {
    const { next, asked } = walkOver(
      candidate('a', down(), retryAfterIn(9)),
      candidate('b', down(), openFor(9)),
      candidate('c', 'hello', coolingFor(9)),
    )
    expect((await next()).candidate.name).toBe('c')
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  test('never tries a full candidate, although none is available', async () => {
    const { next, asked } = walkOver(candidate('a', 'never', full), candidate('b', 'hello', openFor(9)))
    expect((await next()).candidate.name).toBe('b')
    expect(asked).toEqual(['b'])
  })

  test('tries none when all are full', async () => {
    const { next, asked } = walkOver(candidate('a', 'never', full), candidate('b', 'never', full))
    const error = await rejection(next())
    if (!(error instanceof AllFailed)) throw error
    expect(error.failures).toEqual([])
    expect(error.skipped).toEqual([full, full])
    expect(asked).toEqual([])
  })

  test('tries the skipped at the end, in order, when the available ones failed', async () => {
    const { next, asked } = walkOver(
      candidate('a', down(), openFor(9)),
      candidate('b', down()),
      candidate('c', 'hello', coolingFor(9)),
      candidate('d', down()),
    )
    expect((await next()).candidate.name).toBe('c')
    expect(asked).toEqual(['b', 'd', 'a', 'c'])
  })

  test('does not try the skipped when the available ones failed because of the request', async () => {
    const { next, asked } = walkOver(candidate('a', 'hello', openFor(9)), candidate('b', failureOf('bad_request')))
    expect(await rejection(next())).toBeInstanceOf(AllFailed)
    expect(asked).toEqual(['b'])
  })

  test('does not try the skipped that sent a Retry-After, or are full, when another failed', async () => {
    const { next, asked } = walkOver(
      candidate('a', 'never', retryAfterIn(9)),
      candidate('b', 'never', full),
      candidate('c', down()),
    )
    const error = await rejection(next())
    if (!(error instanceof AllFailed)) throw error
    expect(error.skipped).toEqual([retryAfterIn(9), full])
    expect(asked).toEqual(['c'])
  })

  test('tries each at most once', async () => {
    const { next, asked } = walkOver(candidate('a', down(), openFor(9)), candidate('b', down()))
    await rejection(next())
    await rejection(next())
    expect(asked).toEqual(['b', 'a'])
  })

  test('does not check the availability of candidates behind the one that answers', async () => {
    const looked: string[] = []
    const watched = (name: string): Fake => ({
      ...candidate(name, 'hello'),
      unavailable: () => {
        looked.push(name)
        return undefined
      },
    })
    await walkOver(watched('a'), watched('b')).next()
    expect(looked).toEqual(['a'])
  })

  test('checks availability in turn: a candidate that has become full meanwhile is skipped', async () => {
    let isFull = false
    const later: Fake = { ...candidate('b', 'never'), unavailable: () => (isFull ? full : undefined) }
    const { walk, ask, asked } = walkOver(candidate('a', down()), later, candidate('c', 'hello'))
    const {
      candidate: { name },
    } = await walk.next((each) => {
      isFull = true
      return ask(each)
    }, callOf())
    expect({ name, asked }).toEqual({ name: 'c', asked: ['a', 'c'] })
  })

  test('does not try a skipped candidate that has become full meanwhile', async () => {
    let unavailability = openFor(9)
    const skipped: Fake = { ...candidate('a', 'never'), unavailable: () => unavailability }
    const { walk, ask, asked } = walkOver(skipped, candidate('b', down()))
    const error = await rejection(
      walk.next((each) => {
        unavailability = full
        return ask(each)
      }, callOf()),
    )
    expect(asked).toEqual(['b'])
    expect(error).toHaveProperty('skipped', [full])
  })

  test('does not list skipped candidates that it has tried at the end', async () => {
    const { next } = walkOver(
      candidate('a', down(), openFor(9)),
      candidate('b', down()),
      candidate('c', 'never', retryAfterIn(5)),
    )
    expect(await rejection(next())).toHaveProperty('skipped', [retryAfterIn(5)])
    const all = walkOver(candidate('a', failureOf('credential'), coolingFor(9)))
    expect(await rejection(all.next())).toHaveProperty('skipped', [])
  })

  test('tries the skipped when a stream is to be resumed and no other remains', async () => {
    const { next, asked } = walkOver(candidate('a', 'first'), candidate('b', 'second', openFor(9)))
    await next()
    expect((await next()).reply).toBe('second')
    expect(asked).toEqual(['a', 'b'])
  })

  test('sends one probe to an open breaker, however many requests fail over to it at once', async () => {
    const clock = fakeClock()
    const { unavailable, begin } = healthBook(clock.now, () => 0.5).of('b', 'm')
    for (let time = 0; time < 5; time += 1) begin().failed(down())
    clock.pass(5_000)
    const walks = Array.from({ length: 8 }, () =>
      failover<Candidate, string>([
        { name: 'a', unavailable: () => undefined },
        { name: 'b', unavailable },
        { name: 'c', unavailable: () => undefined },
      ]).next(async ({ name }) => {
        if (name === 'a') {
          await Promise.resolve()
          throw failureOf('bad_request')
        }
        if (name === 'c') return name
        const attempt = begin()
        await Bun.sleep(1)
        attempt.succeeded()
        return name
      }, callOf()),
    )
    expect(
      (await Promise.all(walks))
        .map(({ reply }) => reply)
        .toSorted()
        .join(''),
    ).toBe('bccccccc')
  })
})

describe('failover from an empty answer', () => {
  test('moves on while another candidate remains (failover.md row 27)', async () => {
    const { next, asked, released } = walkOver(candidate('a', '(empty)'), candidate('b', 'hello'))
    expect((await next()).reply).toBe('hello')
    expect(asked).toEqual(['a', 'b'])
    expect(released).toEqual(['(empty)'])
  })

  test('delivers it when no candidate remains, without releasing it', async () => {
    const { next, released } = walkOver(candidate('a', down()), candidate('b', '(empty)'))
    expect((await next()).reply).toBe('(empty)')
    expect(released).toEqual([])
  })

  test('delivers the first when all others fail', async () => {
    const { next } = walkOver(candidate('a', '(one)'), candidate('b', down()))
    const {
      candidate: { name },
      reply,
    } = await next()
    expect({ name, reply }).toEqual({ name: 'a', reply: '(one)' })
  })

  test('delivers the first when all others are empty too', async () => {
    const { next, asked } = walkOver(candidate('a', '(one)'), candidate('b', '(two)'), candidate('c', '(three)'))
    expect((await next()).reply).toBe('(one)')
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  test('marks the attempt in the trail as empty', async () => {
    const { walk, ask } = walkOver(candidate('a', '(empty)'), candidate('b', 'hello'))
    const call = callOf()
    await walk.next((each) => {
      call.trail.push({ name: each.name, status: 200, ms: 1 })
      return ask(each)
    }, call)
    expect(call.trail).toEqual([
      { name: 'a', status: 200, ms: 1, failure: 'empty', reason: 'the answer is empty' },
      { name: 'b', status: 200, ms: 1 },
    ])
  })

  test('delivers every answer without options', async () => {
    const walk = failover<Fake, string>([candidate('a', ''), candidate('b', '')])
    expect((await walk.next(async () => '(empty)', callOf())).candidate.name).toBe('a')
  })
})

describe('a failure', () => {
  test('keeps its details when it gets another status', () => {
    const failure = new UpstreamFailure('content_policy', 'no', {
      status: 400,
      isFinal: true,
      retryAfterMs: 5,
      ambiguous: true,
      cause: 'why',
    }).answeredWith(200)
    expect(failure).toMatchObject({
      failure: 'content_policy',
      message: 'no',
      status: 200,
      isFinal: true,
      retryAfterMs: 5,
      ambiguous: true,
      cause: 'why',
    })
  })

  test.each([
    ['timeout', {}, true],
    ['connect', { timedOut: true }, true],
    ['connect', {}, false],
  ] as const)('of class %s with %j has timed out: %p', (failure, details, expected) => {
    expect(failureOf(failure, details).timedOut).toBe(expected)
  })
})

describe('a candidate that asks to be deferred', () => {
  const later = (then: Behaviour) => [failureOf('no_price'), then]

  test.each<[string, Fake[], string, string[]]>([
    ['does not matter when another answers', [candidate('a', later('no')), candidate('b', 'yes')], 'yes', ['a', 'b']],
    [
      'is asked behind the others, in the order of the list',
      [candidate('a', later(down())), candidate('b', later('yes')), candidate('c', down())],
      'yes',
      ['a', 'b', 'c', 'a', 'b'],
    ],
    [
      'is asked instead of an empty answer',
      [candidate('a', later('yes')), candidate('b', '()')],
      'yes',
      ['a', 'b', 'a'],
    ],
    [
      'is asked before those that cool down',
      [candidate('a', later('yes')), candidate('b', 'no', coolingFor(9))],
      'yes',
      ['a', 'a'],
    ],
    [
      'may cool down itself',
      [candidate('a', later('yes'), openFor(9)), candidate('b', down())],
      'yes',
      ['b', 'a', 'a'],
    ],
  ])('%s', async (_name, fakes, answer, order) => {
    const { next, asked } = walkOver(...fakes)
    expect((await next()).reply).toBe(answer)
    expect(asked).toEqual(order)
  })

  test('is asked once more only', async () => {
    const { next, asked } = walkOver(candidate('a', later(down())))
    const error = await rejection(next())
    expect(error).toBeInstanceOf(AllFailed)
    expect(asked).toEqual(['a', 'a'])
  })
})
