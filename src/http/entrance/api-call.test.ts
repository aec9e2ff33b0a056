import { afterEach, describe, expect, jest, test } from 'bun:test'
import type { Ask } from '../../formats/ask.ts'
import { chat } from '../../formats/chat/format.ts'
import { WireError } from '../../formats/error.ts'
import type { Format } from '../../formats/format.ts'
import type { Reply } from '../../formats/reply.ts'
import type { GatewayCall } from '../../gateway/gateway-call.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import { writtenStream } from '../../gateway/testing.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { LearnedSizes } from '../../prices/token-sizes.ts'
import { answerBudget, unlimitedAnswerBudget } from '../../service/answer-budget.ts'
import type { Call } from '../../service/service.ts'
import { answerParts, contextOf, fakeGateway, readEvents, rejectionOnAbort, bareReply } from '../testing.ts'
import { openRequests } from './admission.ts'
import { apiRoute } from './api-call.ts'
import { bodyBudget } from './body-budget.ts'
import type { EntranceOptions } from './entrance-options.ts'

afterEach(() => void jest.useRealTimers())

type Answering = (request: Ask, call: Call) => Promise<ServedReply>

/** The route over a gateway, with its records and counters. */
function subject(answering: Answering, changes: Partial<EntranceOptions> = {}, format: Format = chat) {
  const records: (RequestRecord & { readonly cause?: unknown })[] = []
  const requests = openRequests()
  const limits: string[] = []
  let open = 0
  const route = apiRoute(format, {
    gateway: () => fakeGateway(answering),
    bodyLimits: () => ({ bytesMax: 4 * 1024 * 1024, totalMs: 1_000, idleMs: 1_000 }),
    deadlineMs: () => 5_000,
    requestsMax: () => 10,
    hasDescriptors: () => true,
    lacksDescriptors: () => false,
    bodyBudget: bodyBudget(() => 8 * 1024 * 1024),
    answerBudget: unlimitedAnswerBudget,
    uploads: { endSlow: () => false },
    timers: { heartbeatMs: 1_000, stallMs: 1_000 },
    openRequests: requests,
    tokenSizes: new LearnedSizes(),
    streamsOpen: {
      add(difference) {
        open += difference
      },
    },
    record: (record, cause) => records.push({ ...record, cause }),
    ...changes,
  })
  return {
    records,
    requests,
    open: () => open,
    /** Calls about the connection's idle limit, in order. */
    limits,
    post: (
      fields: Readonly<Record<string, unknown>> | string = {},
      init: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {},
    ) =>
      Promise.resolve(
        route.handle({
          ...contextOf(
            new Request('http://x/v1/chat/completions', {
              method: 'POST',
              body:
                typeof fields === 'string'
                  ? fields
                  : JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
              ...init,
            }),
          ),
          keepOpen() {
            limits.push('keep open')
          },
          resetIdleLimit() {
            limits.push('let close')
          },
          extendIdleLimit() {
            limits.push('let read')
          },
          drop() {
            limits.push('drop')
          },
        }),
      ),
  }
}

/** A gateway that answers with this reply after a failed attempt. */
function serving(reply: Reply, model = 'm-2024'): Answering {
  return async (_request, { trail }) => {
    trail.push(
      { name: 'groq', status: 429, failure: 'rate_limit', reason: 'status 429', ms: 12 },
      { name: 'openai', status: 200, ms: 340 },
    )
    return { reply, provider: 'openai', model }
  }
}

const mebibyte = 1024 * 1024,
  largeBytes = 2 * mebibyte

/** Larger than one write to the system. */
function largeReply(): Reply {
  return { ...bareReply(), body: new Uint8Array(largeBytes) }
}

const trailHeader = 'groq;status=429;class=rate_limit;ms=12, openai;status=200;ms=340'

async function errorOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json()
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : body
}

