import { describe, expect, jest, test } from 'bun:test'
import fc from 'fast-check'
import type { Reply } from '../formats/reply.ts'
import { anyTarget, LearnedProfile } from '../profiles/resolve-profile.ts'
import { chatRequest, endpointAt, jsonOf } from '../protocols/fixtures/load.ts'
import { openai } from '../protocols/openai.ts'
import type { Protocol } from '../protocols/protocol.ts'
import {
  chunkJson,
  completionJson,
  cutAt,
  event,
  fakeBody,
  fakeTransport,
  framed,
  lengthPrefixed,
  transportError,
  type BodyStep,
  type FakeAnswer,
  type FakeTransport,
} from '../protocols/testing.ts'
import { answerBudget, unlimitedAnswerBudget, type AnswerBudget } from '../service/answer-budget.ts'
import { UpstreamFailure, type FailureClass } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import { upstreamExchange } from './exchange.ts'
import { upstreamAt } from './upstream.ts'

const plain = chatRequest()
const streaming = chatRequest({ stream: true })
const json = { 'content-type': 'application/json' }
const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' }
const stream = event(chunkJson({ content: 'Hello' })) + event(chunkJson({}, 'stop')) + event('[DONE]')

function encoded(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

function callOf(signal: AbortSignal = new AbortController().signal): Call {
  return { signal, trail: [] }
}

const connectMs = 5_000

function exchangeOver(
  transport: FakeTransport,
  budget: AnswerBudget = unlimitedAnswerBudget,
  protocol: Protocol = openai,
) {
  return upstreamExchange({
    upstream: upstreamAt({ transport, protocol, endpoint: endpointAt('https://upstream.example/v1'), connectMs }),
    model: 'theirs',
    profile: new LearnedProfile(anyTarget),
    idleMs: 60_000,
    answerBudget: budget,
  })
}

function ask(answer: FakeAnswer | Error, request = plain): Promise<Reply> {
  return exchangeOver(fakeTransport(answer))(request, callOf())
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  )
  if (error instanceof UpstreamFailure) return error
  throw error
}

/** The text of a reply, streamed or whole. */
async function textOf(reply: Reply): Promise<string> {
  if (reply.kind === 'whole') {
    const { choices } = jsonOf(reply.body)
    return Array.isArray(choices) ? String(choices[0].message.content) : ''
  }
  let text = ''
  for (let parts = await reply.read(); parts !== undefined; parts = await reply.read())
    for (const part of parts) text += part.text
  return text
}

describe('an exchange', () => {
  test("sends the request to the upstream's address, with its name for the model", async () => {
    const transport = fakeTransport({ headers: json, body: [JSON.stringify(completionJson())] })
    await exchangeOver(transport)(plain, callOf())
    const [sent] = transport.requests
    expect(sent).toMatchObject({
      origin: { secure: true, hostname: 'upstream.example', port: 443 },
      method: 'POST',
      path: '/v1/chat/completions',
      connectMs: 5_000,
      bodyBytesMax: 32 * 1024 * 1024,
    })
    expect(String(sent?.headers)).toBe(
      'content-type: application/json\r\naccept: application/json, text/event-stream\r\n' +
        'authorization: Bearer key-for-tests\r\n',
    )
    expect(jsonOf(Buffer.concat([...(sent?.body ?? [])]))).toEqual({
      model: 'theirs',
      messages: [{ role: 'user', content: 'Hi' }],
    })
  })

  test('sends one request', async () => {
    const transport = fakeTransport({ status: 500 })
    await failureOf(exchangeOver(transport)(plain, callOf()))
    expect(transport.requests).toHaveLength(1)
  })

  test('limits the events of a stream, not the whole', async () => {
    const transport = fakeTransport({ headers: eventStream, body: [stream] })
    await exchangeOver(transport)(streaming, callOf())
    expect(transport.requests[0]?.bodyBytesMax).toBe(Infinity)
  })
})

