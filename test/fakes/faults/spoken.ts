import type { FailureClass } from '../../../src/service/failure.ts'
import { faultUpstream, type Exchange, type Script } from '../fault-upstream.ts'
import { answering, streamed, type Language, type Piece } from '../languages/language.ts'
import { framed, head, lastChunk, reply, streamHead } from '../replies.ts'
import { connectionFaults } from './connection.ts'
import type { Origin } from './fault.ts'

/** Answers in the format of a provider. */
export type Spoken = (language: Language) => Script

/** A failure of a provider in its own format, by the rows of failover.md. */
export interface SpokenFault {
  readonly row: number
  readonly words: string
  /** Kinds of request for which it is a fault. */
  readonly on: 'plain' | 'stream' | 'both'
  /** Failure classes in the trail, of which the format of the provider decides. */
  readonly failures: readonly FailureClass[]
  readonly spoken: Spoken
  /** Starts a server whose fault lies before any request, instead of {@link spoken}. */
  readonly origin?: (() => Origin) | undefined
  /** Additional fields of the provider's entry. */
  readonly entry?: Readonly<Record<string, unknown>> | undefined
  /** Requests that reach the provider before it is skipped. Infinity: it never is. */
  readonly skippedAfter: number
  /** Formats of providers that have this fault. Default: all. */
  readonly only?: readonly Language['name'][]
}

const breaker = 5
const coolDown = 3
const retryAfter = 1
const never = Number.POSITIVE_INFINITY

/** Times of the providers that fail by waiting. */
const hasty = { timeouts: { first_token_ms: 300, attempt_ms: 300 } }
const hastyConnect = { timeouts: { connect_ms: 500 } }

/** The names of errors in the formats, by status. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
const googleStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** An error as a provider of the format writes it. `code` is of OpenAI's formats. */
export function errorBody({ name }: Pick<Language, 'name'>, status: number, message: string, code?: string): object {
  switch (name) {
    case 'messages': {
      const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
      return { type: 'error', error: { type, message }, request_id: 'req_1' }
    }
    case 'gemini':
      return { error: { code: status, message, status: googleStatuses[status] ?? 'INVALID_ARGUMENT' } }
    default:
      return { error: { message, type: code ?? 'scripted', param: null, code: code ?? null } }
  }
}

/** Refuses with a status, and an error of the provider's format. */
export function refusing(
  status: number,
  { message = `scripted ${status}`, code, headers = {} }: RefusalOptions = {},
): Spoken {
  return (language) => (exchange) =>
    exchange.write(reply(status, JSON.stringify(errorBody(language, status, message, code)), headers))
}