describe('a plain chat request', () => {
  test('is answered with its provider in the headers', async () => {
    const { post, records, requests } = subject(serving(bareReply()))
    const response = await post()
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('{"object":"chat.completion"}')
    const { 'server-timing': timing, ...headers } = Object.fromEntries(response.headers)
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-request-id': 'request-1',
      'x-svc-provider': 'openai',
      'x-svc-model': 'm-2024',
      'x-svc-attempts': '2',
      'x-svc-trail': trailHeader,
    })
    expect(timing).toMatch(/^gw;dur=\d+\.\d\d$/)
    expect(records).toMatchObject([
      {
        id: 'request-1',
        model: 'm',
        stream: false,
        status: 200,
        provider: 'openai',
        usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
        trail: [{ name: 'groq' }, { name: 'openai' }],
      },
    ])
    expect(records[0]?.error).toBeUndefined()
    expect(records[0]?.totalMs).toBeGreaterThanOrEqual(0)
    expect(requests.count).toBe(0)
  })

  test('is estimated when its provider counts nothing, or 0 for an answer with content', async () => {
    const counts = [undefined, { promptTokens: 0, completionTokens: 0, totalTokens: 0 }]
    const body = new Uint8Array(1_200)
    const { post, records } = subject(async () => ({
      reply: { ...bareReply(), body, usage: counts.shift() },
      provider: 'openai',
      model: 'm',
    }))
    for (let request = 0; request < 2; request++) await post()
    const estimated = { promptTokens: 8, completionTokens: 200, totalTokens: 208, isEstimated: true } as const
    expect(records.map(({ usage }) => usage)).toEqual([estimated, estimated])
  })

  test('is estimated by what the model counted in streams before', async () => {
    const [short, long] = ['Hello'.repeat(40), 'a'.repeat(2_000)]
    const usage = { promptTokens: 1_030, completionTokens: 100, totalTokens: 1_130 }
    let answers = 0
    const { post, records } = subject(async (_ask, { trail }) => {
      trail.push({ name: 'openai', ms: 1 })
      const isCounted = (answers += 1) <= 100
      const end = isCounted ? [{ ...answerParts.usage(), usage }] : []
      return {
        reply: writtenStream([[answerParts.text(short), answerParts.finish(), ...end]]),
        provider: 'openai',
        model: 'm',
      }
    })
    const content = [{ role: 'user', content: long }]
    for (let request = 0; request < 101; request++) await (await post({ messages: content, stream: true })).text()
    expect(records.at(0)?.usage).toEqual(usage)
    expect(records.at(-1)?.usage).toEqual({ ...usage, isEstimated: true })
  })

  test('has only visible ASCII in its headers, for any model name', async () => {
    const response = await subject(serving(bareReply(), 'mödel\r\nx: y 🌍')).post()
    expect(response.headers.get('x-svc-model')).toBe('m%C3%B6del%0D%0Ax: y %F0%9F%8C%8D')
    expect(response.headers.has('x')).toBe(false)
  })

  test('passes the request to the gateway', async () => {
    let seen: Ask | undefined
    await subject(async (request, call) => {
      seen = request
      return serving(bareReply())(request, call)
    }).post({ unknown: [1] })
    expect(seen).toMatchObject({ model: 'm', stream: false })
    expect(new TextDecoder().decode(seen?.body)).toContain('"unknown":[1]')
  })

  test('of more than 1 MiB is read too', async () => {
    const { post, records } = subject(serving(bareReply()))
    expect((await post({ messages: [{ role: 'user', content: 'x'.repeat(1_500_000) }] })).status).toBe(200)
    expect(records).toMatchObject([{ model: 'm', status: 200 }])
  })

  const refusals: readonly (readonly [
    string,
    Readonly<Record<string, unknown>> | string,
    Readonly<Record<string, string>>,
    Readonly<Record<string, unknown>>,
    number,
  ])[] = [
    ['is not JSON', '{', {}, { type: 'invalid_request_error', code: 'invalid_json', param: null }, 400],
    ['is nothing', '', {}, { code: 'invalid_json' }, 400],
    ['has no model', { model: undefined }, {}, { code: 'missing_required_parameter', param: 'model' }, 400],
    ['has a value out of range', { temperature: 3 }, {}, { code: 'invalid_value', param: 'temperature' }, 400],
    ['is encoded', {}, { 'content-encoding': 'gzip' }, { code: 'unsupported_encoding' }, 415],
    ['is too large', {}, { 'content-length': '99999999' }, { code: 'request_too_large' }, 413],
  ]
  test.each(refusals)('that %s is refused before any attempt', async (_name, fields, headers, expected, status) => {
    let isAsked = false
    const { post, records, requests } = subject(async (request, call) => {
      isAsked = true
      return serving(bareReply())(request, call)
    })
    const response = await post(fields, { headers })
    expect(response.status).toBe(status)
    expect(await errorOf(response)).toMatchObject(expected)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': 'request-1',
      'x-svc-attempts': '0',
      'x-should-retry': 'false',
    })
    expect(isAsked).toBe(false)
    expect(records).toMatchObject([{ status, error: expected['code'], model: '' }])
    expect(requests.count).toBe(0)
  })

  test('that failed at all providers is an error, with the attempts in the headers', async () => {
    const { post, records } = subject(async (_request, { trail }) => {
      trail.push({ name: 'groq', status: 500, failure: 'server_error', reason: 'status 500', ms: 3 })
      throw new WireError(502, 'api_error', 'provider_error', 'All providers failed', {
        headers: { 'x-should-retry': 'true' },
      })
    })
    const response = await post()
    expect(response.status).toBe(502)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-attempts': '1',
      'x-svc-trail': 'groq;status=500;class=server_error;ms=3',
      'x-should-retry': 'true',
    })
    expect(records).toMatchObject([{ status: 502, error: 'provider_error' }])
    expect(records[0]?.provider).toBeUndefined()
  })

  test('with an internal error is a generic 500, with the cause in the log', async () => {
    const internalError = new TypeError('secret detail')
    const { post, records } = subject(() => Promise.reject(internalError))
    const response = await post()
    expect(response.status).toBe(500)
    expect(JSON.stringify(await errorOf(response))).not.toContain('secret')
    expect(records).toMatchObject([{ status: 500, error: 'internal_error', cause: internalError }])
  })

  test('above the limit is answered 503 at once', async () => {
    const { post, records } = subject(serving(bareReply()), { requestsMax: () => 0 })
    const response = await post()
    expect(response.status).toBe(503)
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'retry-after': '1', 'x-should-retry': 'true' })
    expect(await errorOf(response)).toMatchObject({ type: 'overloaded_error', code: 'overloaded' })
    expect(records).toMatchObject([{ status: 503 }])
  })

  test('without descriptors is answered 503 at once, and its connection closed if it has arrived', async () => {
    const { post, records } = subject(serving(bareReply()), { hasDescriptors: () => false })
    const small = await post({}, { headers: { 'content-length': '60' } }),
      large = await post({}, { headers: { 'content-length': '3000000' } })
    expect([small.status, large.status]).toEqual([503, 503])
    expect([small.headers.get('connection'), large.headers.get('connection')]).toEqual(['close', null])
    expect(small.headers.get('retry-after')).toBe('1')
    expect(records).toMatchObject([{ status: 503, error: 'overloaded', trail: [] }, { status: 503 }])
  })

  test('beyond the body budget is answered 503 at once, until bytes are released', async () => {
    const budget = bodyBudget(() => 1_000)
    const other = budget.reservation()
    other.reserve(990)
    const { post, records } = subject(serving(bareReply()), { bodyBudget: budget })
    const init = { headers: { 'content-length': '60' } }
    const refused = await post({}, init)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(records).toMatchObject([{ status: 503, error: 'overloaded' }])
    other.release()
    expect((await post({}, init)).status).toBe(200)
  })

  test('keeps its reservation until its end, however it ends', async () => {
    const budget = bodyBudget(() => 1_000)
    let held = 0
    const { post } = subject(
      async (request, call) => {
        held = budget.reserved
        return serving(bareReply())(request, call)
      },
      { bodyBudget: budget },
    )
    for (const fields of [{}, { temperature: 3 }, '{']) {
      await post(fields, { headers: { 'content-length': '60' } })
      expect(budget.reserved).toBe(0)
    }
    expect(held).toBe(60)
  })

  test('up to the limit is answered', async () => {
    expect((await subject(serving(bareReply()), { requestsMax: () => 1 }).post()).status).toBe(200)
  })
})

