import { describe, expect, test } from 'bun:test'
import type { Ask } from '../formats/ask.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import type { Reply } from '../formats/reply.ts'
import { answerBudget, unlimitedAnswerBudget, type AnswerBudget } from '../service/answer-budget.ts'
import { deadline } from '../service/layers/deadline.ts'
import { stack } from '../service/service.ts'
import { sharedTimers } from '../service/shared-timers.ts'
import { callOf, failureOf, rejection } from '../service/testing.ts'
import { conversion } from './conversion.ts'
import type { AnswerService } from './provider.ts'
import {
  parts,
  cutFailure,
  fakeStream,
  partJson,
  readAll,
  requestOf,
  silentStream,
  partsText,
  wholeReply,
  type FakeStream,
  type StreamStep,
} from './testing.ts'

const plain = requestOf()
const streaming = requestOf({ stream: true })
const streamingWithUsage = requestOf({ stream: true, stream_options: { include_usage: true } })

/** A service whose answers are converted. */
function converting(inner: AnswerService, budget: AnswerBudget = unlimitedAnswerBudget): AnswerService {
  return conversion(budget)(inner)
}

function convert(reply: Reply, request: ChatRequest, budget?: AnswerBudget): Promise<Reply> {
  return converting(async () => reply, budget)(request, callOf())
}

/** A stream that says a little, then nothing; cancelled, it ends, as streams do. */
function begun(): FakeStream {
  const rest = silentStream()
  let isFirst = true
  return {
    ...rest,
    read() {
      if (!isFirst) return rest.read()
      isFirst = false
      return Promise.resolve([parts.text('Hel')])
    },
    get reads() {
      return rest.reads
    },
    get isCancelled() {
      return rest.isCancelled
    },
  }
}