interface RefusalOptions {
  readonly message?: string
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers with these bytes as a whole, of every kind of request. */
function whole(of: (language: Language) => object | string): Spoken {
  return (language) => (exchange) => {
    const answer = of(language)
    return exchange.write(reply(200, typeof answer === 'string' ? answer : JSON.stringify(answer)))
  }
}

const unnamedError = 'data: {"error_code":7,"error_msg":"The server is busy","id":"a-7"}\n\n'

/** Answers with these events, every kind of request. */
export function events(of: (language: Language) => readonly string[]): Spoken {
  return (language) => streamed(language.provider, of(language))
}

/** An answer that ended at its limit: the finish of a good answer in other words. */
export function atLimit({ name }: Language, text: string): string {
  switch (name) {
    case 'chat':
      return text.replace('"finish_reason":"stop"', '"finish_reason":"length"')
    case 'messages':
      return text.replace('"stop_reason":"end_turn"', '"stop_reason":"max_tokens"')
    case 'gemini':
      return text.replace('"finishReason":"STOP"', '"finishReason":"MAX_TOKENS"')
    case 'responses':
      return text
        .replace('event: response.completed', 'event: response.incomplete')
        .replace('"type":"response.completed"', '"type":"response.incomplete"')
        .replace('"status":"completed"', '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}')
  }
}

function fault(
  row: number,
  words: string,
  failure: FailureClass | readonly FailureClass[],
  spoken: Spoken,
  more: Partial<SpokenFault> = {},
): SpokenFault {
  const failures = typeof failure === 'string' ? [failure] : failure
  return { row, words, on: 'both', failures, spoken, skippedAfter: breaker, ...more }
}

/** Refused with these words, of which each provider has its own. */
function refused(
  row: number,
  words: string,
  failure: FailureClass,
  skippedAfter: number,
  sayings: Readonly<Partial<Record<Language['name'], Refusal>>>,
): SpokenFault {
  const only = (['chat', 'messages', 'responses', 'gemini'] as const).filter((name) => sayings[name] !== undefined)
  const spoken: Spoken = (language) => {
    const [status, message, code] = sayings[language.name] ?? sayings.chat ?? [400, 'no']
    return refusing(status, { message, ...(code === undefined ? {} : { code }) })(language)
  }
  return fault(row, words, failure, spoken, { skippedAfter, only })
}

type Refusal = readonly [status: number, message: string, code?: string]

function everywhere(refusal: Refusal, others: Readonly<Partial<Record<Language['name'], Refusal>>> = {}) {
  return { chat: refusal, responses: refusal, messages: refusal, gemini: refusal, ...others }
}

/** Those that depend on the format, or have one of two classes, so that the number of failures before a skip varies. */
const apart: readonly string[] = ['role-then-stalls', 'reset-on-open']

/** Rows 1 to 8 do not depend on the format. */
const connections: readonly SpokenFault[] = connectionFaults
  .filter(({ name }) => !apart.includes(name))
  .map(({ row, words, on, failure, origin, script, name }) => ({
    row,
    words,
    on,
    failures: [failure],
    spoken: () => script ?? (() => undefined),
    // A reset must meet a connection of its own.
    origin: origin ?? (row === 4 || name === 'close' ? () => faultUpstream(script) : undefined),
    entry: name === 'tls-hang' ? hastyConnect : row === 6 || row === 7 ? hasty : undefined,
    skippedAfter: row === 3 ? coolDown : breaker,
  }))

const codes: readonly SpokenFault[] = [
  fault(
    9,
    '307, which is not followed',
    'redirect',
    () => (exchange) => exchange.write(reply(307, '', { location: '/elsewhere' })),
    { skippedAfter: coolDown },
  ),
  ...[400, 405, 406, 415, 422].map((status) =>
    fault(10, String(status), 'bad_request', refusing(status), { skippedAfter: never }),
  ),
  refused(
    11,
    '400 about the key',
    'credential',
    coolDown,
    everywhere([400, 'no', 'invalid_api_key'], {
      messages: [400, 'API key expired.'],
      gemini: [400, 'API key not valid. Please pass a valid API key.'],
    }),
  ),
  refused(11, '400 about the credit', 'quota', coolDown, everywhere([400, 'Your credit balance is too low.'])),
  refused(11, '400 about the model', 'model_gone', coolDown, everywhere([400, 'The model m has been decommissioned.'])),
  {
    ...refused(
      12,
      '400 about the length, with retries left',
      'context_length',
      never,
      everywhere([400, 'no', 'context_length_exceeded'], {
        messages: [400, 'prompt is too long: 208310 tokens > 200000 maximum'],
        gemini: [400, 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).'],
      }),
    ),
    entry: { retries: 2 },
  },
  fault(12, '413', 'context_length', refusing(413), { skippedAfter: never }),
  ...[401, 403].map((status) => fault(14, String(status), 'credential', refusing(status), { skippedAfter: coolDown })),
  fault(15, '402', 'quota', refusing(402), { skippedAfter: coolDown }),
  refused(15, '429 about quota', 'quota', coolDown, {
    chat: [429, 'no more', 'insufficient_quota'],
    responses: [429, 'no more', 'insufficient_quota'],
  }),
  refused(
    16,
    '404, no such model',
    'model_gone',
    coolDown,
    everywhere([404, 'The model does not exist', 'model_not_found'], {
      messages: [404, 'model: m'],
      gemini: [404, 'models/m is not found for API version v1beta, or is not supported for generateContent.'],
    }),
  ),
  fault(16, '410', 'model_gone', refusing(410), { skippedAfter: coolDown }),
  fault(17, '408', 'request_timeout', refusing(408)),
  ...[409, 425].map((status) => fault(17, String(status), 'conflict', refusing(status), { skippedAfter: never })),
  fault(18, '429', 'rate_limit', refusing(429), { skippedAfter: coolDown }),
  fault(18, '429 with Retry-After', 'rate_limit', refusing(429, { headers: { 'retry-after': '30' } }), {
    skippedAfter: retryAfter,
  }),
  ...[500, 502, 504, 520].map((status) => fault(19, String(status), 'server_error', refusing(status))),
  fault(
    19,
    '500 with a page',
    'server_error',
    () => (exchange) => exchange.write(reply(500, '<html>', { 'content-type': 'text/html' })),
  ),
  ...[503, 529].map((status) => fault(20, String(status), 'overloaded', refusing(status))),
  fault(20, '503 with Retry-After', 'overloaded', refusing(503, { headers: { 'retry-after': '30' } }), {
    skippedAfter: retryAfter,
  }),
  fault(21, '418', 'unknown_status', refusing(418)),
]

/** The answer of a provider whose response failed, inside a 200. */
function failed(language: Language, message: string, status: number, code: string): object {
  if (language.name !== 'responses') return errorBody(language, status, message, code)
  return { id: 'resp_1', object: 'response', status: 'failed', output: [], error: { code, message } }
}

const bodies: readonly SpokenFault[] = [
  fault(
    22,
    '200 with an error',
    ['server_error', 'overloaded'],
    whole((language) => failed(language, 'it broke', 500, 'server_error')),
  ),
  fault(
    22,
    '200 with an error about the rate',
    'rate_limit',
    whole((language) => failed(language, 'slow down', 429, 'rate_limit_exceeded')),
    {
      skippedAfter: coolDown,
    },
  ),
  fault(
    22,
    '200 with an error that nothing calls so',
    'rate_limit',
    whole(() => ({ base_resp: { status_code: 7, status_msg: 'Too many requests' } })),
    { skippedAfter: coolDown },
  ),
  fault(
    23,
    '200 with malformed JSON',
    'malformed',
    whole(() => '{"id": oops}'),
  ),
  fault(
    23,
    '200 with truncated JSON',
    'malformed',
    whole(({ provider }) => JSON.stringify(provider.whole([lost])).slice(0, -9)),
  ),
  fault(23, '200 with a body shorter than its length', 'malformed', ({ provider }) => async (exchange) => {
    const text = JSON.stringify(provider.whole([lost]))
    await exchange.write(head(200, { 'content-type': 'application/json', 'content-length': String(text.length + 9) }))
    await exchange.write(text)
    exchange.close()
  }),
  fault(
    24,
    '200 with HTML',
    'malformed',
    () => (exchange) => exchange.write(reply(200, '<!doctype html>', { 'content-type': 'text/html' })),
  ),
  fault(
    25,
    '200 with an empty body',
    'empty',
    whole(() => ''),
  ),
  fault(25, '204', 'empty', () => (exchange) => exchange.write(head(204))),
  fault(
    26,
    '200 with an empty object',
    'malformed',
    whole(() => '{}'),
  ),
  fault(
    26,
    '200 without choices',
    'malformed',
    whole(({ name, provider }) => ({ ...provider.whole([lost]), [lists[name]]: null })),
  ),
  fault(27, 'an empty answer', 'empty', (language) => answering(language, []), { skippedAfter: never }),
  fault(
    29,
    'a body of 2 GB',
    'too_large',
    () => async (exchange) => {
      await exchange.write(head(200, { 'content-type': 'application/json', 'content-length': '2000000000' }))
      await exchange.write('{"')
      await exchange.hang()
    },
    { on: 'plain' },
  ),
  fault(
    31,
    'a stream to a plain request, that ends early',
    'cut',
    ({ provider }) => streamed(provider, [...provider.begin(), ...provider.piece(lost, 0)]),
    { on: 'plain' },
  ),
]

/** The member of an answer that has its content. */
const lists: Readonly<Record<Language['name'], string>> = {
  chat: 'choices',
  messages: 'content',
  responses: 'output',
  gemini: 'candidates',
}

const starts: readonly SpokenFault[] = [
  fault(
    7,
    'a start, and no token in time',
    'timeout',
    ({ provider }) =>
      async (exchange) => {
        await exchange.write(Buffer.concat([Buffer.from(streamHead), ...provider.begin().map(framed)]))
        await exchange.hang()
      },
    { on: 'stream', entry: hasty },
  ),
  fault(
    32,
    'a stream with nothing in it',
    'empty',
    events(() => []),
    { on: 'stream' },
  ),
  fault(
    32,
    'a stream with only comments',
    'empty',
    events(() => [': one\n\n', ': two\n\n']),
    { on: 'stream' },
  ),
  fault(
    32,
    'a stream with only [DONE]',
    'empty',
    events(() => ['data: [DONE]\n\n']),
    { on: 'stream' },
  ),
  fault(
    32,
    'a stream with only its start',
    'empty',
    events(({ provider }) => provider.begin()),
    { on: 'stream' },
  ),
  fault(
    33,
    'a start, and an error event',
    ['server_error', 'overloaded'],
    events(({ provider }) => [...provider.begin(), provider.failure]),
    { on: 'stream' },
  ),
  fault(
    33,
    'a start, and an error event that nothing calls so',
    'overloaded',
    events(({ provider }) => [...provider.begin(), unnamedError]),
    { on: 'stream' },
  ),
  fault(
    34,
    'a malformed first event',
    'malformed',
    events(() => ['data: {"id": oops\n\n']),
    { on: 'stream' },
  ),
  fault(
    34,
    'a first event that is no object',
    'malformed',
    events(() => ['data: 42\n\n']),
    { on: 'stream' },
  ),
]

/** Rows 1 to 34 before the commit: the next provider is asked. */
export const spokenFaults: readonly SpokenFault[] = [...connections, ...codes, ...bodies, ...starts]

/** A cut of a stream after its first tokens. */
export interface SpokenCut {
  readonly row: number
  readonly words: string
  readonly spoken: Spoken
  readonly only?: readonly Language['name'][]
  readonly entry?: SpokenFault['entry']
}

type Ending = (exchange: Exchange, language: Language) => Promise<void> | void

/** Begins the text, and then does this. */
function after(text: Piece, ending: Ending): Spoken {
  return (language) => async (exchange) => {
    const { provider } = language
    const begun = [...provider.begin(), ...provider.half(text, 0)]
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...(provider.numbered?.(begun) ?? begun).map(framed)]))
    // Without the pause a reset may overtake the first tokens in the kernel.
    await exchange.pause(20)
    await ending(exchange, language)
  }
}