describe('the time for a whole request', () => {
  const waiting: Answering = async (_request, call) => {
    call.trail.push({ name: 'groq', status: 500, failure: 'server_error', reason: 'status 500', ms: 1 })
    return rejectionOnAbort(call)
  }

  test('ends it with 504 and the attempts', async () => {
    const { post, records } = subject(waiting, { deadlineMs: () => 10 })
    const response = await post()
    expect(response.status).toBe(504)
    expect(await errorOf(response)).toMatchObject({
      type: 'api_error',
      code: 'provider_error',
      message: "All providers failed for model 'm': groq: status 500",
    })
    expect(response.headers.get('x-should-retry')).toBe('true')
    expect(records).toMatchObject([{ status: 504, error: 'provider_error' }])
  })

  test('can be lowered by the caller', async () => {
    expect((await subject(waiting).post({}, { headers: { 'x-svc-timeout-ms': '10' } })).status).toBe(504)
  })

  test.each(['0', '-5', 'soon', '1e1', '99999999999'])(
    'is not changed by a header of %j, nor raised',
    async (given) => {
      const started = performance.now()
      expect(
        (await subject(waiting, { deadlineMs: () => 15 }).post({}, { headers: { 'x-svc-timeout-ms': given } })).status,
      ).toBe(504)
      expect(performance.now() - started).toBeGreaterThanOrEqual(10)
    },
  )

  test('ends a stream with an error event', async () => {
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    const { post, records, open } = subject(serving(reply), { deadlineMs: () => 20 })
    const response = await post({ stream: true })
    const pieces = await readEvents(response)
    expect(pieces).toHaveLength(2)
    expect(pieces[1]).toContain('"code":"provider_error"')
    expect(reply.isCancelled).toBe(true)
    expect(records).toMatchObject([{ status: 200, error: 'provider_error' }])
    expect(open()).toBe(0)
  })
})

