import { describe, expect, test } from 'bun:test'
import type { Reply } from '../formats/reply.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'
import { LocalBudgets } from '../limits/budgets/budget-authority.ts'
import { MoneyLimits } from '../limits/budgets/money-limits.ts'
import { OpenHolds } from '../limits/budgets/open-holds.ts'
import { personOf } from '../people/testing.ts'
import { costFunction } from '../prices/cost.ts'
import { LearnedSizes } from '../prices/token-sizes.ts'
import { UpstreamFailure, type FailureDetails } from '../service/failure.ts'
import { callController } from '../service/service.ts'
import { callOf, failureOf, rejection } from '../service/testing.ts'
import { Booking } from './booking.ts'
import { commit } from './commit.ts'
import { gateway } from './gateway.ts'
import type { AnswerService, Provider } from './provider.ts'
import {
  cutFailure,
  fakeProvider,
  fakeStream,
  partJson,
  parts,
  partsText,
  readAll,
  requestOf,
  silentStream,
  wholeReply,
  type FakeProvider,
  type FakeProviderOptions,
} from './testing.ts'

const { role, text, finish, usage } = parts
/** The cost of the usage of fake answers: 3 tokens of the prompt, 4 of the answer. */
const wholeCost = 3 * 1_000 + 4 * 10_000
const maxTokens = 1_000
const question = { max_tokens: maxTokens }

function policy(usd: number, more: Partial<AccessPolicy['limits'][number]> = {}): AccessPolicy {
  const nanoUsd = Math.round(usd * 1e9)
  const limit = {
    place: 'limits[0]',
    subject: { kind: 'everyone' },
    usd: { nanoUsd, per: 'total', isHard: false },
    ...more,
  } as const
  return { timeZone: 'UTC', limits: [limit], teams: new Map() }
}

function priced(
  id: string,
  answers: readonly (Reply | Error | AnswerService)[],
  input = 1,
  options?: FakeProviderOptions,
): FakeProvider {
  const provider = fakeProvider(id, answers, options)
  const costOf = costFunction({ price: { input, output: 10 * input }, source: 'config' }, false)
  return { ...provider, candidate: (model) => ({ ...provider.candidate(model), costOf }) }
}

/** A provider that reports its costs, for a model without a price. */
function reporting(id: string, answers: readonly (Reply | Error | AnswerService)[]): Provider {
  const provider = fakeProvider(id, answers)
  const costOf = costFunction(undefined, true)
  return { ...provider, candidate: (model) => ({ ...provider.candidate(model), costOf }) }
}

const counted = { promptTokens: 3, completionTokens: 4, totalTokens: 7 }

function subject(providers: readonly Provider[], limits = policy(100)) {
  const authority = new LocalBudgets({ spending: { sumSince: async () => 0 }, now: Date.now })
  const holds = new OpenHolds()
  const budgets = new MoneyLimits({ authority, now: Date.now, tokenSizes: new LearnedSizes(), openHolds: holds })
  budgets.replace(limits)
  const rules = { aliases: {}, onContentPolicy: 'stop', onCut: 'resume', hold: 'calls', retryBilled: false } as const
  const { answer } = gateway({ providers, ...rules, budgets: () => budgets })
  async function spent(): Promise<number> {
    expect([authority.size, holds.count]).toEqual([0, 0])
    return authority.accounts.known('["everyone","total",null,""] "" 0')?.spent ?? -1
  }
  return { answer, spent, authority, budgets, holds }
}

function failed(kind: UpstreamFailure['failure'], details: FailureDetails = {}): UpstreamFailure {
  return new UpstreamFailure(kind, `it was ${kind}`, details)
}

/** The bytes of the request, at 1.4 for a token, and its answer. */
function estimateOf(request: ReturnType<typeof requestOf>): number {
  return Math.ceil(request.body.length / 1.4) * 1_000 + maxTokens * 10_000
}

