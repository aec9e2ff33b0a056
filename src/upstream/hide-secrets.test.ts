import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { UpstreamFailure } from '../service/failure.ts'
import { hideSecrets } from './hide-secrets.ts'
import { redact } from './redact.ts'

const apiKey = 'correct-horse-battery-staple'

function redacted(message: string, headers: Readonly<Record<string, string>> = {}): unknown {
  const error = hideSecrets({ apiKey, headers }).inFailure(new UpstreamFailure('credential', message, { status: 401 }))
  return error instanceof UpstreamFailure ? error.message : error
}

/** Encodings of a text: of some of its characters, or of all. */
const encoders: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => each(text, (code) => `%${hex(code, 2)}`),
  (text) => Bun.escapeHTML(text),
  (text) => each(text, (code) => (code % 2 === 0 ? `&#${code};` : `&#x${hex(code, 2).toUpperCase()};`)),
  (text) => JSON.stringify(text).slice(1, -1),
  (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll('/', String.raw`\/`),
  (text) => each(text, (code) => String.raw`\u` + hex(code, 4)),
]

function each(text: string, encode: (code: number) => string): string {
  return Array.from(text, (character) => encode(character.charCodeAt(0))).join('')
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

const named: Readonly<Record<string, string | undefined>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function unhex(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

/** Decoders of URLs, HTML and JSON, for ASCII. */
const decoders: readonly ((text: string) => string)[] = [
  (text) => text.replace(/%([\da-f]{2})/gi, (_, digits: string) => unhex(digits)),
  (text) =>
    text.replace(
      /&(?:#x([\dA-Fa-f]{1,2})|#(\d{1,3})|(amp|lt|gt|quot));/g,
      (_, digits?: string, decimal?: string, name = '') => named[name] ?? unhex(digits ?? Number(decimal).toString(16)),
    ),
  (text) =>
    text.replace(
      /\\(?:u([\da-f]{4})|x([\da-f]{2})|(["'\\/`])|[bfnrt])/gi,
      (_, unit?: string, byte?: string, itself = ' ') =>
        unit === undefined && byte === undefined ? itself : unhex(unit ?? byte ?? ''),
    ),
]

/** A text, and all its decodings by up to three decoders in a row. */
function decodings(text: string, depth = 3): readonly string[] {
  if (depth === 0) return [text]
  const decoded = decoders.map((decode) => decode(text)).filter((other) => other !== text)
  return [text, ...decoded.flatMap((other) => decodings(other, depth - 1))]
}

/** Whether any decoding of a text has 12 adjacent characters of a key. */
function showsRun(text: string, key: string): boolean {
  const runs = Array.from({ length: key.length - 11 }, (_, start) => key.slice(start, start + 12))
  return decodings(text).some((decoded) => runs.some((run) => decoded.includes(run)))
}

function inBodyOf(key: string, text: string): string {
  return new TextDecoder().decode(hideSecrets({ apiKey: key, headers: {} }).inBody(new TextEncoder().encode(text)))
}

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const keys = fc.string({ unit: printable, minLength: 12, maxLength: 64 })
/** Beginnings of escapes, which may form another escape with the text beside them. */
const escapes = fc.constantFrom('%', '%25', '%2', '&', '&amp;', '&#', ';', '\\', '\\u00', '4', '"', '/', ' ', '+')
const texts = fc.string({ unit: fc.oneof(printable, escapes), maxLength: 40 })
const encodings = fc.array(fc.constantFrom(...encoders), { maxLength: 3 })

describe('a secret of a provider', () => {
  test.each([
    ['percent-encoded', 'GET /?key=correct%2Dhorse%2dbattery-staple&x=1', 'GET /?key=[redacted]&x=1'],
    ['HTML-escaped', 'Key correct&#45;horse&hyphen;battery&#x2D;staple.', 'Key [redacted].'],
    ['JSON-escaped', String.raw`{"error":"Key correct\u002dhorse\x2dbattery-staple"}`, '{"error":"Key [redacted]"}'],
    [
      'percent-encoded in HTML in JSON',
      String.raw`{"error":"<a href=\"?correct&#37;2Dhorse\u0026#37;2Dbattery&#37;2Dstaple\">"}`,
      String.raw`{"error":"<a href=\"?[redacted]\">"}`,
    ],
    ['percent-encoded twice', 'correct%252Dhorse%252Dbattery', '[redacted]'],
    ['cut at both ends', 'Key ...ct-horse-bat... is not known', 'Key ...[redacted]... is not known'],
    ['cut shorter than 12', 'Key ...t-horse-bat... is not known', 'Key ...t-horse-bat... is not known'],
  ])('does not stand in the body of an error %s', (_name, text, expected) => {
    expect(inBodyOf(apiKey, text)).toBe(expected)
    expect(redacted(text)).toBe(expected)
  })

  test('is redacted in any run of 12 characters, however encoded and wherever cut', () => {
    const cuts = fc.tuple(fc.nat(), fc.nat())
    fc.assert(
      fc.property(keys, cuts, encodings, texts, texts, (key, [from, more], chosen, before, after) => {
        const start = from % (key.length - 11)
        const cut = key.slice(start, start + 12 + (more % (key.length - start - 11)))
        const text = before + chosen.reduce((encoded, encode) => encode(encoded), cut) + after
        expect(showsRun(inBodyOf(key, text), key)).toBeFalse()
        const error = hideSecrets({ apiKey: key, headers: {} }).inFailure(new UpstreamFailure('credential', text))
        expect(showsRun(error instanceof Error ? error.message : '', key)).toBeFalse()
      }),
      { numRuns: 300 },
    )
  })

  test('is redacted from a body, and nothing else', () => {
    fc.assert(
      fc.property(keys, fc.array(fc.oneof(texts, fc.string({ unit: 'grapheme' }))), (key, pieces) => {
        const text = pieces.join('')
        fc.pre(!showsRun(text, key))
        const body = new TextEncoder().encode(text)
        expect(hideSecrets({ apiKey: key, headers: {} }).inBody(body)).toBe(body)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    [
      'its key',
      `status 401: Key ${apiKey} is not known, ${apiKey}!`,
      {},
      'status 401: Key [redacted] is not known, [redacted]!',
    ],
    ['a header', 'no such tenant: blue-whale', { 'x-tenant': 'blue-whale' }, 'no such tenant: [redacted]'],
    [
      'a header with a scheme',
      'Bearer blue-whale; blue-whale',
      { authorization: 'Bearer blue-whale' },
      '[redacted]; [redacted]',
    ],
    ['a key that was cut off', 'status 401: Key correct-horse-b…', {}, 'status 401: Key [redacted]'],
  ])('does not stand in its failures: %s', (_name, message, headers, expected) => {
    expect(redacted(message, headers)).toBe(expected)
  })

  test('is kept where it is a common word', () => {
    expect(redacted('status 400: model m1 is unknown…', { 'x-version': 'm1' })).toBe('status 400: model m1 is unknown…')
    const error = new Error(apiKey)
    expect(hideSecrets({ apiKey: undefined, headers: {} }).inFailure(error)).toBe(error)
  })

  test('is redacted from the body of an error, in any shape', () => {
    const awkward = 'plain-words-10.20.30.40-ä@b.example-more'
    const { inBody } = hideSecrets({ apiKey: awkward, headers: { 'x-tenant': 'blue-whale' } })
    const shown = (text: string) => new TextDecoder().decode(inBody(new TextEncoder().encode(text)))
    expect(shown(`{"error":"ö ${awkward}${awkward} of blue-whale"}`)).toBe('{"error":"ö [redacted] of [redacted]"}')
    const body = new TextEncoder().encode('ö')
    expect(inBody(body)).toBe(body)
  })

  test('stays in the body if it is a word, because the body classifies the failure', () => {
    const { inBody, inFailure } = hideSecrets({ apiKey: 'token', headers: {} })
    const body = new TextEncoder().encode('too many tokens')
    expect(inBody(body)).toBe(body)
    expect(inFailure(new UpstreamFailure('context_length', 'too many tokens'))).toMatchObject({
      failure: 'context_length',
      message: 'too many [redacted]s',
    })
  })

  test('is the only change of a failure', () => {
    const cause = new Error('why')
    const failure = new UpstreamFailure('rate_limit', `slow down, ${apiKey}`, {
      status: 429,
      retryAfterMs: 7,
      ambiguous: true,
      isFinal: true,
      timedOut: true,
      cause,
    })
    expect(hideSecrets({ apiKey, headers: {} }).inFailure(failure)).toMatchObject({
      failure: 'rate_limit',
      message: 'slow down, [redacted]',
      status: 429,
      retryAfterMs: 7,
      ambiguous: true,
      isFinal: true,
      timedOut: true,
      cause,
    })
  })

  test('is redacted wherever it was repeated, whole or cut off', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(apiKey, ' ', 'no', '-', 'correct'), { maxLength: 30 }), (words) => {
        const shown = String(redacted(redact(words.join(''))))
        expect(shown.includes(apiKey)).toBeFalse()
        expect(shown).not.toMatch(/correct-h[a-z-]*…$/)
      }),
    )
  })
})
