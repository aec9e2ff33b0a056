import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readUpstreamError, type UpstreamError } from '../formats/upstream-error.ts'
import type { FailureClass, Unsupported } from '../service/failure.ts'
import { classifyAnswered, classifyFailure } from './classify.ts'

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

function errorOf(value: unknown): UpstreamError {
  const error = readUpstreamError(encode(value))
  if (error === undefined) throw new Error('no error')
  return error
}

function classify(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return classifyFailure(
    status,
    new Map(Object.entries(headers)),
    readUpstreamError(new TextEncoder().encode(text)),
    undefined,
    Date.parse('2026-01-01T00:00:00Z'),
  )
}

const openai = (message: string, type: string | null, code: string | null, param: string | null = null) => ({
  error: { message, type, param, code },
})
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_1' })
const gemini = (code: number, status: string, message: string, details?: unknown[]) => ({
  error: { code, message, status, ...(details === undefined ? {} : { details }) },
})
const openrouter = (code: number, message: string, metadata: object = {}) => ({ error: { code, message, metadata } })
const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })

describe('a refusal', () => {
  const byStatus: readonly (readonly [FailureClass, readonly number[]])[] = [
    ['redirect', [301, 302, 303, 307, 308, 304]],
    ['bad_request', [400, 405, 406, 415, 422]],
    ['credential', [401, 403]],
    ['quota', [402]],
    ['model_gone', [404, 410]],
    ['request_timeout', [408]],
    ['conflict', [409, 425]],
    ['context_length', [413]],
    ['rate_limit', [429]],
    ['server_error', [500, 501, 502, 504, 505, 520, 524, 530, 599]],
    ['overloaded', [503, 529]],
    ['unknown_status', [100, 201, 206, 402.5, 418, 451, 499, 600, 999]],
  ]
  test.each(byStatus.flatMap(([failure, statuses]) => statuses.map((status) => [status, failure] as const)))(
    'of status %p that says nothing is %s',
    (status, expected) => {
      const failure = classify(status, '')
      expect(failure).toMatchObject({ failure: expected, status, message: `status ${status}` })
    },
  )

  test('of a server is not a content policy, with any text', () => {
    expect(classify(500, openai('the safety content_filter crashed', null, null)).failure).toBe('server_error')
  })

  test('never contains keys, addresses or more than some 200 characters', () => {
    const failure = classify(
      401,
      openai(
        'Incorrect API key provided: sk-proj-abcdefghijklmnop1234567890. See https://example.com/keys ' +
          'x '.repeat(500),
        null,
        'invalid_api_key',
      ),
    )
    expect(failure.message).toStartWith('status 401: ')
    expect(failure.message).not.toContain('abcdefghijklmnop')
    expect(failure.message).not.toContain('example.com')
    expect(failure.message.length).toBeLessThan(230)
  })

  const waits: readonly (readonly [string, Readonly<Record<string, string>>, unknown, number | undefined])[] = [
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, '', 1_500],
    ['milliseconds, as Azure names them', { 'x-ms-retry-after-ms': '1500', 'retry-after': '9' }, '', 1_500],
    ['seconds', { 'retry-after': '9' }, '', 9_000],
    [
      "a date against the upstream's own",
      { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT', date: 'Thu, 01 Jan 2026 00:00:10 GMT' },
      '',
      20_000,
    ],
    ['a date against our clock', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, '', 30_000],
    [
      "Gemini's retryDelay",
      { 'retry-after': '9' },
      gemini(429, 'RESOURCE_EXHAUSTED', 'Slow down', [retryInfo('34.4s')]),
      34_400,
    ],
    [
      "Gemini's retryDelay, at most 24 hours",
      {},
      gemini(429, 'RESOURCE_EXHAUSTED', 'Slow down', [retryInfo('99999s')]),
      86_400_000,
    ],
    ['nonsense', { 'retry-after': 'soon' }, '', undefined],
    ['nothing', {}, '', undefined],
  ]
  test.each(waits)('has the wait of %s', (_name, headers, body, expected) => {
    expect(classify(429, body, headers).retryAfterMs).toBe(expected)
  })

  test('is classified, with any body', () => {
    const anyBody = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map((text) => new TextEncoder().encode(text)),
      fc
        .record(
          {
            error: fc.anything({ maxDepth: 3 }),
            code: fc.anything({ maxDepth: 1 }),
            message: fc.anything({ maxDepth: 1 }),
            detail: fc.anything({ maxDepth: 2 }),
          },
          { requiredKeys: [] },
        )
        .map((value) =>
          new TextEncoder().encode(
            JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? String(each) : each)),
          ),
        ),
    )
    const headers = fc.dictionary(fc.constantFrom('retry-after', 'retry-after-ms', 'date', 'x'), fc.string())
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), anyBody, headers, (status, body, given) => {
        const failure = classifyFailure(status, new Map(Object.entries(given)), readUpstreamError(body))
        expect(failure.status).toBe(status)
        expect(failure.message.length).toBeLessThan(230)
        expect(failure.retryAfterMs ?? 0).toBeWithin(0, 86_400_001)
      }),
      { numRuns: 300 },
    )
  })

  test('is classified quickly from a very long text', () => {
    const started = performance.now()
    for (const text of ['exceeds the maximum ', 'model ', 'a.', '-_ ', 'sk-'])
      classify(400, openai(text.repeat(50_000), null, null))
    expect(performance.now() - started).toBeLessThan(500)
  })
})

