import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readErrorBody, redact } from './error-body.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const read = (value: unknown) => readErrorBody(encode(typeof value === 'string' ? value : JSON.stringify(value)))

const gemini = {
  error: {
    code: 429,
    message: 'You exceeded your current quota',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.Help' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
    ],
  },
}

describe('readErrorBody', () => {
  test.each([
    [
      'OpenAI',
      { error: { message: 'Bad', type: 'invalid_request_error', param: null, code: 'model_not_found' } },
      { message: 'Bad', type: 'invalid_request_error', code: 'model_not_found' },
    ],
    [
      'OpenAI without a code',
      { error: { message: 'Bad', type: 'server_error', param: null, code: null } },
      { message: 'Bad', type: 'server_error' },
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
      { message: 'Overloaded', type: 'overloaded_error' },
    ],
    [
      'Gemini',
      gemini,
      {
        message: 'You exceeded your current quota',
        type: 'RESOURCE_EXHAUSTED',
        code: '429',
        status: 429,
        retryDelayMs: 34_400,
      },
    ],
    [
      'Gemini in an array',
      [gemini],
      {
        message: 'You exceeded your current quota',
        type: 'RESOURCE_EXHAUSTED',
        code: '429',
        status: 429,
        retryDelayMs: 34_400,
      },
    ],
    ['Azure', { code: 400, message: 'Bad', requestid: 'r' }, { message: 'Bad', code: '400', status: 400 }],
    [
      'Azure content filter',
      {
        error: {
          code: 'content_filter',
          message: 'Filtered',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation' },
        },
      },
      { message: 'Filtered', code: 'content_filter', status: 400 },
    ],
    ['Ollama', { error: 'model "x" not found' }, { message: 'model "x" not found' }],
    [
      'OpenRouter',
      { error: { message: 'Provider returned error', code: 502, metadata: { raw: 'x' } }, user_id: 'u' },
      { message: 'Provider returned error', code: '502', status: 502 },
    ],
    ['FastAPI text', { detail: 'Not Found' }, { message: 'Not Found' }],
    [
      'FastAPI list',
      {
        detail: [
          { loc: ['body', 'model'], msg: 'field required', type: 'missing' },
          { loc: ['body'], msg: 'bad' },
        ],
      },
      { message: 'body.model: field required; body: bad' },
    ],
    ['FastAPI object', { detail: { message: 'Bad', code: 'x' } }, { message: 'Bad', code: 'x' }],
    [
      'vLLM',
      { object: 'error', message: 'too long', type: 'BadRequestError', param: null, code: 400 },
      { message: 'too long', type: 'BadRequestError', code: '400', status: 400 },
    ],
    [
      'Cloudflare',
      { success: false, errors: [{ code: 7009, message: 'No such model' }] },
      { message: 'No such model', code: '7009' },
    ],
    [
      'Mistral',
      { object: 'error', message: { detail: [{ msg: 'x' }] }, type: 'invalid_request_error', code: '1000' },
      { message: '{"detail":[{"msg":"x"}]}', type: 'invalid_request_error', code: '1000' },
    ],
    [
      'xAI',
      { code: 'Client specified an invalid argument', error: 'Incorrect API key' },
      { message: 'Incorrect API key', code: 'Client specified an invalid argument' },
    ],
    ['LiteLLM', { error: { message: 'x', type: null, code: '429' } }, { message: 'x', code: '429', status: 429 }],
    ['errors in a list', { error: [{ message: 'first' }] }, { message: 'first' }],
    ['plain text', ' upstream\n connect   error ', { message: 'upstream connect error' }],
    ['a JSON string', '"overloaded"', { message: 'overloaded' }],
    [
      'HTML with a title',
      '<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>x</body></html>',
      { message: '502 Bad Gateway' },
    ],
    ['HTML without', '<html><style>p{}</style><script>let x</script><p>Gone <b>away</b></p>', { message: 'Gone away' }],
    ['JSON cut off', '{"error":{"message":"x', { message: '{"error":{"message":"x' }],
  ])('reads %s', (_, value, expected) => {
    expect(JSON.parse(JSON.stringify(read(value)))).toEqual(expected)
  })

  test.each(['', '  \n', '{}', '[]', 'null', '1', '{"choices":[]}', '{"error":null}'])('finds none in %j', (text) => {
    const found = read(text)
    expect(found === undefined || found.message === text).toBeTrue()
  })

  test.each([
    ['1s', 1000],
    ['0.5s', 500],
    ['0s', 0],
    ['0.0001s', 1],
    ['5', undefined],
    ['-1s', undefined],
    [5, undefined],
    ['1m', undefined],
    ['99999999999999s', undefined],
  ])('reads retryDelay %j as %p', (retryDelay, expected) => {
    expect(read({ error: { details: [{ retryDelay }] } })?.retryDelayMs).toBe(expected)
  })

  test('limits every field to 2,048 characters', () => {
    const long = '🙂x'.repeat(5000)
    const error = read({ error: { message: long, type: long, code: long } })
    for (const field of [error?.message, error?.type, error?.code, read(long)?.message]) {
      expect(field?.length).toBeLessThanOrEqual(2048)
      expect(field?.isWellFormed()).toBeTrue()
    }
  })

  test('reads any body without throwing', () => {
    const names = fc.constantFrom(
      'error',
      'message',
      'code',
      'status',
      'type',
      'details',
      'detail',
      'errors',
      'retryDelay',
      'loc',
      'msg',
      '__proto__',
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 429, -1, 1e300, '', 'x', '1s'),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(
        fc.oneof(
          value.map((any) => encode(JSON.stringify(any))),
          fc.uint8Array(),
        ),
        (body) => {
          const error = readErrorBody(body)
          expect(
            error === undefined ||
              (error.message.length <= 2048 &&
                (error.status === undefined || (error.status >= 400 && error.status <= 599))),
          ).toBeTrue()
        },
      ),
      { numRuns: 1000 },
    )
    expect(readErrorBody(encode('['.repeat(100_000)))?.message).toHaveLength(2048)
    expect(readErrorBody(encode(`${'['.repeat(50_000)}${']'.repeat(50_000)}`))).toBeUndefined()
  })
})