describe('an answer to', () => {
  const answers: readonly (readonly [string, typeof plain, FakeAnswer, 'whole' | 'stream'])[] = [
    ['a plain request that is JSON', plain, { headers: json, body: [JSON.stringify(completionJson())] }, 'whole'],
    ['a plain request that is JSON without a type', plain, { body: [JSON.stringify(completionJson())] }, 'whole'],
    [
      'a plain request that is JSON in pieces',
      plain,
      { headers: json, body: cutAt(new TextEncoder().encode(JSON.stringify(completionJson())), [1, 9, 40]) },
      'whole',
    ],
    [
      'a plain request that is a stream (failover.md row 31)',
      plain,
      { headers: eventStream, body: [stream] },
      'stream',
    ],
    ['a plain request that is a stream without its type', plain, { headers: json, body: [stream] }, 'stream'],
    [
      'a plain request that is JSON though it says it is a stream',
      plain,
      { headers: eventStream, body: [JSON.stringify(completionJson())] },
      'whole',
    ],
    ['a stream request that is a stream', streaming, { headers: eventStream, body: [stream] }, 'stream'],
    [
      'a stream request that is a stream, its type in capitals',
      streaming,
      { headers: { 'content-type': 'Text/Event-Stream' }, body: [stream] },
      'stream',
    ],
    [
      'a stream request that is a stream without its type',
      streaming,
      { headers: { 'content-type': 'text/plain' }, body: [`: hello\n\n${stream}`] },
      'stream',
    ],
    [
      'a stream request that is a stream without a type and with blank lines first',
      streaming,
      { body: [`\n\n${stream}`] },
      'stream',
    ],
    [
      'a stream request that is JSON (row 30)',
      streaming,
      { headers: json, body: [JSON.stringify(completionJson())] },
      'whole',
    ],
    [
      'a stream request that is JSON though it says it is a stream',
      streaming,
      { headers: eventStream, body: [JSON.stringify(completionJson())] },
      'whole',
    ],
    [
      'a stream request that is a stream without its type whose first byte comes alone',
      streaming,
      { body: ['d', stream.slice(1)] },
      'stream',
    ],
    [
      'a stream request that is a stream without its type whose first three bytes come alone',
      streaming,
      { body: [stream.slice(0, 3), stream.slice(3)] },
      'stream',
    ],
    [
      'a stream request that is a stream without its type whose first byte is a line feed',
      streaming,
      { body: ['\n', stream] },
      'stream',
    ],
    [
      'a stream request that is JSON though it says it is a stream, after a blank that comes alone',
      streaming,
      { headers: eventStream, body: ['\n', JSON.stringify(completionJson())] },
      'whole',
    ],
    [
      'a stream request that is JSON in pieces',
      streaming,
      { headers: json, body: cutAt(new TextEncoder().encode(JSON.stringify(completionJson(), null, 2)), [1, 9, 40]) },
      'whole',
    ],
  ]
  test.each(answers)('%s is read by its own kind', async (_name, request, answer, kind) => {
    const reply = await ask(answer, request)
    expect(reply.kind).toBe(kind)
    expect(await textOf(reply)).toBe('Hello')
  })
})