test('a refusal of a kind of input is about the request, with any status', () => {
  for (const status of [400, 401, 403, 404, 409, 418, 422, 429, 500, 501, 503, 529])
    expect(classify(status, { error: { message: 'image input is not supported' } }).failure).toBe('bad_request')
})

const amazon: readonly (readonly [type: string, status: number, body: unknown, expected: FailureClass])[] = [
  ['ThrottlingException', 429, { message: 'Too many requests, please wait before trying again.' }, 'rate_limit'],
  ['ThrottlingException', 429, { message: 'Too many tokens, please wait before trying again.' }, 'rate_limit'],
  ['ThrottlingException', 429, { message: 'Too many tokens per day, please wait before trying again.' }, 'quota'],
  ['ModelNotReadyException', 429, { message: 'Model is not ready for inference.' }, 'overloaded'],
  ['ServiceQuotaExceededException', 400, { message: 'Your request exceeds the service quota.' }, 'quota'],
  ['ValidationException', 400, { message: 'The provided model identifier is invalid.' }, 'model_gone'],
  [
    'ValidationException',
    400,
    { message: "Invocation of model ID m with on-demand throughput isn't supported. Retry with an inference profile." },
    'model_gone',
  ],
  ['ValidationException', 400, { message: 'Input is too long for requested model.' }, 'context_length'],
  ['ValidationException', 400, { Message: 'Malformed input request' }, 'bad_request'],
  [
    'AccessDeniedException',
    403,
    { message: "You don't have access to the model with the specified model ID." },
    'model_gone',
  ],
  [
    'AccessDeniedException',
    403,
    { Message: 'User: arn:aws:iam::1:user/u is not authorized to perform: bedrock:InvokeModel on resource: m' },
    'model_gone',
  ],
  ['AccessDeniedException', 403, { message: 'The security token included in the request is expired' }, 'credential'],
  ['ResourceNotFoundException', 404, { message: 'Could not resolve the foundation model' }, 'model_gone'],
  ['ModelTimeoutException', 408, { message: 'Model took too long' }, 'request_timeout'],
  ['ModelErrorException', 424, { message: 'The model failed', originalStatusCode: 500 }, 'server_error'],
  ['ModelStreamErrorException', 424, '', 'server_error'],
  ['InternalServerException', 500, { message: 'oops' }, 'server_error'],
  ['ServiceUnavailableException', 503, { message: 'busy' }, 'overloaded'],
]

describe('what a refusal says is not supported', () => {
  test.each<readonly [string, Unsupported | undefined]>([
    ["Unsupported parameter: 'reasoning_effort' is not supported with this model.", 'effort'],
    ['This model does not support the effort parameter', 'effort'],
    ['output_config.format: Extra inputs are not permitted', 'schema'],
    ["'response_format' of type json_schema is not supported", 'schema'],
    ['This model does not support image inputs', 'image'],
    ['messages.0.content.1: PDFs are not supported', 'document'],
    ['Encrypted content is not supported with this model. thinking block', 'reasoning'],
    ['Unknown parameter: temperature. See the documentation', undefined],
    ['Tool parameters: this JSON schema keyword is not supported', undefined],
    ['The image could not be loaded. The field x is not supported', undefined],
  ])('is known: %s', (message, expected) => {
    expect(classifyFailure(400, new Map(), errorOf({ message })).unsupported).toBe(expected)
  })
})