describe('a stream', () => {
  test('is answered with its headers, parts and [DONE]', async () => {
    const { post, records, open, requests } = subject(
      serving(writtenStream([[answerParts.text('Hi')], [answerParts.finish()], [answerParts.usage()]])),
    )
    const response = await post({ stream: true })
    expect(open()).toBe(1)
    expect(requests.count).toBe(1)
    expect(records).toEqual([])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'request-1',
      'x-svc-provider': 'openai',
      'x-svc-model': 'm-2024',
      'x-svc-attempts': '2',
      'x-svc-trail': trailHeader,
    })
    const pieces = await readEvents(response)
    expect(pieces).toHaveLength(4)
    expect(pieces.at(-1)).toBe('data: [DONE]\n\n')
    expect(records).toMatchObject([{ stream: true, status: 200, provider: 'openai', usage: { totalTokens: 3 } }])
    expect(records[0]?.firstTokenMs).toBeGreaterThanOrEqual(0)
    expect(open()).toBe(0)
    expect(requests.count).toBe(0)
  })

  test('that failed before its start is an error with its status', async () => {
    const { post, open } = subject(() =>
      Promise.reject(new WireError(429, 'api_error', 'provider_error', 'no', { headers: { 'retry-after': '5' } })),
    )
    const response = await post({ stream: true })
    expect(response.status).toBe(429)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('retry-after')).toBe('5')
    expect(open()).toBe(0)
  })

  test('that is cut ends with an error event and no [DONE], and is recorded as failed', async () => {
    const cut = new WireError(502, 'api_error', 'provider_error', 'The answer was cut off')
    const { post, records } = subject(serving(writtenStream([[answerParts.text('Hel')], cut])))
    const pieces = await readEvents(await post({ stream: true }))
    expect(pieces.at(-1)).toBe(
      'data: {"error":{"message":"The answer was cut off","type":"api_error",' +
        '"param":null,"code":"provider_error"}}\n\n',
    )
    expect(records).toMatchObject([{ status: 200, error: 'provider_error' }])
  })

  test('with an internal error ends with a generic error, with the cause in the log', async () => {
    const internalError = new TypeError('secret')
    const { post, records } = subject(serving(writtenStream([[answerParts.text('Hel')], internalError])))
    const pieces = await readEvents(await post({ stream: true }))
    expect(pieces.at(-1)).toContain('"code":"internal_error"')
    expect(pieces.at(-1)).not.toContain('secret')
    expect(records).toMatchObject([{ status: 200, error: 'internal_error', cause: internalError }])
  })

  test('with a slow start has headers and comments first, then its parts', async () => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<void>()
    const { post } = subject(
      async (request, call) => {
        await decided
        return serving(writtenStream([[answerParts.text('Hi')]]))(request, call)
      },
      { timers: { heartbeatMs: 5, stallMs: 1_000 } },
    )
    const response = await post({ stream: true })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toBe('request-1')
    const pieces: string[] = []
    for await (const piece of response.body ?? new ReadableStream<Uint8Array>()) {
      pieces.push(new TextDecoder().decode(piece))
      decide()
    }
    const events = pieces.join('').split(/(?<=\n\n)/)
    expect(events[0]).toBe(': keep-alive\n\n')
    expect(events.slice(-2)).toEqual([
      `data: ${new TextDecoder().decode(answerParts.text('Hi').data)}\n\n`,
      'data: [DONE]\n\n',
    ])
  })

  test('with a slow start has keep-alives at the times of its format, unless the service has one', async () => {
    const answering: Answering = async (request, call) => {
      await Bun.sleep(60)
      return serving(writtenStream([[answerParts.text('Hi')]]))(request, call)
    }
    const keepAlive = { bytes: new TextEncoder().encode(': p\n\n'), everyMs: 8 }
    const format = { ...chat, stream: { ...chat.stream, keepAlive } }
    const count = async (heartbeatMs: number | undefined) => {
      const { post } = subject(answering, { timers: { heartbeatMs, stallMs: 1_000 } }, format)
      return (await (await post({ stream: true })).text()).split(': p\n\n').length - 1
    }
    expect(await count(undefined)).toBeGreaterThanOrEqual(2)
    expect(await count(1_000)).toBe(0)
  })

  test('with a slow start has its own status, in a format without keep-alives', async () => {
    const { keepAlive: _, ...stream } = chat.stream
    const answering: Answering = async () => {
      await Bun.sleep(15)
      throw new WireError(502, 'api_error', 'provider_error', 'All providers failed')
    }
    const { post } = subject(answering, { timers: { heartbeatMs: 2, stallMs: 1_000 } }, { ...chat, stream })
    expect((await post({ stream: true })).status).toBe(502)
  })

  test('releases its reservation when the gateway does, otherwise at its end', async () => {
    const budget = bodyBudget(() => 1_000)
    let letGo: (() => void) | undefined
    const reply = writtenStream([[answerParts.text('Hi')], [answerParts.finish()]])
    const { post } = subject(serving(reply), {
      bodyBudget: budget,
      gateway: () => ({
        ...fakeGateway(serving(reply)),
        answer(request, call, told) {
          letGo = told
          return serving(reply)(request, call)
        },
      }),
    })
    const response = await post({ stream: true }, { headers: { 'content-length': '60' } })
    expect(budget.reserved).toBe(60)
    letGo?.()
    expect(budget.reserved).toBe(0)
    await response.text()
    expect(budget.reserved).toBe(0)
  })

  test('with a slow start that fails ends with an error event', async () => {
    const chat: Answering = async () => {
      await Bun.sleep(15)
      throw new WireError(502, 'api_error', 'provider_error', 'All providers failed')
    }
    const { post, records, open } = subject(chat, { timers: { heartbeatMs: 5, stallMs: 1_000 } })
    const pieces = await readEvents(await post({ stream: true }))
    expect(pieces.at(-1)).toContain('All providers failed')
    expect(pieces.join('')).not.toContain('[DONE]')
    expect(records).toMatchObject([{ status: 200, error: 'provider_error' }])
    expect(open()).toBe(0)
  })
})

