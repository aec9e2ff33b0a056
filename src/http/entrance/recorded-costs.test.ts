import { describe, expect, test } from 'bun:test'
import { providerLayers } from '../../app/provider-layers.ts'
import { chat } from '../../formats/chat/format.ts'
import { deltaPart } from '../../formats/chat/testing.ts'
import { formats } from '../../formats/format-list.ts'
import type { Format } from '../../formats/format.ts'
import { fixedModels, type AnswerService, type Provider } from '../../gateway/provider.ts'
import {
  cutFailure,
  fakeStream,
  gatewayTo,
  headFrom,
  offered,
  parts,
  wholeReply,
  writtenStream,
} from '../../gateway/testing.ts'
import { chargesOf } from '../../ledger/use/charges.ts'
import { LocalBudgets } from '../../limits/budgets/budget-authority.ts'
import { MoneyLimits } from '../../limits/budgets/money-limits.ts'
import { OpenHolds } from '../../limits/budgets/open-holds.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { costFunction } from '../../prices/cost.ts'
import { usdText } from '../../prices/money.ts'
import { LearnedSizes } from '../../prices/token-sizes.ts'
import { unlimitedAnswerBudget } from '../../service/answer-budget.ts'
import { healthBook } from '../../service/health/health.ts'
import { sharedTimers } from '../../service/shared-timers.ts'
import { failureOf } from '../../service/testing.ts'
import { contextOf, rejectionOnAbort } from '../testing.ts'
import { openRequests } from './admission.ts'
import { apiRoute } from './api-call.ts'
import { bodyBudget } from './body-budget.ts'

const { role, text, finish, usage } = parts
const tokenSizes = new LearnedSizes()
const timeouts = { connectMs: 1_000, attemptMs: 1_000, firstTokenMs: 1_000, idleMs: 1_000 }

/** A provider that answers like this, within all layers. */
function provider(id: string, exchange: AnswerService, price: number, continues: boolean): Provider {
  const answer = providerLayers(exchange, {
    config: { id, baseUrl: '', retries: 0, timeouts },
    model: 'm',
    isSilent: false,
    limit: undefined,
    health: healthBook(() => performance.now()).of(id, 'm'),
    answerBudget: unlimitedAnswerBudget,
    timers: sharedTimers(),
    now: () => performance.now(),
  })
  const candidate = {
    name: id,
    model: 'm',
    answer,
    costOf: costFunction({ price: { input: price, output: 10 * price }, source: 'config' }, false),
    speaks: () => true,
    continues,
    unavailable: () => undefined,
  }
  return { id, models: fixedModels([offered('m')]), candidate: () => candidate }
}

interface ServiceOptions {
  readonly hasBudget?: boolean
  readonly continues?: boolean
  readonly keepsContent?: boolean
  readonly format?: Format
}

/** A service, with a budget or without, and providers of different prices that answer like this. */
function service(
  exchanges: readonly AnswerService[],
  { hasBudget = true, continues = false, keepsContent = false, format = chat }: ServiceOptions = {},
) {
  const authority = new LocalBudgets({ spending: { sumSince: async () => 0 }, now: Date.now })
  const holds = new OpenHolds()
  const budgets = new MoneyLimits({ authority, now: Date.now, tokenSizes, openHolds: holds })
  const usd = { nanoUsd: 1e12, per: 'total', isHard: false } as const
  const everyone = { place: 'limits[0]', subject: { kind: 'everyone' }, usd } as const
  budgets.replace({ timeZone: 'UTC', limits: [everyone], teams: new Map() })
  const providers = exchanges.map((exchange, index) => provider('abc'[index] ?? '', exchange, index + 1, continues))
  const asked = gatewayTo(providers, { budgets: () => (hasBudget ? budgets : undefined) })
  const recorded = Promise.withResolvers<RequestRecord>()
  const route = apiRoute(format, {
    gateway: () => asked,
    bodyLimits: () => ({ bytesMax: 65_536, totalMs: 1_000, idleMs: 1_000 }),
    deadlineMs: () => 5_000,
    requestsMax: () => 10,
    hasDescriptors: () => true,
    lacksDescriptors: () => false,
    bodyBudget: bodyBudget(() => 65_536),
    answerBudget: unlimitedAnswerBudget,
    uploads: { endSlow: () => false },
    timers: { heartbeatMs: 5, stallMs: 1_000 },
    openRequests: openRequests(),
    tokenSizes,
    streamsOpen: { add: () => undefined },
    ...(keepsContent ? { content: () => ({ termsOf: () => ({ keepMs: 1, redact: [] }), keep: () => undefined }) } : {}),
    record: recorded.resolve,
  })
  return {
    async post(signal: AbortSignal, more: object = {}): Promise<Response> {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more })
      const init = { method: 'POST', body, signal, headers: { 'x-svc-timeout-ms': '60' } }
      return route.handle(contextOf(new Request(`http://x${format.path}`, init)))
    },
    /** The costs that the budget and the record booked. */
    async booked() {
      const record = await recorded.promise
      await Bun.sleep(1)
      expect([authority.size, holds.count]).toEqual([0, 0])
      const charges = chargesOf(record)
      return {
        charges,
        inRecord: charges.reduce((sum, { counters }) => sum + (counters.cost ?? 0), 0),
        inBudget: authority.accounts.known('["everyone","total",null,""] "" 0')?.spent,
      }
    },
  }
}