describe('a refusal of the reasoning of earlier answers', () => {
  const refusals: readonly (readonly [string, object])[] = [
    ['Anthropic', { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' }],
    ['Anthropic', { message: 'messages.1.content.0.thinking.signature: Field required' }],
    [
      'Anthropic',
      { message: 'messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.' },
    ],
    ['OpenAI', { message: 'The encrypted content gAAA could not be verified.', code: 'invalid_encrypted_content' }],
    ['OpenAI', { message: 'No', code: 'invalid_encrypted_content' }],
    ['OpenAI', { message: "Item 'rs_1' of type 'reasoning' was provided without its required following item." }],
    ['Gemini', { message: 'Function call is missing a thought_signature in functionCall parts.' }],
  ]
  test.each(refusals)('of %s is known: %j', (_provider, error) => {
    expect(classifyFailure(400, new Map(), errorOf(error))).toMatchObject({
      failure: 'bad_request',
      refusesReasoning: true,
    })
  })

  test.each<readonly [number, object]>([
    [400, { message: 'adaptive thinking is not supported on this model' }],
    [400, { message: "'max_tokens' must be greater than 'thinking.budget_tokens'" }],
    [403, { message: 'The request signature we calculated does not match the signature you provided.' }],
    [500, { message: 'reasoning item' }],
  ])('is none with %p: %j', (status, error) => {
    expect(classifyFailure(status, new Map(), errorOf(error)).refusesReasoning).toBe(false)
  })
})

describe('a refusal of Amazon', () => {
  test.each(amazon)('of type %s with %p and %j is %s', (type, status, body, expected) => {
    const headers = { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` }
    expect(classify(status, body, headers).failure).toBe(expected)
  })

  test('from the gateway in front of it says why in "Message"', () => {
    expect(classify(403, { Message: 'Missing Authentication Token' }).message).toBe(
      'status 403: Missing Authentication Token',
    )
  })

  test('with 424 alone is an error of the server', () => {
    expect(classify(424, '').failure).toBe('server_error')
  })
})

describe('an error inside a 200 answer has the class of its words', () => {
  const cases: readonly (readonly [FailureClass, unknown])[] = [
    ['rate_limit', openrouter(429, 'Rate limit exceeded')],
    ['quota', openrouter(402, 'Insufficient credits')],
    ['rate_limit', openai('slow down', 'rate_limit_error', null)],
    ['quota', openai('no money', 'insufficient_quota', 'insufficient_quota')],
    ['credential', openai('no', 'authentication_error', null)],
    ['context_length', openai('too long', 'invalid_request_error', 'context_length_exceeded')],
    ['bad_request', openai('no', 'invalid_request_error', null)],
    ['model_gone', openai('no', 'invalid_request_error', 'model_not_found')],
    ['overloaded', anthropic('overloaded_error', 'Overloaded')],
    ['server_error', anthropic('api_error', 'Internal server error')],
    ['overloaded', gemini(503, 'UNAVAILABLE', 'overloaded')],
    ['rate_limit', { error: { message: 'x', status: 'RESOURCE_EXHAUSTED' } }],
    ['server_error', { error: { message: 'x', status: 'DEADLINE_EXCEEDED' } }],
    ['overloaded', { error: { message: 'x', code: '503' } }],
    ['bad_request', { object: 'error', message: 'x', type: 'BadRequestError', code: 400 }],
    ['server_error', openai('something', null, null)],
    ['server_error', { error: 'something went wrong' }],
    ['server_error', { error: { message: 'x', code: 'constructor' } }],
    ['server_error', { error: { message: 'x', code: 200 } }],
    ['server_error', { error: { message: 'x', code: 12 } }],
    ['quota', { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }],
    ['credential', { base_resp: { status_code: 2049, status_msg: 'invalid api key' } }],
    ['rate_limit', { error_code: 18, error_msg: 'Open api qps request limit reached' }],
    ['overloaded', { detail: 'Infrastructure is at maximum capacity, try again later' }],
  ]
  test.each(cases)('%s: %j', (expected, body) => {
    expect(classifyAnswered(errorOf(body))).toMatchObject({ failure: expected, status: 200 })
  })
})

describe('a text about policy that is not a refusal by policy', () => {
  test.each([
    [403, 'Your account has been flagged for suspicious activity', 'credential'],
    [403, 'Your organization was flagged for review', 'credential'],
    [403, 'Your request was blocked because your account was flagged', 'credential'],
    [403, 'The API key used in this request was flagged as leaked', 'credential'],
    [400, 'Unknown parameter: safety', 'bad_request'],
    [400, "Invalid value for 'safety': expected an object", 'bad_request'],
    [400, 'Your request was rejected by our safety system', 'content_policy'],
    [400, 'The input was flagged as harmful', 'content_policy'],
  ])('%i %s is %s', (status, message, failure) => {
    expect(classifyFailure(status, new Map(), errorOf({ message })).failure).toBe(failure as FailureClass)
  })

  test.each(['content_filter', 'content_policy_violation', 'safety'])(
    'an error in a 200 whose code is %s is a refusal by policy',
    (code) => {
      expect(classifyAnswered(errorOf({ message: 'no', code }))).toMatchObject({
        failure: 'content_policy',
        isFinal: true,
      })
    },
  )
})