describe('conversion', () => {
  test('passes the stream of a stream request unchanged', async () => {
    const stream = fakeStream(parts.text('Hi'))
    expect(await convert(stream, streaming)).toBe(stream)
  })

  test('passes the whole answer of a plain request unchanged', async () => {
    const whole = wholeReply('Hi')
    expect(await convert(whole, plain)).toBe(whole)
  })

  test('makes a stream of a whole answer (failover.md row 30)', async () => {
    const reply = await convert(wholeReply('Hello'), streaming)
    if (reply.kind !== 'stream') throw new Error('not a stream')
    const { parts: read, error } = await readAll(reply)
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello')
    expect(read.at(-1)?.finishReason).toBe('stop')
    expect(read.every((part) => part.usage === undefined)).toBe(true)
  })

  test('gives usage in the last part when it was asked for', async () => {
    const reply = await convert(wholeReply('Hello'), streamingWithUsage)
    if (reply.kind !== 'stream') throw new Error('not a stream')
    const { parts: read } = await readAll(reply)
    expect(read.at(-1)?.usage).toEqual({ promptTokens: 3, completionTokens: 4, totalTokens: 7 })
  })

  test('makes a whole answer of a stream (failover.md row 31)', async () => {
    const stream = fakeStream(
      parts.role(),
      [parts.text('Hel'), parts.text('lo')],
      parts.finish('length'),
      parts.usage(),
    )
    const reply = await convert(stream, plain)
    if (reply.kind !== 'whole') throw new Error('not whole')
    expect(partJson({ data: reply.body })).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'length' }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    })
    expect(reply.usage).toEqual({ promptTokens: 3, completionTokens: 4, totalTokens: 7 })
    expect(reply.isEmpty).toBe(false)
  })

  const empties: readonly (readonly [string, readonly StreamStep[], boolean])[] = [
    ['a stream that says nothing and stops', [parts.role(), parts.finish('stop')], true],
    ['a stream that says nothing for its length', [parts.role(), parts.finish('length')], false],
    ['a stream of a tool call', [parts.toolCall(), parts.finish('stop')], false],
  ]
  test.each(empties)('knows whether %s is empty', async (_name, steps, isEmpty) => {
    expect((await convert(fakeStream(...steps), plain)).isEmpty).toBe(isEmpty)
  })

  test('never makes a whole answer of a stream that was cut', async () => {
    const cut = cutFailure()
    const stream = fakeStream(parts.text('Hel'), cut)
    expect(await rejection(convert(stream, plain))).toBe(cut)
    expect(stream.isCancelled).toBe(true)
  })

  test('never makes a whole answer of a stream whose attempt ran out of time', async () => {
    const stream = begun()
    const service = stack<Ask, Reply>(
      async () => stream,
      deadline({ msOf: () => 10, idleMs: 1_000, timers: sharedTimers() }),
      conversion(unlimitedAnswerBudget),
    )
    expect(await rejection(service(plain, callOf()))).toMatchObject({ failure: 'timeout' })
    expect(stream.isCancelled).toBe(true)
  })

  test('never makes a whole answer of a stream whose caller has left', async () => {
    const controller = new AbortController()
    const rejected = rejection(converting(async () => begun())(plain, callOf(controller.signal)))
    await Promise.resolve()
    const gone = new Error('gone')
    controller.abort(gone)
    expect(await rejected).toBe(gone)
  })

  test('takes a stream without any choice for malformed', async () => {
    expect(await rejection(convert(fakeStream(parts.usage()), plain))).toMatchObject({
      failure: 'malformed',
      status: 200,
    })
  })

  test('gathers at most 32 MiB (failover.md row 29)', async () => {
    const large = {
      ...parts.text('x'),
      data: new TextEncoder().encode(`${' '.repeat(17 * 1024 * 1024)}{"choices":[]}`),
    }
    const stream = fakeStream(parts.text('x'), large, large, parts.finish())
    expect(await rejection(convert(stream, plain))).toMatchObject({ failure: 'too_large', status: 200 })
    expect(stream.isCancelled).toBe(true)
    expect(stream.reads).toBe(3)
  })

  test('gathers within the memory budget, and releases its reservation (row 42)', async () => {
    const large = {
      ...parts.text('x'),
      data: new TextEncoder().encode(`${' '.repeat(2 * 1024 * 1024)}{"choices":[]}`),
    }
    const budget = answerBudget(() => 1024 * 1024)
    const other = budget.reservation()
    other.reserve(2 * 1024 * 1024)
    const stream = fakeStream(parts.text('x'), large, parts.finish())
    expect(await rejection(convert(stream, plain, budget))).toMatchObject({ failure: 'resources', isFinal: true })
    expect([stream.isCancelled, stream.reads]).toEqual([true, 2])
    other.release()
    for (let count = 0; count < 3; count += 1)
      expect((await convert(fakeStream(parts.text('x'), large, parts.finish()), plain, budget)).kind).toBe('whole')
  })

  test('passes failures on', async () => {
    const failure = failureOf('rate_limit')
    expect(
      await rejection(
        converting(async () => {
          throw failure
        })(plain, callOf()),
      ),
    ).toBe(failure)
  })

  test('of a whole answer to a stream ends on cancel', async () => {
    const reply = await convert(wholeReply('Hello'), streaming)
    if (reply.kind !== 'stream') throw new Error('not a stream')
    reply.cancel()
    expect(await reply.read()).toBeUndefined()
  })
})

test('an answer that cannot become a stream is a failure of its provider', async () => {
  const choices = Array.from({ length: 129 }, (_, index) => ({
    index,
    message: { role: 'assistant', content: 'a' },
    finish_reason: 'stop',
  }))
  const body = new TextEncoder().encode(JSON.stringify({ choices }))
  const ask = converting(async () => ({ kind: 'whole', body, usage: undefined, isEmpty: false }))
  expect(await rejection(ask(streaming, callOf()))).toMatchObject({ name: 'UpstreamFailure', failure: 'malformed' })
})
