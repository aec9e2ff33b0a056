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
const azure = (code: string, message: string, more: object = {}) => ({ error: { code, message, ...more } })
const openrouter = (code: number, message: string, metadata: object = {}) => ({ error: { code, message, metadata } })
const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })

type Case = readonly [provider: string, status: number, says: string, body: unknown, expected: FailureClass]

const real: readonly Case[] = [
  [
    'OpenAI',
    401,
    'a wrong key',
    openai(
      'Incorrect API key provided: sk-abc***xyz. You can find your API key at ' +
        'https://platform.openai.com/account/api-keys.',
      'invalid_request_error',
      'invalid_api_key',
    ),
    'credential',
  ],
  [
    'OpenAI',
    403,
    'a country it does not serve',
    openai('Country, region, or territory not supported', 'request_forbidden', 'unsupported_country_region_territory'),
    'credential',
  ],
  [
    'OpenAI',
    404,
    'no such model',
    openai(
      'The model `gpt-9` does not exist or you do not have access to it.',
      'invalid_request_error',
      'model_not_found',
    ),
    'model_gone',
  ],
  [
    'OpenAI',
    429,
    'too many requests',
    openai(
      'Rate limit reached for gpt-4o in organization org-abc on requests per min (RPM): Limit 3, Used 3, ' +
        'Requested 1. Please try again in 20s.',
      'requests',
      'rate_limit_exceeded',
    ),
    'rate_limit',
  ],
  [
    'OpenAI',
    429,
    'too many tokens, and where to pay for more',
    openai(
      'Rate limit reached for gpt-4 in organization org-x on tokens per min. Limit: 10000 / min. Please try ' +
        'again in 6ms. You can increase your rate limit by adding a payment method to your account at ' +
        'https://platform.openai.com/account/billing.',
      'tokens',
      'rate_limit_exceeded',
    ),
    'rate_limit',
  ],
  [
    'OpenAI',
    400,
    'a parameter named moderation',
    openai("Unknown parameter: 'moderation'.", 'invalid_request_error', 'unknown_parameter', 'moderation'),
    'bad_request',
  ],
  [
    'OpenAI',
    429,
    'no money left',
    openai(
      'You exceeded your current quota, please check your plan and billing details. For more information on ' +
        'this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    'quota',
  ],
  [
    'OpenAI',
    400,
    'a spending limit',
    openai('Billing hard limit has been reached', 'invalid_request_error', 'billing_hard_limit_reached'),
    'quota',
  ],
  [
    'OpenAI',
    400,
    'too long a prompt',
    openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10023 tokens. " +
        'Please reduce the length of the messages.',
      'invalid_request_error',
      'context_length_exceeded',
      'messages',
    ),
    'context_length',
  ],
  [
    'OpenAI',
    400,
    'a parameter the model does not take',
    openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'invalid_request_error',
      'unsupported_parameter',
      'max_tokens',
    ),
    'bad_request',
  ],
  [
    'OpenAI',
    400,
    'a value the model does not take',
    openai(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      'invalid_request_error',
      'unsupported_value',
      'temperature',
    ),
    'bad_request',
  ],
  [
    'OpenAI',
    400,
    'a wrong schema',
    openai(
      "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required to be " +
        'supplied and to be false.',
      'invalid_request_error',
      null,
      'response_format',
    ),
    'bad_request',
  ],
  [
    'OpenAI',
    400,
    'its policy',
    openai(
      'Your request was rejected as a result of our safety system.',
      'invalid_request_error',
      'content_policy_violation',
    ),
    'content_policy',
  ],
  [
    'OpenAI',
    500,
    'its own fault',
    openai('The server had an error while processing your request. Sorry about that!', 'server_error', null),
    'server_error',
  ],
  [
    'OpenAI',
    503,
    'its overload',
    openai('The engine is currently overloaded, please try again later', 'server_error', null),
    'overloaded',
  ],
  [
    'Anthropic',
    400,
    'a wrong field',
    anthropic('invalid_request_error', 'messages: roles must alternate between "user" and "assistant"'),
    'bad_request',
  ],
  [
    'Anthropic',
    400,
    'too many tokens to put out',
    anthropic(
      'invalid_request_error',
      'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022',
    ),
    'bad_request',
  ],
  [
    'Anthropic',
    400,
    'too long a prompt',
    anthropic('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    'context_length',
  ],
  [
    'Anthropic',
    400,
    'too long a prompt for the answer that is asked for',
    anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or ' +
        '`max_tokens` and try again',
    ),
    'context_length',
  ],
  [
    'Text Generation Inference',
    422,
    'too long a prompt for the answer that is asked for',
    {
      error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens',
      error_type: 'validation',
    },
    'context_length',
  ],
  [
    'Text Generation Inference',
    422,
    'too long a prompt',
    {
      error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
      error_type: 'validation',
    },
    'context_length',
  ],
  [
    'Anthropic',
    400,
    'no money left',
    anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or ' +
        'purchase credits.',
    ),
    'quota',
  ],
  [
    'Anthropic',
    400,
    'its policy',
    anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
    'content_policy',
  ],
  ['Anthropic', 401, 'a wrong key', anthropic('authentication_error', 'invalid x-api-key'), 'credential'],
  ['Anthropic', 402, 'an unpaid bill', anthropic('billing_error', 'There is an issue with your billing'), 'quota'],
  [
    'Anthropic',
    403,
    'no permission',
    anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'),
    'credential',
  ],
  ['Anthropic', 404, 'no such model', anthropic('not_found_error', 'model: claude-9'), 'model_gone'],
  [
    'Anthropic',
    413,
    'too large a body',
    anthropic('request_too_large', 'Request exceeds the maximum size'),
    'context_length',
  ],
  [
    'Anthropic',
    429,
    'too many tokens a minute',
    anthropic(
      'rate_limit_error',
      "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    ),
    'rate_limit',
  ],
  ['Anthropic', 500, 'its own fault', anthropic('api_error', 'Internal server error'), 'server_error'],
  ['Anthropic', 529, 'its overload', anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
  [
    'Gemini',
    400,
    'a wrong key',
    gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
    'credential',
  ],
  [
    'Gemini',
    400,
    'an expired key',
    gemini(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.'),
    'credential',
  ],
  [
    'Gemini',
    400,
    'a wrong field',
    gemini(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received. Unknown name "foo": Cannot find field.'),
    'bad_request',
  ],
  [
    'Gemini',
    400,
    'a prompt that it refuses',
    gemini(400, 'INVALID_ARGUMENT', "Your prompt contains words that violate Google's Responsible AI practices."),
    'content_policy',
  ],
  [
    'Gemini',
    400,
    'a wrong setting of safety',
    gemini(400, 'INVALID_ARGUMENT', '* GenerateContentRequest.safety_settings[0]: element predicate failed'),
    'bad_request',
  ],
  [
    'Gemini',
    400,
    'too long a prompt',
    gemini(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    'context_length',
  ],
  [
    'Gemini',
    403,
    'no permission',
    gemini(403, 'PERMISSION_DENIED', 'Permission denied: Consumer has been suspended.'),
    'credential',
  ],
  [
    'Gemini',
    404,
    'no such model',
    gemini(
      404,
      'NOT_FOUND',
      'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
    ),
    'model_gone',
  ],
  [
    'Gemini',
    429,
    'a passing limit it calls quota',
    gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
      retryInfo('34.4s'),
    ]),
    'rate_limit',
  ],
  [
    'Gemini',
    429,
    'a lasting quota',
    gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'),
    'quota',
  ],
  [
    'Gemini',
    429,
    'a shortage of its own',
    gemini(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
    'rate_limit',
  ],
  [
    'Gemini',
    503,
    'its overload',
    gemini(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    'overloaded',
  ],
  ['Gemini', 504, 'its time running out', gemini(504, 'DEADLINE_EXCEEDED', 'The request timed out.'), 'server_error'],
  [
    'Groq',
    400,
    'a model it took away',
    openai(
      'The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported. Please refer to ' +
        'https://console.groq.com/docs/deprecations',
      'invalid_request_error',
      'model_decommissioned',
    ),
    'model_gone',
  ],
  [
    'Groq',
    400,
    'a tool call the model got wrong',
    openai(
      "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      'invalid_request_error',
      'tool_use_failed',
    ),
    'bad_request',
  ],
  ['Groq', 401, 'a wrong key', openai('Invalid API Key', 'invalid_request_error', 'invalid_api_key'), 'credential'],
  [
    'Groq',
    413,
    'a request larger than its limit',
    openai(
      'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 8000',
      'tokens',
      'rate_limit_exceeded',
    ),
    'context_length',
  ],
  [
    'Groq',
    429,
    'too many tokens, and where to pay for more',
    openai(
      'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01` service tier ' +
        '`on_demand` on tokens per minute (TPM): Limit 12000, Used 11000, Requested 2000. Please try again in ' +
        '5s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      'tokens',
      'rate_limit_exceeded',
    ),
    'rate_limit',
  ],
  [
    'Groq',
    498,
    'no room in its flex tier',
    openai('Flex tier capacity exceeded', 'capacity', 'capacity_exceeded'),
    'rate_limit',
  ],
  ['Mistral', 401, 'a wrong key', { message: 'Unauthorized', request_id: 'abc' }, 'credential'],
  [
    'Mistral',
    400,
    'no such model',
    { object: 'error', message: 'Invalid model: mistral-foo', type: 'invalid_model', param: null, code: '1500' },
    'model_gone',
  ],
  [
    'Mistral',
    422,
    'a wrong field',
    {
      object: 'error',
      message: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
      type: 'invalid_request_error',
    },
    'bad_request',
  ],
  [
    'Mistral',
    422,
    'a wrong field, as FastAPI does',
    {
      detail: [
        { loc: ['body', 'temperature'], msg: 'ensure this value is less than or equal to 1.5', type: 'value_error' },
      ],
    },
    'bad_request',
  ],
  ['Mistral', 429, 'too many requests', { message: 'Requests rate limit exceeded' }, 'rate_limit'],
  [
    'Mistral',
    429,
    'a full tier',
    {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'service_tier_capacity_exceeded',
      param: null,
      code: '3505',
    },
    'rate_limit',
  ],
  ['OpenRouter', 400, 'no such model', openrouter(400, 'openai/gpt-9 is not a valid model ID'), 'model_gone'],
  ['OpenRouter', 401, 'a wrong key', openrouter(401, 'No auth credentials found'), 'credential'],
  [
    'OpenRouter',
    402,
    'no money left',
    openrouter(402, 'Insufficient credits. Add more using https://openrouter.ai/credits'),
    'quota',
  ],
  [
    'OpenRouter',
    403,
    'moderation',
    openrouter(403, 'Your chosen model requires moderation and your input was flagged for "violence"', {
      reasons: ['violence'],
    }),
    'content_policy',
  ],
  ['OpenRouter', 408, 'its time running out', openrouter(408, 'Request timed out'), 'request_timeout'],
  ['OpenRouter', 429, 'too many requests', openrouter(429, 'Rate limit exceeded: free-models-per-min'), 'rate_limit'],
  [
    'OpenRouter',
    502,
    'a broken provider',
    openrouter(502, 'Provider returned error', { provider_name: 'X' }),
    'server_error',
  ],
  [
    'OpenRouter',
    503,
    'no provider',
    openrouter(503, 'No available model provider that meets your routing requirements'),
    'overloaded',
  ],
  [
    'Azure',
    400,
    'its filter',
    azure(
      'content_filter',
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please " +
        'modify your prompt and retry.',
      { status: 400, innererror: { code: 'ResponsibleAIPolicyViolation' } },
    ),
    'content_policy',
  ],
  [
    'Azure',
    400,
    'too long a prompt',
    openai("This model's maximum context length is 16385 tokens.", 'invalid_request_error', 'context_length_exceeded'),
    'context_length',
  ],
  [
    'Azure',
    401,
    'a wrong key',
    azure('401', 'Access denied due to invalid subscription key or wrong API endpoint.'),
    'credential',
  ],
  [
    'Azure',
    401,
    'a wrong key, without an envelope',
    { statusCode: 401, message: 'Unauthorized. Access token is missing, invalid or expired.' },
    'credential',
  ],
  [
    'Azure',
    404,
    'no such deployment',
    azure('DeploymentNotFound', 'The API deployment for this resource does not exist.'),
    'model_gone',
  ],
  [
    'Azure',
    429,
    'too many tokens a minute',
    azure(
      '429',
      'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-06-01 have ' +
        'exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds.',
    ),
    'rate_limit',
  ],
  [
    'vLLM',
    400,
    'too long a prompt',
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the " +
        'messages. Please reduce the length of the messages.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    'context_length',
  ],
  [
    'vLLM',
    404,
    'no such model',
    { object: 'error', message: 'The model `foo` does not exist.', type: 'NotFoundError', param: null, code: 404 },
    'model_gone',
  ],
  ['vLLM', 401, 'a wrong key', { error: 'Unauthorized' }, 'credential'],
  ['vLLM', 500, 'its own fault', 'Internal Server Error', 'server_error'],
  ['Ollama', 404, 'no such model', { error: "model 'foo' not found" }, 'model_gone'],
  [
    'Ollama',
    400,
    'a wrong field',
    { error: 'json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message' },
    'bad_request',
  ],
  [
    'Ollama',
    500,
    'a crash',
    {
      error: {
        message: 'llama runner process has terminated: signal: killed',
        type: 'api_error',
        param: null,
        code: null,
      },
    },
    'server_error',
  ],
  [
    'Ollama',
    503,
    'a full queue',
    { error: 'server busy, please try again.  maximum pending requests exceeded' },
    'overloaded',
  ],
  [
    'llama.cpp',
    400,
    'too long a prompt',
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5000,
        n_ctx: 4096,
      },
    },
    'context_length',
  ],
  [
    'llama.cpp',
    503,
    'that it is loading',
    { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
    'overloaded',
  ],
  ['DeepSeek', 402, 'no money left', openai('Insufficient Balance', 'unknown_error', 'invalid_request_error'), 'quota'],
  [
    'xAI',
    400,
    'a wrong key',
    {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: xa***90. You can obtain an API key from https://console.x.ai.',
    },
    'credential',
  ],
  [
    'a balancer',
    502,
    'a page',
    '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>',
    'server_error',
  ],
  ['a balancer', 503, 'nothing', '', 'overloaded'],
  ['Cloudflare', 524, 'a page', '<!DOCTYPE html><title>example.com | 524: A timeout occurred</title>', 'server_error'],
]

describe('a refusal', () => {
  test.each(real)('of %s with %p and %s', (_provider, status, _says, body, expected) => {
    expect(classify(status, body).failure).toBe(expected)
  })

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

  test('is final when it is about content, and only then', () => {
    for (const [, status, , body, expected] of real)
      expect(classify(status, body).isFinal).toBe(expected === 'content_policy')
  })

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

const speaksOfRequest: readonly Case[] = [
  [
    'llama.cpp',
    500,
    'no pictures',
    {
      error: {
        code: 500,
        message: 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
        type: 'server_error',
      },
    },
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'no sound',
    {
      error: {
        code: 500,
        message: 'audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
        type: 'server_error',
      },
    },
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'no pictures, before it had projectors',
    {
      error: {
        code: 500,
        message: 'Failed to parse messages: Unsupported content part type: "image_url"; messages = [{"role":"user"}]',
        type: 'server_error',
      },
    },
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'an order of roles',
    {
      error: {
        code: 500,
        message:
          'Conversation roles must alternate user/assistant/user/assistant/... at row 19, column 27: ' +
          "{{ raise_exception('…') }}",
        type: 'server_error',
      },
    },
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'no tools',
    { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'too long a prompt',
    {
      error: {
        code: 500,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'server_error',
      },
    },
    'context_length',
  ],
  [
    'LM Studio',
    500,
    'an order of roles',
    {
      error:
        'Error rendering prompt with jinja template: "After the optional system message, conversation roles ' +
        'must alternate user/assistant"',
    },
    'bad_request',
  ],
  [
    'Ollama',
    500,
    'no pictures',
    { error: { message: 'this model is missing data required for image input', type: 'api_error' } },
    'bad_request',
  ],
  ['Ollama', 400, 'no pictures', { error: 'this model does not support image input (ref: 1)' }, 'bad_request'],
  [
    'Ollama',
    400,
    'no tools',
    { error: { message: 'registry.ollama.ai/library/gemma:2b does not support tools', type: 'api_error' } },
    'bad_request',
  ],
  [
    'a proxy',
    500,
    'no tools',
    { error: { message: "gemma:2b doesn't support tools", type: 'api_error' } },
    'bad_request',
  ],
  [
    'NVIDIA',
    500,
    'an order of roles',
    { detail: "chat messages must alternate roles between 'user' and 'assistant'." },
    'bad_request',
  ],
  [
    'LiteLLM',
    500,
    'a wrong field',
    { error: { message: "litellm.BadRequestError: OpenAIException - Invalid 'tools'", type: null, code: '500' } },
    'bad_request',
  ],
  [
    'LiteLLM',
    500,
    'too long a prompt',
    { error: { message: 'litellm.ContextWindowExceededError: prompt', code: '500' } },
    'context_length',
  ],
  ['OpenRouter', 404, 'no pictures', openrouter(404, 'No endpoints found that support image input'), 'bad_request'],
  [
    'OpenRouter',
    404,
    'no tools',
    openrouter(404, 'No endpoints found that support tool use. Try disabling "now".'),
    'bad_request',
  ],
  [
    'OpenRouter',
    404,
    'no provider its owner allows',
    openrouter(404, 'No endpoints found matching your data policy (Free model publication).'),
    'model_gone',
  ],
  [
    'vLLM',
    501,
    'no pictures',
    { object: 'error', message: 'foo is not a multimodal model', type: 'BadRequestError', code: 501 },
    'bad_request',
  ],
  [
    'DeepSeek',
    422,
    'no pictures',
    { error: { message: 'messages[0]: unknown variant `image_url`, expected `text`', type: 'invalid_request_error' } },
    'bad_request',
  ],
  [
    'Bedrock',
    403,
    'no pictures',
    { message: "This model doesn't support the image content block that you provided." },
    'bad_request',
  ],
  [
    'Gemini',
    503,
    'no pictures',
    gemini(503, 'UNAVAILABLE', 'Image input modality is not enabled for models/gemma-3-1b-it'),
    'bad_request',
  ],
  [
    'llama.cpp',
    500,
    'a crash over a picture',
    { error: { code: 500, message: 'failed to process image', type: 'server_error' } },
    'server_error',
  ],
  ['a balancer', 503, 'an image that is missing', 'no container image available on this host', 'overloaded'],
  [
    'a server',
    500,
    'a crash over a batch',
    { error: { message: 'CUDA error: operation not supported' } },
    'server_error',
  ],
  [
    'Groq',
    400,
    'a model for pictures it took away',
    openai('The model `llama-3.2-90b-vision-preview` has been decommissioned and is no longer supported.', null, null),
    'model_gone',
  ],
  [
    'a proxy',
    400,
    'too many tokens to put out',
    openai("max_tokens: 9000 exceeds the model's maximum of 4096 tokens", null, null),
    'bad_request',
  ],
  [
    'Anthropic',
    400,
    'too many tokens to put out',
    openai('max_tokens (100000) exceeds the maximum of 8192 output tokens', null, null),
    'bad_request',
  ],
]

describe('a refusal about the request does not count against the health of the provider', () => {
  test.each(speaksOfRequest)('of %s with %p and %s', (_provider, status, _says, body, expected) => {
    expect(classify(status, body).failure).toBe(expected)
  })

  test('a kind of input, with any status', () => {
    for (const status of [400, 401, 403, 404, 409, 418, 422, 429, 500, 501, 503, 529])
      expect(classify(status, { error: { message: 'image input is not supported' } }).failure).toBe('bad_request')
  })
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
