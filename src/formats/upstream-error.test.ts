import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readUpstreamError } from './upstream-error.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const read = (value: unknown) => readUpstreamError(encode(typeof value === 'string' ? value : JSON.stringify(value)))

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

describe('readUpstreamError', () => {
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
          const error = readUpstreamError(body)
          expect(
            error === undefined ||
              (error.message.length <= 2048 &&
                (error.status === undefined || (error.status >= 400 && error.status <= 599))),
          ).toBeTrue()
        },
      ),
      { numRuns: 1000 },
    )
    expect(readUpstreamError(encode('['.repeat(100_000)))?.message).toHaveLength(2048)
    expect(readUpstreamError(encode(`${'['.repeat(50_000)}${']'.repeat(50_000)}`))).toBeUndefined()
  })
})

describe('an error body designed to be slow to read', () => {
  test.each(['<', '<title', '<script ', '<a <', '<!--', '</', '<>', '&'])('64 KiB of %j are read quickly', (text) => {
    const bytes = new TextEncoder().encode(text.repeat(Math.floor((64 * 1024) / text.length)))
    // The best of three: other work on the machine only makes a run longer.
    const times = [1, 2, 3].map(() => {
      const start = performance.now()
      readUpstreamError(bytes)
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(20)
  })
})
