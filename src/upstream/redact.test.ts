import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../base/testing.ts'
import { redact } from './redact.ts'

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
    expect(processorMs(() => void redact(text.repeat(2048)))).toBeLessThan(250)
  })
})