/** @param leave the client leaves */
type Exchange = (leave: () => void) => AnswerService
const cut: Exchange = () => async () => fakeStream(role(), text('Hello'), cutFailure())
const hanging: Exchange = () => (_ask, call) => rejectionOnAbort(call)
const leaving: Exchange = (leave) => (_ask, call) => {
  setTimeout(leave, 1)
  return rejectionOnAbort(call)
}
const another: Exchange = () => async () => fakeStream(text('Another', 'b'), finish('stop', 'b'), usage())
const anotherWhole: Exchange = () => async () => wholeReply('Another')
const uncounted: Exchange = () => async () => ({ ...wholeReply('Another'), usage: undefined })
const same: Exchange = () => async () => fakeStream(text('Hello', 'c'), text(' you', 'c'), finish('stop', 'c'), usage())
const sameWhole: Exchange = () => async () => wholeReply('Hello you')
const emptyWhole: Exchange = () => async () => wholeReply('')
const empty: Exchange = () => async () => fakeStream(role(), finish(), usage())
const spoiled: Exchange = () => async () => {
  throw failureOf('malformed', { status: 200 })
}
const refused: Exchange = () => async () => {
  throw failureOf('rate_limit', { status: 429 })
}
const fault: Exchange = () => async () => {
  throw new Error('a fault of this service')
}
const lost: Exchange = () => async () => {
  throw failureOf('timeout', { ambiguous: true })
}
const silent: Exchange = (leave) => async () => {
  setTimeout(leave, 1)
  return writtenStream([text('Hel', 'b')], { hangs: true })
}
const endless: Exchange = () => async () => writtenStream([text('Hel', 'b')], { hangs: true })

/** As a provider of another format, for callers that did not ask for usage: no event has it. */
const hidden: Exchange = () => async () => {
  const counted = { ...finish('stop', 'c'), usage: usage().usage }
  return fakeStream(text('Hello', 'c'), text(' you', 'c'), counted)
}
/** As of providers whose every event has the usage so far. */
const countedCut: Exchange = () => async () => fakeStream(role(), text('Hello'), usage(), cutFailure())
const sameUncounted: Exchange = () => async () => fakeStream(text('Hello', 'b'), text(' you', 'b'), finish('stop', 'b'))

/** It goes on with a call, whose event is written anew with a shorter id. */
const calling: Exchange = () => async () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } }
  const head = { ...headFrom('b'), id: 'b'.repeat(1_000) }
  return fakeStream(text('Hello', 'b'), deltaPart(head, { tool_calls: [call] }), finish('tool_calls', 'b'))
}
/** It goes on with an event that cannot be rewritten. */
const garbled: Exchange = () => async () =>
  fakeStream({ ...text('Hello you', 'b'), data: new TextEncoder().encode('{]') })

/** Two calls; the first provider is lost in the second one. */
const callPart = (index: number, text: string, provider: string) => {
  const call = { index, id: `call_${index}`, type: 'function', function: { name: 'find', arguments: text } }
  return deltaPart(headFrom(provider), { tool_calls: [call] })
}
const cutInCall: Exchange = () => async () =>
  fakeStream(role(), text('Hello'), callPart(0, '{}', 'a'), callPart(1, '{"a', 'a'), cutFailure())