/** Sends the end of the body behind these events. */
function last(...texts: readonly string[]): Uint8Array {
  return Buffer.concat([...texts.map(framed), lastChunk])
}

/** Rows 29 and 33 to 38 after the commit, in a stream of this text. */
export function spokenCuts(text: Piece): readonly SpokenCut[] {
  const cut = (row: number, words: string, ending: Ending, more: Partial<SpokenCut> = {}): SpokenCut => ({
    row,
    words,
    spoken: after(text, ending),
    ...more,
  })
  const large = `data: {"x":"${'a'.repeat(1024 * 1024)}"}\n\n`
  return [
    cut(29, 'an event above 1 MiB', (exchange) => exchange.write(last(large)), { only: ['chat'] }),
    cut(33, 'an error event', (exchange, { provider }) => exchange.write(last(provider.failure))),
    cut(33, 'an error event by name', (exchange) =>
      exchange.write(last('event: error\ndata: {"message":"it broke"}\n\n')),
    ),
    cut(33, 'an error event that nothing calls so, and a proper end', (exchange, { provider }) =>
      exchange.write(last(unnamedError, ...provider.end([text]))),
    ),
    cut(34, 'a malformed event, and a proper end', (exchange, { provider }) =>
      exchange.write(last('data: {"id": oops\n\n', ...provider.end([text]))),
    ),
    cut(34, 'a malformed event, and no end', (exchange) => exchange.write(last('data: {"id": oops\n\n'))),
    cut(35, 'a reset', (exchange) => exchange.reset()),
    cut(35, 'a close', (exchange) => exchange.close()),
    cut(35, 'a close inside a chunk', async (exchange) => {
      await exchange.write('64\r\ndata: {"id"')
      exchange.close()
    }),
    cut(36, 'a clean end without a finish', (exchange) => exchange.write(lastChunk)),
    cut(38, 'silence', (exchange) => exchange.hang(), { entry: { timeouts: { idle_ms: 300 } } }),
  ]
}

const lost: Piece = { kind: 'text', text: 'never' }
