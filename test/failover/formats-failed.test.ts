import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseJson } from '../client.ts'
import { refusing, type Spoken } from '../fakes/faults/spoken.ts'
import { eventsOf, type Language } from '../fakes/languages/language.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { ask, pairsOf, stage, type Heard } from './stage.ts'

/** What callers of each format get when all providers fail: status, error and headers in their own shape. */

interface Row {
  readonly words: string
  readonly first: Spoken
  readonly second: Spoken
  /** As chat completions have it. */
  readonly status: 400 | 429 | 502 | 503 | 504
  readonly shouldRetry: 'true' | 'false'
  readonly retryAfter?: string
  readonly code?: 'context_length_exceeded'
}

const silent: Spoken = () => (exchange) => exchange.hang()
const waiting = (status: number, seconds: string) => refusing(status, { headers: { 'retry-after': seconds } })
const tooLong = refusing(400, { message: 'maximum context length is 4096 tokens', code: 'context_length_exceeded' })

const table: readonly Row[] = [
  { words: 'all timed out', first: silent, second: silent, status: 504, shouldRetry: 'true' },
  {
    words: 'all 429',
    first: waiting(429, '20'),
    second: waiting(429, '7'),
    status: 429,
    shouldRetry: 'true',
    retryAfter: '7',
  },
  {
    words: 'all 503',
    first: waiting(503, '9'),
    second: waiting(503, '30'),
    status: 503,
    shouldRetry: 'true',
    retryAfter: '9',
  },
  { words: 'all refuse the request', first: refusing(400), second: refusing(422), status: 400, shouldRetry: 'false' },
  {
    words: 'too long for all',
    first: tooLong,
    second: tooLong,
    status: 400,
    shouldRetry: 'false',
    code: 'context_length_exceeded',
  },
  { words: 'all refuse the key', first: refusing(401), second: refusing(403), status: 502, shouldRetry: 'false' },
  { words: '500 and 400', first: refusing(500), second: refusing(400), status: 502, shouldRetry: 'true' },
]

/** Short times only where they matter: a busy machine is slow. */
function entryOf({ first }: Row) {
  return first === silent ? { timeouts: { first_token_ms: 300, attempt_ms: 300 } } : {}
}

const upstream = stage()
let service: ServiceUnderTest
const cases = table.map((row, turn) =>
  pairsOf(turn).map((pair) => ({ ...pair, row, model: `m${turn}-${pair.caller.name}-${pair.provider.name}` })),
)

beforeAll(async () => {
  service = await startService({
    providers: cases
      .flat()
      .flatMap(({ provider: language, model, row }) => [
        upstream.add({ id: `a-${model}`, language, model, spoken: row.first, entry: entryOf(row) }),
        upstream.add({ id: `b-${model}`, language, model, spoken: row.second, entry: entryOf(row) }),
      ]),
  })
})

afterAll(async () => {
  upstream.stop()
  await service.stop()
})

const messagesTypes = {
  400: 'invalid_request_error',
  429: 'rate_limit_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
} as const
const googleStatuses = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
} as const

function openaiError({ code }: Row, message: unknown): object {
  return code === undefined
    ? { error: { message, type: 'api_error', code: 'provider_error' } }
    : { error: { message, type: 'invalid_request_error', code } }
}

/** The status and the error that callers of a format get. */
const shapes: Readonly<Record<Language['name'], (row: Row, message: unknown) => readonly [number, object]>> = {
  chat: (row, message) => [row.status, openaiError(row, message)],
  responses: (row, message) => [row.status, openaiError(row, message)],
  messages: ({ status, code }, message) => [
    status === 503 ? 529 : status,
    {
      type: 'error',
      error: {
        type: messagesTypes[status],
        // Claude Code knows what to do about this message.
        ...(code === undefined ? { message } : { message: 'capability_rejected: prompt_too_long', reason: message }),
      },
      request_id: expect.any(String),
    },
  ],
  // Gemini CLI repeats no request that has this status.
  gemini: (row, message) =>
    row.status >= 500 && row.shouldRetry === 'false'
      ? [400, googleError(400, 'FAILED_PRECONDITION', row, message)]
      : [row.status, googleError(row.status, googleStatuses[row.status], row, message)],
}

const requestInfo = expect.objectContaining({ requestId: expect.any(String) })

function googleError(code: number, status: string, { retryAfter }: Row, message: unknown): object {
  const info = retryAfter === undefined ? [] : [expect.objectContaining({ retryDelay: `${retryAfter}s` })]
  return { error: { code, status, message, details: expect.arrayContaining([requestInfo, ...info]) } }
}

/** Streams of Responses get what makes Codex repeat the request least. */
function expectForCodex(answer: Heard, row: Row, message: unknown): void {
  if (row.shouldRetry === 'true') {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, row.retryAfter ?? '1'])
    expect(parseJson(answer.body)).toMatchObject(openaiError(row, message))
    return
  }
  expect(answer.status).toBe(200)
  expect(eventsOf(answer.body)).toMatchObject([
    { type: 'response.created', sequence_number: 0 },
    { type: 'response.failed', sequence_number: 1, response: { status: 'failed', error: { message } } },
  ])
}

describe('all failed, in every format', () => {
  test.concurrent.each(cases.map((each) => [each[0]?.row.words, each] as const))('%s', async (_, own) => {
    await Promise.all(
      own.flatMap(({ caller, model, row }) =>
        [false, true].map(async (stream) => {
          const answer = await ask(service.url, caller, { model, stream })
          const message = expect.stringMatching(
            new RegExp(`^All providers failed for model '${model}'.*a-${model}.*b-${model}`, 's'),
          )
          expect(answer.headers.get('x-svc-attempts')).toBe('2')
          if (caller.name === 'responses' && stream && row.status >= 500) return expectForCodex(answer, row, message)
          const [status, error] = shapes[caller.name](row, message)
          expect([model, answer.status, answer.headers.get('x-should-retry')]).toEqual([model, status, row.shouldRetry])
          expect(answer.headers.get('content-type')).toStartWith('application/json')
          expect(parseJson(answer.body)).toMatchObject(error)
          expect([model, answer.headers.get('retry-after')]).toEqual([model, row.retryAfter ?? null])
        }),
      ),
    )
  })

  test('each provider was asked once for each request', () => {
    for (const { model } of cases.flat())
      expect([model, ...['a', 'b'].map((role) => upstream.hits(`${role}-${model}`).length)]).toEqual([model, 2, 2])
  })
})