describe('a client that leaves', () => {
  test('before the answer aborts the attempt, without blame (failover.md row 40)', async () => {
    const client = new AbortController()
    let reason: unknown
    const { post, records, requests } = subject(async (_request, call) => {
      setTimeout(() => client.abort(), 2)
      return rejectionOnAbort(call).catch((error: unknown) => {
        reason = error
        throw error
      })
    })
    await post({}, { signal: client.signal })
    expect(reason).toHaveProperty('name', 'ClientLeft')
    expect(records).toMatchObject([{ status: 499, error: 'client_left' }])
    expect(requests.count).toBe(0)
  })

  test('during a stream aborts the attempt', async () => {
    const client = new AbortController()
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    let call: Call | undefined
    const { post, records, open } = subject(async (request, given) => {
      call = given
      return serving(reply)(request, given)
    })
    const response = await post({ stream: true }, { signal: client.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    client.abort()
    expect(reply.isCancelled).toBe(true)
    expect(call?.signal.aborted).toBe(true)
    expect(records).toMatchObject([{ status: 499, error: 'client_left' }])
    expect(open()).toBe(0)
  })

  test('by cancelling the body aborts the attempt', async () => {
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    const { post, records } = subject(serving(reply))
    const response = await post({ stream: true })
    await response.body?.cancel()
    expect(reply.isCancelled).toBe(true)
    expect(records).toMatchObject([{ status: 499 }])
  })

  test('before its stream has started aborts the attempt', async () => {
    let call: Call | undefined
    const { post, records } = subject(
      (_request, given) => {
        call = given
        return rejectionOnAbort(given)
      },
      { timers: { heartbeatMs: 2, stallMs: 1_000 } },
    )
    const response = await post({ stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(call?.signal.aborted).toBe(true)
    expect(records).toMatchObject([{ status: 499 }])
  })
})

describe('the connection of a chat request', () => {
  test.each<readonly [string, Readonly<Record<string, unknown>>, Answering]>([
    ['answered', {}, serving(bareReply())],
    ['refused', { model: '' }, serving(bareReply())],
    ['streamed', { stream: true }, serving(writtenStream([[answerParts.text('Hi')], [answerParts.finish()]]))],
    ['cut', { stream: true }, serving(writtenStream([[answerParts.text('Hi')], new Error('cut')]))],
  ])('keeps its idle limit for a request that is %s soon', async (_, fields, chat) => {
    const { post, limits } = subject(chat)
    await (await post(fields)).text()
    expect(limits).toEqual([])
  })

  test('is kept open while a request lasts, and may be idle afterwards as long as others', async () => {
    jest.useFakeTimers()
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const { post, limits } = subject(
      async (request, call) => {
        asked.resolve()
        await answered.promise
        return serving(bareReply())(request, call)
      },
      { deadlineMs: () => 600_000 },
    )
    const posted = post()
    await asked.promise
    jest.advanceTimersByTime(19_000)
    expect(limits).toEqual([])
    jest.advanceTimersByTime(2_000)
    expect(limits).toEqual(['keep open'])
    answered.resolve()
    expect((await posted).status).toBe(200)
    expect(limits).toEqual(['keep open', 'let close'])
  })

  test('is kept open until a large answer has been read', async () => {
    const { post, limits, requests, records } = subject(serving(largeReply()))
    const response = await post()
    expect([limits, requests.count, records]).toEqual([['keep open'], 1, []])
    expect((await response.bytes()).length).toBe(largeBytes)
    expect([limits, requests.count]).toEqual([['keep open', 'let close', 'let read'], 0])
    expect(records).toMatchObject([{ status: 200, usage: { totalTokens: 3 } }])
  })

  test('is closed when the client does not read a large answer', async () => {
    const { post, limits, records } = subject(serving(largeReply()), { timers: { heartbeatMs: 1_000, stallMs: 2 } })
    const reader = (await post()).body?.getReader()
    await reader?.read()
    await reader?.closed.catch(() => undefined)
    expect(limits).toEqual(['keep open', 'let close', 'drop'])
    expect(records).toMatchObject([{ status: 499, error: 'client_left' }])
  })

  test('is closed when the client leaves a stream', async () => {
    const { post, limits } = subject(serving(writtenStream([[answerParts.text('Hi')]], { hangs: true })))
    await (await post({ stream: true })).body?.cancel()
    expect(limits).toEqual(['drop'])
  })
})

describe('an attempt that is given up before its answer', () => {
  test.each([
    ['the client left', 499, async (body: ReadableStream<Uint8Array>) => await body.cancel()],
    ['the time is over', 200, async (body: ReadableStream<Uint8Array>) => void (await new Response(body).text())],
  ])('has its cost in the record of its stream: %s', async (_, status, end) => {
    const { post, records } = subject(
      async (_ask, call: GatewayCall) => {
        try {
          return await rejectionOnAbort(call)
        } finally {
          call.booking?.attempts.push({ provider: 'groq', nanoUsd: 7, place: undefined })
        }
      },
      { timers: { heartbeatMs: 1, stallMs: 1_000 }, deadlineMs: () => (status === 499 ? 5_000 : 20) },
    )
    const { body } = await post({ stream: true })
    if (body !== null) await end(body)
    while (records.length === 0) await Bun.sleep(1)
    expect(records).toMatchObject([{ status, unrecorded: [{ provider: 'groq', nanoUsd: 7 }] }])
  })
})

describe('a large answer', () => {
  test('beyond the budget is answered 503, until another has been read', async () => {
    const answers = answerBudget(() => 3 * mebibyte)
    const { post, records } = subject(serving(largeReply()), { answerBudget: answers })
    const first = await post(),
      second = await post(),
      third = await post(),
      fourth = await post()
    expect([first, second, third, fourth].map(({ status }) => status)).toEqual([200, 200, 200, 503])
    expect(await errorOf(fourth)).toMatchObject({ code: 'overloaded' })
    expect(records).toMatchObject([{ status: 503, error: 'overloaded', provider: 'openai', usage: { totalTokens: 3 } }])
    await Promise.all([first.bytes(), second.bytes()])
    expect((await post()).status).toBe(200)
  })

  test('whose client leaves releases its reservation', async () => {
    const answers = answerBudget(() => mebibyte)
    const { post, records } = subject(serving(largeReply()), { answerBudget: answers })
    await (await post()).body?.cancel()
    expect(records).toMatchObject([{ status: 499, error: 'client_left' }])
    expect([answers.reservation().reserve(2 * mebibyte), answers.reservation().reserve(2 * mebibyte)]).toEqual([
      true,
      false,
    ])
  })

  test('may be read after the deadline of its request', async () => {
    const { post } = subject(serving(largeReply()), { deadlineMs: () => 1 })
    const response = await post()
    await Bun.sleep(5)
    expect((await response.bytes()).length).toBe(largeBytes)
  })

  test('whose client left before is not sent', async () => {
    const leaving = new AbortController()
    const { post, records } = subject(async (request, call) => {
      leaving.abort()
      return await serving(largeReply())(request, call)
    })
    await post({}, { signal: leaving.signal })
    expect(records).toMatchObject([{ status: 499, error: 'client_left' }])
  })

  test('that is not read is aborted at shutdown', async () => {
    const { post, records, requests } = subject(serving(largeReply()))
    const response = await post()
    requests.stopAll()
    expect(
      await response.bytes().then(
        () => 'whole',
        () => 'broken',
      ),
    ).toBe('broken')
    expect(records).toMatchObject([{ status: 200, error: 'overloaded' }])
  })
})

describe('a shutdown', () => {
  test('ends plain requests with 503 and streams with an error event', async () => {
    const reply = writtenStream([[answerParts.text('Hel')]], { hangs: true })
    const { post, requests } = subject(async (request, call) =>
      request.stream ? serving(reply)(request, call) : rejectionOnAbort(call),
    )
    const plain = post()
    const stream = await post({ stream: true })
    const reading = readEvents(stream)
    await Bun.sleep(2)
    expect(requests.count).toBe(2)
    requests.stopAll()
    expect((await plain).status).toBe(503)
    const pieces = await reading
    expect(pieces.at(-1)).toContain('The service is shutting down')
    expect(pieces.join('')).not.toContain('[DONE]')
    await requests.idle()
  })
})