describe('money that is held for an attempt', () => {
  const whole = requestOf(question)
  const stream = requestOf({ ...question, stream: true })

  test.each([
    ['a whole answer costs what it used', [wholeReply('hello')], wholeCost],
    ['an attempt that never arrived costs nothing', [failed('connect')], 0],
    ['a refusal costs nothing', [failed('rate_limit', { status: 429 })], 0],
    ['an attempt that may have been done costs its estimate', [failed('timeout', { ambiguous: true })], 'estimate'],
    ['an answer that is spoiled costs its estimate', [failed('malformed', { status: 200 })], 'estimate'],
    ['an error of this service costs the estimate', [new Error('a fault')], 'estimate'],
  ] as const)('ends: %s', async (_, answers, cost) => {
    const { answer, spent } = subject([priced('a', answers)])
    await answer(whole, callOf()).catch(() => undefined)
    expect(await spent()).toBe(cost === 'estimate' ? estimateOf(whole) : cost)
  })

  test.each([
    ['at its end, with what it used', [role(), text('a'), finish(), usage()], wholeCost],
    ['at its end without usage, with its text', [text('abcd'.repeat(5)), finish()], 5 * 10_000],
    ['at a cut, with its text so far', [text('abcd'.repeat(5)), cutFailure()], 5 * 10_000],
  ] as const)('of a stream ends: %s', async (_, steps, cost) => {
    const { answer, spent, authority } = subject([priced('a', [fakeStream(...steps)])])
    const { reply } = await answer(stream, callOf())
    expect(authority.size).toBe(1)
    if (reply.kind === 'stream') await readAll(reply)
    const prompt = Math.ceil('[{"role":"user","content":"Hi"}]'.length / 4) * 1_000
    expect(await spent()).toBe(cost === wholeCost ? cost : prompt + cost)
  })

  test('of a stream ends when the client leaves it', async () => {
    const { answer, spent } = subject([priced('a', [silentStream()])])
    const { reply } = await answer(stream, callOf())
    if (reply.kind === 'stream') reply.cancel()
    expect(await spent()).toBe(8_000)
  })

  test('ends with the estimate when the client leaves before the answer', async () => {
    const controller = callController()
    const { answer, spent } = subject([
      priced('a', [
        async (_request, { signal }) => {
          controller.abort(new Error('gone'))
          throw signal.reason
        },
      ]),
    ])
    const booking = new Booking()
    const call = { signal: controller.signal, trail: [], booking }
    await answer(whole, call).catch(() => undefined)
    booking.recorded()
    expect(await spent()).toBe(estimateOf(whole))
    expect(booking.attempts).toEqual([{ provider: 'a', nanoUsd: estimateOf(whole), place: undefined }])
  })

  test('costs nothing when the client leaves while another process is asked for it', async () => {
    const controller = callController()
    const provider = priced('a', [wholeReply('hello')])
    const { answer, spent } = subject([provider])
    const booking = new Booking()
    const answering = answer(whole, { signal: controller.signal, trail: [], booking })
    controller.abort(new Error('gone'))
    expect(await rejection(answering)).toMatchObject({ message: 'gone' })
    expect([provider.requests.length, await spent(), booking.attempts]).toEqual([0, 0, []])
  })

  test('costs the prompt and the text of a whole answer whose provider reports no usage', async () => {
    const reply = { ...wholeReply('hello'), body: new Uint8Array(1_200), usage: undefined }
    const { answer, spent } = subject([priced('a', [reply])])
    await answer(whole, callOf())
    expect(await spent()).toBe(8 * 1_000 + 200 * 10_000)
  })

  test('without a price, of a provider that reports costs, is held by an assumed price', async () => {
    const reply = { ...wholeReply('hello'), usage: { ...counted, billed: { cost: 0.002 } } }
    const { answer, spent, authority } = subject([
      reporting('a', [
        async () => {
          expect(authority.size).toBe(1)
          return reply
        },
      ]),
    ])
    await answer(whole, callOf())
    expect(await spent()).toBe(2_000_000)
  })

  test('is refused by a budget, which is recorded without the amount that others share', async () => {
    const booking = new Booking()
    const { answer } = subject([priced('a', [wholeReply('hello')])], policy(0))
    await answer(whole, { ...callOf(), booking }).catch(() => undefined)
    expect(booking.met).toEqual([{ met: 'passed_over', for: 'everyone', kind: 'usd', per: 'total' }])
  })

  test('is estimated, and recorded, for each answer whose provider reports no usage', async () => {
    const { answer, spent } = subject([
      priced('a', [{ ...wholeReply(''), usage: undefined }]),
      priced('b', [{ ...wholeReply('hello'), usage: undefined }]),
    ])
    const booking = new Booking()
    await answer(whole, { ...callOf(), booking })
    booking.recorded()
    const recorded = booking.attempts
    expect(recorded.map(({ provider }) => provider)).toEqual(['a', 'b'])
    expect(recorded.every(({ nanoUsd }) => nanoUsd > 0)).toBe(true)
    expect(recorded.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0)).toBe(await spent())
  })

  test('is stored until the request is recorded, by the caller, the listed name and the provider', async () => {
    const { answer, spent, holds } = subject([
      priced('a', [failed('connect')]),
      priced('b', [failed('timeout', { ambiguous: true })]),
      priced('c', [wholeReply('hello')]),
    ])
    const booking = new Booking()
    const person = personOf({ user: 'ann', userId: 'x:1' })
    await answer(whole, { ...callOf(), booking, caller: { person, key: { line: 7 } } })
    const place = { line: 7, person, model: 'm', attempts: 1, nanoUsd: estimateOf(whole) }
    expect(holds.sums()).toEqual([
      { ...place, provider: 'b' },
      { ...place, provider: 'c' },
    ])
    booking.recorded()
    expect(holds.sums()).toEqual([])
    expect(await spent()).toBe(estimateOf(whole) + wholeCost)
  })

  test('is held and booked for each provider that resumes a stream', async () => {
    const { answer, spent } = subject([
      priced('a', [fakeStream(role(), text('abcd'), cutFailure())]),
      priced('b', [fakeStream(text('abcd', 'b'), text('efgh', 'b'), finish('stop', 'b'), usage())], 2),
    ])
    const { reply } = await answer(stream, callOf())
    if (reply.kind === 'stream') await readAll(reply)
    expect(await spent()).toBe(8_000 + 10_000 + 2 * wholeCost)
  })

  test('is noted for a stream that was given up since it began another answer', async () => {
    const { answer, spent } = subject([
      priced('a', [fakeStream(role(), text('abcd'), cutFailure())]),
      priced('b', [fakeStream(text('another', 'b'), finish('stop', 'b'), usage())]),
      priced('c', [fakeStream(text('abcd', 'c'), text('efgh', 'c'), finish('stop', 'c'), usage())]),
    ])
    const call = { ...callOf(), booking: new Booking() }
    const { reply } = await answer(stream, call)
    if (reply.kind === 'stream') await readAll(reply)
    call.booking.recorded()
    const given = (await spent()) - (8_000 + 10_000) - wholeCost
    expect(given).toBeGreaterThan(8_000)
    expect(call.trail[1]).toMatchObject({ name: 'b', status: 200, ms: 0, ambiguous: true, differedAt: 'text:0' })
    expect(call.booking.attempts).toContainEqual({ provider: 'b', nanoUsd: given, place: 1 })
  })

  test('is booked for an empty answer, and for the one after it', async () => {
    const { answer, spent } = subject([priced('a', [wholeReply('')]), priced('b', [wholeReply('hello')])])
    await answer(whole, callOf())
    expect(await spent()).toBe(2 * wholeCost)
  })

  test.each([
    ['an answer', whole, wholeReply('')],
    ['a stream', stream, commit(async () => fakeStream(role(), finish(), usage()))],
  ])(
    'of %s that is empty is booked by its place in the trail, when another provider answers',
    async (_, request, empty) => {
      const { answer, spent } = subject([priced('a', [empty]), priced('b', [wholeReply('hello')])])
      const call = { ...callOf(), booking: new Booking() }
      await answer(request, call)
      call.booking.recorded()
      expect(await spent()).toBe(2 * wholeCost)
      expect(call.trail[0]).toMatchObject({ name: 'a', failure: 'empty' })
      expect(call.booking.attempts).toEqual([{ provider: 'a', nanoUsd: wholeCost, place: 0 }])
    },
  )

  test('is booked by its place in the trail for an attempt that may be billed', async () => {
    const doubtful: AnswerService = async (_request, { trail }) => {
      const failure = failed('timeout', { ambiguous: true })
      trail[trail.length - 1] = { name: 'a', failure: 'timeout', ms: 1, ambiguous: true }
      throw failure
    }
    const { answer } = subject([priced('a', [doubtful])])
    const booking = new Booking()
    await answer(whole, { ...callOf(), booking }).catch(() => undefined)
    expect(booking.attempts).toEqual([{ provider: 'a', nanoUsd: estimateOf(whole), place: 0 }])
  })
})

