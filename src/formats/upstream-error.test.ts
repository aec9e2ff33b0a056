import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../base/testing.ts'
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

interface Read {
  readonly texts: readonly string[]
  readonly codes?: readonly string[]
  readonly status?: number
  readonly waits?: Readonly<Record<string, string>>
  readonly isPassedOn?: true
}

describe('readUpstreamError', () => {
  test.each<readonly [string, unknown, Read]>([
    [
      'OpenAI',
      { error: { message: 'Bad', type: 'invalid_request_error', param: null, code: 'model_not_found' } },
      { texts: ['Bad'], codes: ['model_not_found', 'invalid_request_error'] },
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
      { texts: ['Overloaded'], codes: ['overloaded_error', 'error'] },
    ],
    [
      'Gemini',
      gemini,
      {
        texts: ['You exceeded your current quota'],
        codes: ['429', 'RESOURCE_EXHAUSTED'],
        status: 429,
        waits: { retrydelay: '34.4s' },
      },
    ],
    [
      'Gemini in an array',
      [gemini.error],
      { texts: ['You exceeded your current quota'], waits: { retrydelay: '34.4s' } },
    ],
    ['Azure', { code: 400, message: 'Bad', requestid: 'r' }, { texts: ['Bad'], codes: ['400'], status: 400 }],
    [
      'Azure content filter',
      { error: { code: 'content_filter', message: 'Filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      { texts: ['Filtered'], codes: ['content_filter', 'ResponsibleAIPolicyViolation'] },
    ],
    ['Ollama', { error: 'model "x" not found' }, { texts: ['model "x" not found'] }],
    [
      'OpenRouter, with the reason of the provider first',
      { error: { message: 'Provider returned error', code: 502, metadata: { raw: '{"error":{"message":"inner"}}' } } },
      { texts: ['inner', 'Provider returned error'], status: 502, isPassedOn: true },
    ],
    [
      'OpenRouter, with the reason as an object',
      { error: { message: 'Provider returned error', metadata: { raw: { error: { message: 'inner', code: 'c' } } } } },
      { texts: ['inner', 'Provider returned error'], codes: ['c'], isPassedOn: true },
    ],
    [
      "OpenRouter's headers",
      { error: { message: 'Slow', code: 429, metadata: { headers: { 'X-RateLimit-Reset': '1767225640000' } } } },
      { texts: ['Slow'], status: 429, waits: { 'x-ratelimit-reset': '1767225640000' } },
    ],
    [
      'a gateway before a gateway',
      { error: { message: 'Error from provider(a: 429): {"error":{"message":"{\\"detail\\":\\"deep\\"}"}}' } },
      { texts: ['deep', 'Error from provider(a: 429):'], isPassedOn: true },
    ],
    ['FastAPI text', { detail: 'Not Found' }, { texts: ['Not Found'] }],
    [
      'FastAPI list',
      {
        detail: [
          { loc: ['body', 'model'], msg: 'field required', type: 'missing' },
          { loc: ['body'], msg: 'bad' },
        ],
      },
      { texts: ['body.model: field required; body: bad'] },
    ],
    ['FastAPI object', { detail: { message: 'Bad', code: 'x' } }, { texts: ['Bad'], codes: ['x'] }],
    [
      'Cloudflare',
      { success: false, errors: [{ code: 7009, message: 'No such model' }] },
      { texts: ['No such model'], codes: ['7009'] },
    ],
    [
      'Mistral',
      { object: 'error', message: { detail: [{ msg: 'x' }] }, type: 'invalid_request_error', code: '1000' },
      { texts: ['x'], codes: ['1000', 'invalid_request_error'] },
    ],
    [
      'xAI',
      { code: 'Client specified an invalid argument', error: 'Incorrect API key' },
      { texts: ['Incorrect API key'], codes: ['Client specified an invalid argument'] },
    ],
    ['Scaleway', { error: 'denied', message: 'Your key is wrong' }, { texts: ['Your key is wrong', 'denied'] }],
    [
      'MiniMax',
      { base_resp: { status_code: 1008, status_msg: 'no balance' } },
      { texts: ['no balance'], codes: ['1008'] },
    ],
    ['Baidu', { error_code: 18, error_msg: 'too fast' }, { texts: ['too fast'], codes: ['18'] }],
    [
      'Volcengine',
      { ResponseMetadata: { Error: { Code: 'AccessDenied', Message: 'No' } } },
      { texts: ['No'], codes: ['AccessDenied'] },
    ],
    [
      'Google with a reason',
      { error: { message: 'No', details: [{ reason: 'API_KEY_INVALID' }, { description: 'x' }] } },
      { texts: ['No'], codes: ['API_KEY_INVALID'] },
    ],
    ['Codex', { error: { message: 'x', resets_in_seconds: 60 } }, { texts: ['x'], waits: { resets_in_seconds: '60' } }],
    [
      'JSON of a request in a text',
      { error: 'Bad: [{"role":"user","content":"q"}]' },
      { texts: ['Bad: [{"role":"user","content":"q"}]'] },
    ],
    ['plain text', ' upstream\n connect   error ', { texts: ['upstream connect error'] }],
    ['a JSON string', '"overloaded"', { texts: ['overloaded'] }],
    [
      'HTML with a title',
      '<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>x</body></html>',
      { texts: ['502 Bad Gateway'] },
    ],
    ['HTML without', '<html><style>p{}</style><script>let x</script><p>Gone <b>away</b></p>', { texts: ['Gone away'] }],
    [
      'a failed response, without what it repeats of the request',
      {
        type: 'response.failed',
        response: {
          object: 'response',
          status: 'failed',
          error: { code: 'server_error', message: 'Boom' },
          metadata: { reason: 'insufficient_quota', message: 'You exceeded your current quota', retry_after: '600' },
        },
      },
      { texts: ['Boom'], codes: ['server_error', 'response.failed'] },
    ],
    ['JSON cut off', '{"error":{"message":"x', { texts: ['{"error":{"message":"x'] }],
  ])('reads %s', (_, value, { texts, waits = {}, ...expected }) => {
    const error = read(value)
    expect(error).toMatchObject({ message: texts[0], texts, ...expected })
    expect(Object.fromEntries(error?.waits ?? [])).toEqual(waits)
  })

  test.each(['', '  \n', '{}', '[]', 'null', '1', '{"choices":[]}', '{"error":null}'])('finds none in %j', (text) => {
    const found = read(text)
    expect(found === undefined || found.message === text).toBeTrue()
  })

  test('limits every field to 2,048 characters', () => {
    const long = '🙂x'.repeat(5000)
    const error = read({ error: { message: long, type: long, code: long } })
    for (const field of [...(error?.texts ?? []), ...(error?.codes ?? []), read(long)?.message]) {
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
    expect(readUpstreamError(encode(`${'{"error":'.repeat(9)}"deep"${'}'.repeat(9)}`))?.message).toBe('deep')
    expect(readUpstreamError(encode('['.repeat(100_000)))?.message).toHaveLength(2048)
    expect(readUpstreamError(encode(`${'['.repeat(50_000)}${']'.repeat(50_000)}`))).toBeUndefined()
  })
})

describe('an error body designed to be slow to read', () => {
  test.each(['<', '<title', '<script ', '<a <', '<!--', '</', '<>', '&'])('64 KiB of %j are read quickly', (text) => {
    const bytes = new TextEncoder().encode(text.repeat(Math.floor((64 * 1024) / text.length)))
    // The best of three: other work on the machine only makes a run longer.
    const times = [1, 2, 3].map(() => processorMs(() => void readUpstreamError(bytes)))
    expect(Math.min(...times)).toBeLessThan(20)
  })
})