const sameCalls: Exchange = () => async () =>
  fakeStream(text('Hello', 'c'), callPart(0, '{}', 'c'), callPart(1, '{}', 'c'), finish('tool_calls', 'c'), usage())
const otherCalls: Exchange = () => async () =>
  fakeStream(
    text('Hello', 'b'),
    callPart(0, '{"b":1}', 'b'),
    callPart(1, '{}', 'b'),
    finish('tool_calls', 'b'),
    usage(),
  )
const stream = { stream: true }
const agent = { stream: true, tools: [{ type: 'function', function: { name: 'find' } }] }
const plain = {}

describe('the record of a request has the costs that its budgets booked', () => {
  test.each<readonly [string, object, readonly Exchange[], string]>([
    ['of an answer', plain, [sameWhole], 'a'],
    ['of an answer that is not counted', plain, [uncounted], 'a'],
    ['of an empty answer, and the next', plain, [emptyWhole, sameWhole], 'ab'],
    ['of an empty stream for a plain request, and the next', plain, [empty, sameWhole], 'ab'],
    ['of a stream for a plain request', plain, [same], 'a'],
    ['of a cut stream for a plain request', plain, [cut, same], 'ab'],
    ['of an answer after attempts that may be billed, and one that is not', plain, [spoiled, lost, sameWhole], 'abc'],
    ['of an answer after a refusal', plain, [refused, sameWhole], 'b'],
    ['of an empty answer after a refusal', plain, [emptyWhole, refused], 'a'],
    ['of two empty answers', plain, [emptyWhole, emptyWhole], 'ab'],
    ['of a fault', plain, [fault], 'a'],
    ['when the client leaves', plain, [lost, leaving], 'ab'],
    ['when the time is up', plain, [lost, hanging], 'ab'],
    ['of a stream', stream, [same], 'a'],
    ['of an answer for a stream', stream, [sameWhole], 'a'],
    ['of an empty stream, and the next', stream, [empty, emptyWhole, same], 'abc'],
    ['of a stream that cannot be resumed', stream, [cut], 'a'],
    ['of a stream that another provider resumes', stream, [cut, same], 'ab'],
    ['of a stream that an answer resumes', stream, [cut, sameWhole], 'ab'],
    ['of a stream that began another answer', stream, [cut, another, same], 'abc'],
    ['of another answer', stream, [cut, anotherWhole, same], 'abc'],
    ['of another answer that is not counted', stream, [cut, uncounted, same], 'abc'],
    ['of an empty answer that was to resume', stream, [cut, emptyWhole, same], 'abc'],
    ['of an empty stream that was to resume, from the last provider', stream, [cut, empty], 'ab'],
    ['of a stream that resumes, whose usage is hidden', stream, [cut, hidden], 'ab'],
    ['of a counted stream that another provider resumes uncounted', stream, [countedCut, sameUncounted], 'ab'],
    ['of a counted stream that another provider resumes, and is cut', stream, [countedCut, endless], 'ab'],
    ['of a stream that resumes with a call', stream, [cut, calling], 'ab'],
    ['of a stream that is cut in a call, and resumed', agent, [cutInCall, sameCalls], 'ab'],
    ['of a stream that is cut in a call, with others', agent, [cutInCall, otherCalls, sameCalls], 'abc'],
    ['of a stream that is cut in a call, without another', agent, [cutInCall, otherCalls], 'ab'],
    ['of a stream that cannot be rewritten as the rest', stream, [cut, garbled, same], 'ab'],
    ['of a lost attempt to resume', stream, [cut, lost, spoiled], 'abc'],
    ['of a fault in a resume', stream, [cut, fault], 'ab'],
    ['when the client leaves before any answer', stream, [leaving], 'a'],
    ['when the client leaves a stream', stream, [silent], 'a'],
    ['when the client leaves while a provider is asked to resume', stream, [cut, leaving], 'ab'],
    ['when the client leaves while a provider repeats what it has', stream, [cut, silent], 'ab'],
    ['when the client leaves after another answer was begun', stream, [cut, another, leaving], 'abc'],
    ['when the time is up before any answer', stream, [hanging], 'a'],
    ['when the time of a stream is up', stream, [endless], 'a'],
    ['when the time is up while a provider is asked to resume', stream, [cut, hanging], 'ab'],
    ['when the time is up while a provider repeats what the client has', stream, [cut, another, endless], 'abc'],
  ])('%s', async (_, request, exchanges, paid) => {
    const client = new AbortController()
    const { post, booked } = service(exchanges.map((each) => each(() => client.abort())))
    const response = await post(client.signal, request)
    // The response of a client that has left never ends.
    void response.text().catch(() => undefined)
    const { charges, inRecord, inBudget } = await booked()
    const costly = charges.filter(({ counters }) => counters.cost !== undefined)
    expect(
      costly
        .map(({ provider: name }) => name)
        .toSorted()
        .join(''),
    ).toBe(paid)
    expect(inRecord).toBe(inBudget ?? -1)
  })
})