describe('a budget without room', () => {
  const whole = requestOf(question)

  test('passes providers over by their prices, and the others are asked', async () => {
    const { answer } = subject([priced('paid', []), priced('free', [wholeReply('hello')], 0)], policy(0))
    const call = callOf()
    expect((await answer(whole, call)).provider).toBe('free')
    expect(call.trail.map(({ name, failure }) => [name, failure])).toEqual([
      ['paid', 'budget'],
      ['free', undefined],
    ])
  })

  test('is one reason among others, when others failed', async () => {
    const { answer } = subject([priced('free', [failureOf('server_error')], 0), priced('paid', [])], policy(0))
    const error = await rejection(answer(whole, callOf()))
    expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    expect(String(error)).toContain('paid: The budget for everyone, in total, is used up')
  })

  test('tells the amount only of the own budget of a caller', async () => {
    const own = policy(0, { subject: { kind: 'each key' } })
    const { answer } = subject([priced('a', [])], own)
    expect(await rejection(answer(whole, { ...callOf(), caller: { key: { line: 7 } } }))).toMatchObject({
      status: 429,
      message: 'The budget of 0 USD for each key, in total, is used up or held by requests; it does not begin again',
    })
  })

  test('does not count callers that it does not name', async () => {
    const { answer } = subject([priced('a', [wholeReply('hello')])], policy(0, { subject: { kind: 'each key' } }))
    expect((await answer(whole, callOf())).provider).toBe('a')
  })

  test('cuts a stream off, if it passes over the last provider that could resume it', async () => {
    const { answer, spent } = subject(
      [priced('a', [fakeStream(role(), text('abcd'), cutFailure())], 0), priced('b', [])],
      policy(0),
    )
    const { reply } = await answer(requestOf({ ...question, stream: true }), callOf())
    const { error } = reply.kind === 'stream' ? await readAll(reply) : {}
    expect(error).toMatchObject({ status: 502 })
    expect(await spent()).toBe(0)
  })
})