describe('an answer fails', () => {
  const html = '<html><head><title>Welcome to nginx!</title></head></html>'
  const both: readonly (readonly [string, FakeAnswer | Error, FailureClass])[] = [
    ['that is empty (failover.md row 25)', { headers: json, body: [] }, 'empty'],
    ['that is 204 (row 25)', { status: 204 }, 'empty'],
    ['that is HTML (row 24)', { headers: { 'content-type': 'text/html' }, body: [html] }, 'malformed'],
    ['that is truncated (row 23)', { headers: json, body: ['{"id":', transportError('short_body')] }, 'malformed'],
    ['that is truncated JSON (row 23)', { headers: json, body: ['{"id":"x","choices":[{"mess'] }, 'malformed'],
    ['that has no choices (row 26)', { headers: json, body: ['{"id":"x"}'] }, 'malformed'],
    ['that is an error (row 22)', { headers: json, body: ['{"error":{"message":"slow","code":429}}'] }, 'rate_limit'],
    [
      'that is an error though it says it is a stream (row 22)',
      { headers: eventStream, body: ['{"error":{"message":"slow","code":429}}'] },
      'rate_limit',
    ],
    ['that is too large (row 29)', { headers: json, body: ['{"id":', transportError('too_large')] }, 'too_large'],
    ['that inflates too much or badly (row 29)', { headers: json, body: [transportError('malformed')] }, 'malformed'],
    ['that is a redirect (row 9)', { status: 302, headers: { location: 'https://elsewhere.example' } }, 'redirect'],
    ['that refuses the connection (row 2)', transportError('connect'), 'connect'],
    ['with a failed DNS lookup (row 1)', transportError('dns'), 'dns'],
    ['that is reset (row 4)', transportError('reset'), 'reset'],
    ['for lack of our own resources (row 42)', transportError('resources'), 'resources'],
  ]
  test.each(both)('%s, to either kind of request', async (_name, answer, expected) => {
    expect((await failureOf(ask(answer, plain))).failure).toBe(expected)
    expect((await failureOf(ask(answer, streaming))).failure).toBe(expected)
  })

  test('above 32 MiB also for a stream request, and is cancelled (row 29)', async () => {
    const piece = new Uint8Array(8 * 1024 * 1024).fill(0x20)
    const transport = fakeTransport({ headers: json, body: ['{', piece, piece, piece, piece, piece] })
    expect((await failureOf(exchangeOver(transport)(streaming, callOf()))).failure).toBe('too_large')
    expect(transport.bodies[0]?.isCancelled).toBe(true)
  })

  test.each([
    ['to a plain request', plain],
    ['to a stream request', streaming],
  ])('when other answers use up the budget, %s, until they are released (row 42)', async (_name, request) => {
    const mebibyte = 1024 * 1024
    const budget = answerBudget(() => 2 * mebibyte)
    const ask = () =>
      exchangeOver(
        fakeTransport({
          headers: json,
          body: [JSON.stringify(completionJson()), ' '.repeat(mebibyte), ' '.repeat(mebibyte)],
        }),
        budget,
      )(request, callOf())
    const other = budget.reservation()
    other.reserve(3 * mebibyte)
    expect(await failureOf(ask())).toMatchObject({ failure: 'resources', isFinal: true })
    other.release()
    for (let count = 0; count < 3; count += 1) expect(await textOf(await ask())).toBe('Hello')
  })

  test('with an internal error unchanged', async () => {
    const mistake = new TypeError('ours')
    expect(await ask(mistake).catch((error: unknown) => error)).toBe(mistake)
  })

  test('without an upstream failure when the caller left', async () => {
    const error = await ask(transportError('aborted')).catch((reason: unknown) => reason)
    expect(error).not.toBeInstanceOf(UpstreamFailure)
  })
})

describe('a stream that falls silent after a finish_reason', () => {
  test.each([
    ['of its only choice ends well', {}, {}, undefined],
    ['is cut where the caller asked for more choices', { n: 2 }, {}, 'cut'],
    ['is cut where the owner asks for more choices', {}, { n: 2 }, 'cut'],
  ])('%s', async (_name, fields, overrides, expected) => {
    const body = fakeBody([event(chunkJson({ content: 'Hello' })) + event(chunkJson({}, 'stop'))], { hangs: true })
    const endpoint = { ...endpointAt('https://upstream.example/v1'), overrides }
    const transport = fakeTransport({ headers: eventStream, body })
    const reply = await upstreamExchange({
      upstream: upstreamAt({ transport, protocol: openai, endpoint, connectMs }),
      model: 'theirs',
      profile: new LearnedProfile(anyTarget),
      idleMs: 20,
      answerBudget: unlimitedAnswerBudget,
    })(chatRequest({ stream: true, ...fields }), callOf())
    const outcome = await textOf(reply).then(
      () => undefined,
      (error: unknown) => (error instanceof UpstreamFailure ? error.failure : error),
    )
    expect(outcome).toBe(expected)
  })
})

describe('an exchange whose streams have a framing of their own', () => {
  const framing: Protocol = { ...openai, framing: lengthPrefixed }
  const events = [chunkJson({ content: 'Hello' }), chunkJson({}, 'stop')].map((chunk) => framed(encoded(chunk)))
  const frames = { 'content-type': 'application/X-Frames' }

  test.each([
    ['a stream, by its media type', frames, Buffer.concat(events), 'stream'],
    ['a stream, by its bytes', {}, Buffer.concat(events), 'stream'],
    ['a whole answer, by its media type', json, encoded(completionJson()), 'whole'],
    ['a whole answer, by its bytes', frames, encoded(completionJson()), 'whole'],
  ] as const)('reads %s', async (_name, headers, body, kind) => {
    for (const request of [streaming, plain]) {
      const transport = fakeTransport({ headers, body: [body] })
      const reply = await exchangeOver(transport, unlimitedAnswerBudget, framing)(request, callOf())
      expect(reply.kind).toBe(kind)
      expect(await textOf(reply)).toBe('Hello')
    }
  })

  test('does not take server-sent events for a stream', async () => {
    const transport = fakeTransport({ headers: eventStream, body: [stream] })
    expect(await failureOf(exchangeOver(transport, unlimitedAnswerBudget, framing)(streaming, callOf()))).toMatchObject(
      { failure: 'malformed' },
    )
  })
})