test.each([
  ['counts it', finish('stop', 'b'), usage()],
  ['does not count it', finish('stop', 'b'), []],
  ['is cut', cutFailure(), []],
] as const)('and of a stream that another provider continues, and %s', async (_, end, counts) => {
  const continuing: Exchange = () => async () => fakeStream(text(' you', 'b'), counts, end)
  const { post, booked } = service(
    [cut, continuing].map((each) => each(() => undefined)),
    { continues: true },
  )
  await (await post(new AbortController().signal, stream)).text()
  const { inRecord, inBudget } = await booked()
  expect(inRecord).toBe(inBudget ?? -1)
})

test.each([
  ['that is complete', false, [text('sound')]],
  ['that is cut', false, [text('sound'), cutFailure()]],
  ['that its client leaves', true, [text('sound')]],
] as const)('and of sound, which nothing counts, %s', async (_, hangs, steps) => {
  const client = new AbortController()
  const sound: AnswerService = async () => {
    if (hangs) setTimeout(() => client.abort(), 1)
    return { ...writtenStream(steps, { hangs }), contentType: 'audio/mpeg' }
  }
  const { post, booked } = service([sound], { format: formats.speech })
  const response = await post(client.signal, { input: 'Say it', voice: 'alloy' })
  void response.bytes().catch(() => undefined)
  const { inRecord, inBudget } = await booked()
  expect(inRecord).toBe(inBudget ?? -1)
  expect(inRecord).toBeGreaterThan(0)
})

test('and of a counted stream that another provider resumes uncounted, while content is kept', async () => {
  const { post, booked } = service(
    [countedCut, sameUncounted].map((each) => each(() => undefined)),
    { keepsContent: true },
  )
  await (await post(new AbortController().signal, stream)).text()
  const { inRecord, inBudget } = await booked()
  expect(inRecord).toBe(inBudget ?? -1)
})

test('without a budget, streams that were cut or given up count with their estimated cost', async () => {
  const { post, booked } = service(
    [cut, another, same].map((each) => each(() => undefined)),
    { hasBudget: false },
  )
  await (await post(new AbortController().signal, stream)).text()
  expect((await booked()).charges).toMatchObject([
    { provider: 'c', counters: { requests: 1, cost: 3 * (3_000 + 4 * 10_000) } },
    { provider: 'a', counters: { attempts: 1, estimated: 1, input: 8, output: 2, cost_estimated: 28_000 } },
    { provider: 'b', counters: { attempts: 1, estimated: 1, input: 8 } },
  ])
})

test('without a budget, a call that waited counts, though a cut dropped it', async () => {
  const { post, booked } = service(
    [cutInCall, otherCalls].map((each) => each(() => undefined)),
    { hasBudget: false },
  )
  await (await post(new AbortController().signal, agent)).text()
  const outputs = (await booked()).charges.map(({ provider: name, counters }) => [name, counters.output])
  // What was sent has some 23.
  expect(outputs).toEqual([
    ['a', expect.any(Number)],
    ['b', expect.any(Number)],
  ])
  expect(Number(outputs[0]?.[1])).toBeGreaterThan(30)
})

test('a whole answer says its cost, counted or estimated, and a stream does not', async () => {
  const costs: unknown[] = []
  for (const [exchange, more] of [
    [sameWhole, plain],
    [uncounted, plain],
    [same, stream],
  ] as const) {
    const { post, booked } = service([exchange(() => undefined)])
    const response = await post(new AbortController().signal, more)
    await response.text()
    const { charges } = await booked()
    costs.push([response.headers.get('x-svc-cost'), charges.map(({ counters }) => usdText(counters.cost ?? 0))])
  }
  expect(costs).toEqual([
    ['0.000043', ['0.000043']],
    ['0.000018', ['0.000018']],
    [null, ['0.000043']],
  ])
})