describe('a provider without a price', () => {
  const unpriced = (id: string, ...answers: readonly (Reply | Error)[]) => fakeProvider(id, answers)
  const trailOf = ({ trail }: ReturnType<typeof callOf>) =>
    trail.map(({ name, failure }) => `${name} ${failure ?? 'ok'}`)
  const limited = (more: object) => policy(1, { usd: { nanoUsd: 1e9, per: 'total', isHard: false, ...more } })

  test.each<[string, AccessPolicy, (Reply | Error)[], string, string[]]>([
    ['is passed over while another answers', limited({}), [wholeReply('paid')], 'paid', ['own no_price', 'paid ok']],
    [
      'answers when the others fail',
      limited({}),
      [failureOf('server_error')],
      'own',
      // Fakes put no failures into the trail.
      ['own no_price', 'own ok'],
    ],
    ['answers when the others are over budget', policy(0), [], 'own', ['own no_price', 'paid budget', 'own ok']],
    ['answers in its order, if the owner says so', limited({ asksUnpriced: true }), [], 'own', ['own ok']],
  ])('%s', async (_name, limits, answers, served, trail) => {
    const { answer, spent } = subject([unpriced('own', wholeReply('own')), priced('paid', answers)], limits)
    const call = callOf()
    expect((await answer(requestOf(question), call)).provider).toBe(served)
    expect(trailOf(call)).toEqual(trail)
    await spent()
  })

  test('resumes a stream that was cut, when no other can', async () => {
    const { answer } = subject([
      priced('paid', [fakeStream(role(), text('abcd'), cutFailure())]),
      unpriced('own', fakeStream(role(), text('abcd'), text('ef'), finish())),
    ])
    const { reply } = await answer(requestOf({ ...question, stream: true }), callOf())
    const { parts: read, error } = reply.kind === 'stream' ? await readAll(reply) : { parts: [] }
    expect([partsText(read), error]).toEqual(['abcdef', undefined])
  })

  test.each([
    ['alone', []],
    ['beside one over budget', [priced('paid', [])]],
  ])('is not asked under a hard limit: %s', async (_name, others) => {
    const usd = { nanoUsd: 0, per: 'total', isHard: true } as const
    const own = unpriced('own', wholeReply('own'))
    const { answer } = subject([own, ...others], policy(0, { usd }))
    expect(await rejection(answer(requestOf(question), callOf()))).toMatchObject({ status: others.length ? 429 : 403 })
    expect(own.requests).toEqual([])
  })
})