describe('an exchange whose request cannot be signed', () => {
  test('sends nothing, and fails by its credentials', async () => {
    const transport = fakeTransport({})
    const protocol: Protocol = { ...openai, sign: () => () => Promise.reject(new Error('no token')) }
    const failure = await failureOf(exchangeOver(transport, unlimitedAnswerBudget, protocol)(plain, callOf()))
    expect(failure).toMatchObject({ failure: 'credential', message: 'the request could not be signed' })
    expect(transport.requests).toEqual([])
  })

  test('hides the token that the request was signed with', async () => {
    const protocol: Protocol = { ...openai, sign: () => async () => ({ authorization: 'Bearer fetched-token-1234' }) }
    const body = [JSON.stringify({ error: { message: 'bad token fetched-token-1234' } })]
    const transport = fakeTransport({ status: 401, body })
    const failure = await failureOf(exchangeOver(transport, unlimitedAnswerBudget, protocol)(plain, callOf()))
    expect(failure.message).toContain('[redacted]')
    expect(failure.message).not.toContain('1234')
  })
})

describe('a refusal', () => {
  test('is classified by its status, headers and body', async () => {
    const failure = await failureOf(
      ask({ status: 429, headers: { 'retry-after': '7' }, body: ['{"error":{"mess', 'age":"slow down"}}'] }),
    )
    expect(failure).toMatchObject({
      failure: 'rate_limit',
      status: 429,
      retryAfterMs: 7_000,
      message: 'status 429: slow down',
    })
  })

  test('whose body breaks off is classified by its beginning', async () => {
    expect(await failureOf(ask({ status: 503, body: ['busy', transportError('short_body')] }))).toMatchObject({
      failure: 'overloaded',
      message: 'status 503: busy',
    })
  })

  test('with a very large body is read for 64 KiB, then cancelled', async () => {
    const piece = 'x '.repeat(16 * 1024)
    const transport = fakeTransport({ status: 500, body: [piece, piece, piece, piece, piece] })
    expect((await failureOf(exchangeOver(transport)(plain, callOf()))).status).toBe(500)
    expect(transport.bodies[0]?.isCancelled).toBe(true)
    expect(transport.bodies[0]?.reads).toBe(3)
  })

  test('whose body never ends is read for a second only', async () => {
    jest.useFakeTimers()
    try {
      const body = fakeBody(['busy'], { hangs: true })
      const failing = failureOf(ask({ status: 503, body }))
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
      jest.advanceTimersByTime(1_000)
      expect(await failing).toMatchObject({ failure: 'overloaded', message: 'status 503: busy' })
      expect(body.isCancelled).toBe(true)
      expect(jest.getTimerCount()).toBe(0)
    } finally {
      jest.useRealTimers()
    }
  })
})

describe('however its bytes are cut up, an answer', () => {
  const bodies: readonly (readonly [string, FakeAnswer['headers'], string])[] = [
    ['that is a stream', eventStream, `: hi\n\n${stream}`],
    ['that is a stream without its type', undefined, stream],
    ['that is a stream without its type, comments first', json, `\n: hi\n\n${stream}`],
    ['that is JSON', json, JSON.stringify(completionJson('Grüße 🌍'))],
    ['that is JSON after blanks with a type of a stream', eventStream, `\n  ${JSON.stringify(completionJson())}`],
    ['that is JSON with a type of a stream', eventStream, JSON.stringify(completionJson())],
    ['that is HTML', { 'content-type': 'text/html' }, '<html><title>no</title></html>'],
    ['that is an error', json, '{"error":{"message":"slow","code":429}}'],
  ]
  const outcome = async (
    steps: readonly BodyStep[],
    headers: FakeAnswer['headers'],
    request: typeof plain,
  ): Promise<string> => {
    try {
      const reply = await ask({ ...(headers === undefined ? {} : { headers }), body: steps }, request)
      return `${reply.kind}: ${await textOf(reply)}`
    } catch (error) {
      return error instanceof UpstreamFailure ? error.failure : String(error)
    }
  }
  test.each(bodies)('%s is read the same', async (_name, headers, text) => {
    const bytes = new TextEncoder().encode(text)
    for (const request of [plain, streaming]) {
      const expected = await outcome([bytes], headers, request)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 20 }), async (places) => {
          expect(await outcome(cutAt(bytes, places), headers, request)).toBe(expected)
        }),
        { numRuns: 40 },
      )
    }
  })
})