/** Built from pieces, so that secret scanners do not report them. */
const fake = (prefix: string, length = 32) => prefix + 'a1B2'.repeat(length / 4)

describe('redact', () => {
  test.each([
    ['an OpenAI key', fake('sk-proj-', 48)],
    ['a short key', 'sk-abc123'],
    ['a masked key', 'sk-ab***********wxyz'],
    ['an Anthropic key', fake('sk-ant-api03-')],
    ['a Groq key', fake('gsk_')],
    ['an xAI key', fake('xai-')],
    ['a Google key', fake('AIza')],
    ['a Hugging Face token', fake('hf_')],
    ['an AWS id', fake('AKIA', 16)],
    ['a GitHub token', fake('ghp_')],
    ['a JWT', `${fake('eyJ')}.${fake('eyJ')}.${fake('x_-')}`],
    ['32 hexadecimal digits', '0123456789abcdef0123456789abcdef'],
    ['base64', `${'QUJD'.repeat(12)}==`],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
    ['a URL', 'https://user:word@internal.example:8443/v1/chat?key=x'],
    ['an e-mail address', 'someone.else+x@mail.example.org'],
    ['an IP address', '10.0.12.7:8080'],
    ['a host', 'www.internal.example/x'],
    ['a host with a port', 'db.internal.example:5432'],
    ['an IPv6 address', '2001:db8::ff00:42:8329'],
    ['another', 'fe80::1'],
    ['a whole one', '2001:0db8:0000:0000:0000:ff00:0042:8329'],
  ])('takes out %s', (_, secret) => {
    const text = redact(`Incorrect value provided (${secret}), see the manual`)
    expect(text).not.toContain(secret)
    for (const piece of secret.match(/[\w]{8,}/g) ?? [secret]) expect(text).not.toContain(piece)
    expect(text).toStartWith('Incorrect value provided')
  })

  test('redacts random bytes in every encoding', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 64 }).filter((random) => new Set(random).size > 24)
    fc.assert(
      fc.property(bytes, fc.constantFrom('hex', 'base64'), (random, encoding) => {
        const secret = encoding === 'hex' ? random.toHex() : random.toBase64()
        expect(redact(`bad value (${secret}) given`)).not.toContain(secret)
      }),
    )
  })

  test.each([
    ['Authorization: Bearer abc.def', 'abc'],
    ['authorization=Basic dXNlcg', 'dXNlcg'],
    ['bearer tok123', 'tok123'],
    ['x-api-key: hello', 'hello'],
    ['Cookie: a=b; c=secret', 'a=b'],
    ['{"api_key": "hello"}', 'hello'],
    ['password=hunter2', 'hunter2'],
    ['Incorrect API key provided: hello-there.', 'hello-there'],
    ['token: "hello"', 'hello'],
    ['access_token=hello&x=1', 'hello'],
    ['client secret = hello', 'hello'],
    ['password: "hello there world"', 'there'],
  ])('takes the value out of %j', (text, secret) => {
    expect(redact(text)).not.toContain(secret)
  })

  test.each([
    'The model `llama-3.3-70b-versatile` does not exist or you do not have access to it.',
    'Rate limit reached for gpt-4o-mini in organization on tokens per min (TPM): Limit 200000, Used 199000. ' +
      'Please try again in 1.2s.',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'Unsupported parameter: max_completion_tokens is not supported with this model.',
    'Invalid value for tool_choice: extraordinarily_long_member_name_of_some_kind',
    'Überlastet: bitte später',
    'At 12:34:56 the ratio was 1:2, see std::vector and Foo::bar',
    'model meta-llama/llama-4-scout-17b-16e-instruct is not available, try claude-3-5-sonnet-20241022 or ' +
      'accounts/fireworks/models/qwen3-235b-a22b-instruct-2507',
    'try OpenGVLab/InternVL3_5-241B-A28B-Instruct, DeepSeek-R1-Distill-Qwen-32B, gemma-3n-E4B-it-Q4_K_M or ' +
      'Meta-Llama-3.1-8B-Instruct-FP8',
    'Skipping key-value pairs; keyboards and tokens: 8192, sketches',
  ])('leaves %j as it is', (text) => {
    expect(redact(text)).toBe(text)
  })

  test.each([
    '061c',
    '00ad',
    '034f',
    '180e',
    '200b',
    '200f',
    '202e',
    '2060',
    '2069',
    '206f',
    '3164',
    'fe0f',
    'feff',
    'fff9',
    'e0041',
  ])('removes U+%s, which is invisible', (code) => {
    expect(redact(`a${String.fromCodePoint(Number.parseInt(code, 16))}b`)).toBe('a b')
  })

  test('gives one line without control characters, at most 200 characters', () => {
    expect(redact('a\u0000b\r\n\tc\u001b[31md\u2028e\u202ef')).toBe('a b c [31md e f')
    expect(redact('word '.repeat(100))).toHaveLength(200)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const shown = redact(text)
        expect(shown.length).toBeLessThanOrEqual(200)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u)
        expect(shown.isWellFormed()).toBeTrue()
      }),
    )
  })

  test('leaves no half of a secret at the end', () => {
    expect(redact(`${'word '.repeat(38)}${fake('sk-', 64)}`)).not.toContain('a1B2')
    expect(redact(`${'word '.repeat(406)}${fake('sk-', 64)}`)).not.toContain('a1B2')
  })

  test.each([
    'a',
    '1',
    'a1',
    '-',
    'sk-',
    ' key=',
    '.',
    '@',
    'a@',
    'https://',
    'a.',
    'x-',
    '/',
    'bearer ',
    '1.',
    'a:',
    'f::',
    'a.b',
    'key:"',
    '**',
  ])('is quick on 2,048 characters of %j', (text) => {
    const start = performance.now()
    redact(text.repeat(2048))
    expect(performance.now() - start).toBeLessThan(250)
  })
})

describe('an error body designed to be slow to read', () => {
  test.each(['<', '<title', '<script ', '<a <', '<!--', '</', '<>', '&'])('64 KiB of %j are read quickly', (text) => {
    const bytes = new TextEncoder().encode(text.repeat(Math.floor((64 * 1024) / text.length)))
    // The best of three: other work on the machine only makes a run longer.
    const times = [1, 2, 3].map(() => {
      const start = performance.now()
      readErrorBody(bytes)
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(20)
  })
})