describe('a hard limit of money', () => {
  const hard = (usd: number) => {
    const nanoUsd = Math.round(usd * 1e9)
    return policy(usd, { usd: { nanoUsd, per: 'total', isHard: true } })
  }
  /** USD that pay for the prompt of a request, and a quarter more than these tokens of an answer. */
  const costing = (request: ReturnType<typeof requestOf>, tokens: number) =>
    (Math.ceil(request.body.length / 1.4) * 1_000 + tokens * 1.25 * 10_000) / 1e9
  const limitIn = (request: { readonly body: Uint8Array } | undefined) => {
    const { max_tokens, max_completion_tokens } = partJson({ data: request?.body ?? new Uint8Array() })
    return max_tokens ?? max_completion_tokens
  }

  async function limitOf(request: ReturnType<typeof requestOf>, usd: number) {
    const provider = priced('a', [wholeReply('hello')])
    const call = callOf()
    const { answer, spent } = subject([provider], hard(usd))
    const failure = await answer(request, call).then(
      () => undefined,
      (error: { readonly status?: number }) => error.status,
    )
    await spent()
    return failure ?? [limitIn(provider.requests[0]), call.trail[0]?.answerTokensMax]
  }

  test('lowers the tokens of an answer to what is left, and refuses what is left for 15 or fewer', async () => {
    const stated = requestOf({ max_tokens: 1_000 })
    expect(await limitOf(stated, 1)).toEqual([1_000, undefined])
    expect(await limitOf(stated, costing(stated, 300))).toEqual([300, 300])
    expect(await limitOf(stated, costing(stated, 15))).toBe(429)
    const unstated = requestOf()
    expect(await limitOf(unstated, 1)).toEqual([16_384, 16_384])
    expect(await limitOf(unstated, costing(unstated, 300))).toEqual([300, 300])
    // Each of two answers gets a half.
    const two = requestOf({ n: 2, max_completion_tokens: 1_000 })
    expect(await limitOf(two, costing(two, 300))).toEqual([150, 150])
  })

  test('costs nothing, and is free again, when the request cannot be limited', async () => {
    const request = requestOf({ max_tokens: 1_000 })
    const fault = () => {
      throw new Error('a fault')
    }
    const body = Object.assign(request.body.slice(), { slice: fault })
    const provider = priced('a', [wholeReply('hello')])
    const { answer, spent } = subject([provider], hard(costing(request, 300)))
    const booking = new Booking()
    expect(await rejection(answer({ ...request, body }, { ...callOf(), booking }))).toMatchObject({
      message: 'a fault',
    })
    expect([provider.requests.length, await spent()]).toEqual([0, 0])
  })

  test('ends a stream whose provider does not obey, and is not exceeded', async () => {
    const request = requestOf({ max_tokens: 1_000, stream: true })
    const endless = Array.from({ length: 5_000 }, () => text('abcd'))
    const call = callOf()
    const usd = costing(request, 100)
    const { answer, spent } = subject([priced('a', [fakeStream(role(), ...endless)])], hard(usd))
    const { reply } = await answer(request, call)
    const read = reply.kind === 'stream' ? await readAll(reply) : { parts: [] }
    expect(read.parts.at(-1)?.finishReason ?? read.parts.at(-2)?.finishReason).toBe('length')
    expect(partsText(read.parts).length / 4).toBeLessThanOrEqual(126)
    expect(await spent()).toBeLessThanOrEqual(usd * 1e9)
    expect(call.trail).toMatchObject([{ answerTokensMax: 100, isEndedAtLimit: true }])
  })
})

describe('complaint: slots leak on time-outs and cancelled streams', () => {
  test('is not so of money: 256 attempts that end in any way leave nothing held', async () => {
    const ends: readonly (() => Reply | Error)[] = [
      () => wholeReply('hello'),
      () => failed('timeout', { ambiguous: true }),
      () => failed('dns'),
      () => fakeStream(text('a'), cutFailure()),
      () => fakeStream(text('a'), finish(), usage()),
      () => silentStream(),
    ]
    const { answer, authority } = subject([
      priced('a', [
        async () => {
          const end = ends[Math.floor(Math.random() * ends.length)]?.() ?? wholeReply('')
          if (end instanceof Error) throw end
          return end
        },
      ]),
    ])
    await Promise.all(
      Array.from({ length: 256 }, async (_, caller) => {
        const { reply } = await answer(requestOf({ ...question, stream: true }), callOf()).catch(() => ({
          reply: undefined,
        }))
        if (reply?.kind !== 'stream') return
        if (caller % 2 === 0) reply.cancel()
        const read = readAll(reply)
        await Bun.sleep(0)
        reply.cancel()
        await read
      }),
    )
    expect(authority.size).toBe(0)
  })
})
