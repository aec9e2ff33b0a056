import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../base/testing.ts'
import { JsonCursor } from '../bytes/json-cursor.ts'
import { encode } from '../bytes/text.ts'
import type { Ask, FormatName, Member } from './ask.ts'
import { askedTokens, demandReader, type Demand } from './demand.ts'
import { formats } from './format-list.ts'
import { envelopeAt } from './format-testing.ts'

const paths: Partial<Record<FormatName, string>> = {
  gemini: '/v1beta/models/m:generateContent',
  gemini_embed: '/v1beta/models/m:embedContent',
  gemini_count_tokens: '/v1beta/models/m:countTokens',
}

function askOf(format: FormatName, request: object, space?: number): Ask {
  const body = encode(JSON.stringify(request, undefined, space))
  return formats[format].check(body, envelopeAt(paths[format] ?? formats[format].path))
}

function demand(format: FormatName, request: object, space?: number): Demand {
  return formats[format].demand(askOf(format, request, space))
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const messages = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }
const responses = { model: 'm', input: 'Hi' }
const gemini = { contents: [{ parts: [{ text: 'Hi' }] }] }
const picture = 'A'.repeat(51_200)

describe('the demand of a request', () => {
  test('is found behind escapes', () => {
    const of = (members: string) =>
      formats.messages.demand(
        formats.messages.check(encode(`{"model":"m","max_tokens":9,${members}}`), envelopeAt('/v1/messages')),
      )
    const message = (control: string) =>
      `"messages":[{"role":"user","content":[{"type":"text","text":"x",${control}}]}]`
    const plain = message('"citations":null')
    expect(of(message('"c\\u0061che_control":{"type":"ephemeral","ttl":"1h"}')).cacheWrite).toBe('hour')
    expect(of(message('"cache_control":{"type":"ephemeral","ttl":"\\u0031h"}')).cacheWrite).toBe('hour')
    expect(of(`${plain},"sp\\u0065ed":"f\\u0061st"`).multiples).toEqual(['fast'])
    const priority = Array.from('priority', (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')
    const chatAsk = formats.chat.check(
      encode(`{"model":"m","messages":[{"role":"user","content":"\\u00e9"}],"service_tier":"${priority}"}`),
      envelopeAt('/v1/chat/completions'),
    )
    expect(formats.chat.demand(chatAsk)).toMatchObject({ serviceTier: 'priority' })
    expect(of(message('"citations":"\\u00e9"')).cacheWrite).toBe('none')
  })

  test.each([
    ['chat', chat, undefined, 1],
    ['chat', { ...chat, max_tokens: 70 }, 70, 1],
    ['chat', { ...chat, max_tokens: 70, max_completion_tokens: 90, n: 3 }, 90, 3],
    ['chat', { ...chat, max_tokens: -1 }, undefined, 1],
    ['chat', { ...chat, max_tokens: null, n: null }, undefined, 1],
    ['chat', { ...chat, max_tokens: 1e15, n: 1e12 }, 1e9, 1e9],
    ['messages', messages, 50, 1],
    ['messages', { ...messages, max_tokens: 0 }, 0, 1],
    ['responses', responses, undefined, 1],
    ['responses', { ...responses, max_output_tokens: 12 }, 12, 1],
    ['gemini', gemini, undefined, 1],
    ['gemini', { ...gemini, generationConfig: { maxOutputTokens: 8, candidateCount: 2 } }, 8, 2],
    ['gemini', { ...gemini, generation_config: { max_output_tokens: 9, candidate_count: 4 } }, 9, 4],
    ['gemini', { ...gemini, generationConfig: { responseSchema: { maxOutputTokens: 1 } } }, undefined, 1],
    ['completions', { model: 'm', prompt: 'Hi', max_tokens: 6, best_of: 5, n: 2 }, 6, 5],
    ['completions', { model: 'm', prompt: ['a', 'b', 'c'], n: 2 }, undefined, 6],
    ['completions', { model: 'm', prompt: [[1, 2], [3]] }, undefined, 2],
    ['completions', { model: 'm', prompt: [1, 2, 3] }, undefined, 1],
    ['chat', { ...chat, n: '7' }, undefined, 7],
    ['chat', { ...chat, n: 'many' }, undefined, 1e9],
    ['embeddings', { model: 'm', input: ['a', 'b'] }, 0, 1],
    ['gemini_embed', { content: { parts: [{ text: 'Hi' }] } }, 0, 1],
    ['rerank', { model: 'm', query: 'a', documents: ['b'] }, 0, 1],
    ['chat', { ...chat, max_tokens: 5, n_predict: 90_000 }, 90_000, 1],
    ['chat', { ...chat, max_tokens: 500, max_new_tokens: 9 }, 500, 1],
    ['chat', { ...chat, n_predict: 9 }, 4_096, 1],
    ['chat', { ...chat, max_tokens: 5, n_predict: -1 }, 1_000_000_000, 1],
    ['chat', { ...chat, max_tokens: 5, n_predict: null }, 5, 1],
    ['completions', { model: 'm', prompt: 'hi', max_tokens: 5, n_predict: 90_000 }, 90_000, 1],
    ['image_generations', { model: 'm', prompt: 'a cat', n: 4 }, 8_192, 4],
  ] as const)('for %s %j is %p tokens of %d answers', (format, request, answerTokens, answers) => {
    expect(demand(format, request)).toMatchObject({ answerTokens, answers })
  })

  test('for a form is that of each of its pictures', () => {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const edit = (n: string) =>
      formats.image_edits.check(
        encode(`${part('model', 'm')}${part('prompt', 'a cat')}${part('image', 'x')}${part('n', n)}--b--\r\n`),
        {
          ...envelopeAt('/v1/images/edits'),
          headers: new Headers({ 'content-type': 'multipart/form-data; boundary=b' }),
        },
      )
    expect(formats.image_edits.demand(edit('10'))).toMatchObject({ answerTokens: 8_192, answers: 10 })
    expect(formats.image_edits.demand(edit('1'))).toMatchObject({ answers: 1 })
    for (const other of ['', '0', '-1', '10x', ' 10', '1e1', '"10"', '0x10'])
      expect(() => edit(other)).toThrow("'n' must")
  })

  test.each(['count_tokens', 'gemini_count_tokens', 'input_tokens'] as const)('for %s is nothing', (format) => {
    const request = format === 'gemini_count_tokens' ? gemini : format === 'input_tokens' ? responses : messages
    expect(demand(format, request)).toMatchObject({ textBytes: 0, mediaTokens: 0, answerTokens: 0 })
  })

  test.each([
    ['chat', { ...chat, messages: [{ role: 'user', content: [image({ url: `data:image/png;base64,${picture}` })] }] }],
    ['responses', { model: 'm', input: [{ role: 'user', content: [inputImage(`data:image/png;base64,${picture}`)] }] }],
    ['messages', { ...messages, messages: [{ role: 'user', content: [block({ type: 'base64', data: picture })] }] }],
    ['gemini', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] }] }],
  ] as const)('for a picture in %s is a figure for pictures, not for text', (format, request) => {
    for (const space of [undefined, 2]) {
      const { textBytes, mediaTokens } = demand(format, request, space)
      expect(textBytes).toBeLessThan(600)
      expect(mediaTokens).toBeWithin(2_000, 2_200)
    }
  })

  test.each([
    ['chat', { ...chat, messages: [{ role: 'user', content: [image({ url: 'https://x.test/a.png' })] }] }],
    ['responses', { model: 'm', input: [{ role: 'user', content: [inputImage('https://x.test/a.png')] }] }],
    ['messages', { ...messages, messages: [{ role: 'user', content: [block({ type: 'url', url: 'https://x' })] }] }],
    ['gemini', { contents: [{ parts: [{ fileData: { fileUri: 'https://x' } }] }] }],
  ] as const)('for the address of a picture in %s is a figure, too', (format, request) => {
    expect(demand(format, request).mediaTokens).toBe(2_000)
  })

  test.each([
    ['spaces', `;base64,${'plain words. '.repeat(1_000)}`],
    ['a data URL', `data:image/png;base64,${picture}`],
    ['a data URL in JSON', JSON.stringify({ url: `data:image/png;base64,${picture}` })],
  ])('counts a text with %s as text', (_, text) => {
    for (const request of [
      { ...chat, messages: [{ role: 'user', content: text }] },
      { ...chat, metadata: { text } },
    ])
      expect(demand('chat', request).textBytes).toBeGreaterThan(text.length)
    const spaced = { url: `data:image/png;base64,${'AAAA '.repeat(200)}`, data: `${picture} words` }
    expect(demand('chat', { ...chat, metadata: spaced }).textBytes).toBeGreaterThan(picture.length + 1_000)
  })

  test('finds data URLs in a time that is linear in the size of the body', () => {
    const hostile = { ...chat, metadata: { url: 'data:;base64,'.repeat(400_000), text: ';base64,'.repeat(400_000) } }
    const ask = askOf('chat', hostile)
    expect(processorMs(() => void formats.chat.demand(ask))).toBeLessThan(2_000)
  })

  test('counts long texts in members named data as text', () => {
    const text = 'all good things come to those who wait. '.repeat(200)
    expect(demand('chat', { ...chat, metadata: { data: text } })).toMatchObject({ mediaTokens: 0 })
    expect(demand('chat', { ...chat, metadata: { data: text } }).textBytes).toBeGreaterThan(text.length)
  })

  test.each([
    [chat, 'none'],
    [{ ...messages, system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }, 'minutes'],
    [{ ...messages, system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }] }, 'hour'],
  ] as const)('of %j has cache writes: %s', (request, cacheWrite) => {
    expect(demand('max_tokens' in request ? 'messages' : 'chat', request).cacheWrite).toBe(cacheWrite)
  })

  test('has the number of answers, with any number of digits', () => {
    const body = encode(`{"model":"m","messages":[{"role":"user","content":"Hi"}],"n":9.${'0'.repeat(40)}}`)
    expect(formats.chat.demand(formats.chat.check(body, envelopeAt(formats.chat.path))).answers).toBe(1e9)
  })

  test('has the dearest service tier', () => {
    expect(demand('chat', { ...chat, service_tier: 'priority' }).serviceTier).toBe('priority')
    expect(demand('chat', { ...chat, service_tier: 'auto' }).serviceTier).toBeUndefined()
  })

  test('of a form is a share of its bytes', () => {
    const body = new Uint8Array(100_000)
    const ask: Ask = { format: 'transcriptions', body, model: 'm', stream: false, members: [] }
    expect(formats.transcriptions.demand(ask)).toMatchObject({ textBytes: 0, mediaTokens: 1_000 })
  })

  test('of any request is finite, and never negative', () => {
    const fields = {
      prompt: [],
      answerTokens: ['max_tokens'],
      answers: ['n'],
      within: ['c'],
      media: { texts: ['"url"'] },
    }
    const value = fc.oneof(
      fc.jsonValue(),
      fc.double(),
      fc.constantFrom('";base64,', 'data:;base64,AA', picture, { data: picture }, { data: '' }, { max_tokens: -3 }),
      fc.record({ max_tokens: fc.jsonValue(), n: fc.double() }),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('max_tokens', 'n', 'c', 'data', 'url'), value), (more) => {
        const read = demandReader(fields)(askOf('chat', { ...chat, metadata: more }))
        for (const count of [read.textBytes, read.mediaTokens, read.answers, read.answerTokens ?? 0]) {
          expect(Number.isFinite(count)).toBe(true)
          expect(count).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  test('is read of members with any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (tokens, n, within) => {
        const body = encode(JSON.stringify({ t: tokens, n, c: within }))
        const ask = members(body)
        const read = demandReader({ prompt: [], answerTokens: ['t'], answers: ['n'], within: ['c'] })(ask)
        expect(read.answers).toBeGreaterThanOrEqual(1)
        expect(read.answerTokens ?? 0).toBeWithin(0, 1e9 + 1)
      }),
    )
  })
})

function asked(format: FormatName, request: object) {
  return askedTokens(demand(format, request), formats[format].isText)
}

describe('limits of tokens', () => {
  const long = [{ role: 'user', content: 'x'.repeat(400) }]

  test.each([
    ['chat', chat, 1_024],
    ['chat', { ...chat, max_tokens: 7 }, 7],
    ['chat', { ...chat, max_tokens: 7, max_completion_tokens: 5, n: 3 }, 21],
    ['chat', { ...chat, max_tokens: null, n: null }, 1_024],
    ['chat', { ...chat, max_tokens: 1e9, n: 1e9 }, 131_072],
    ['messages', { ...messages, max_tokens: 9 }, 9],
    ['responses', { ...responses, max_output_tokens: 20 }, 20],
    ['compact', responses, 1_024],
    ['gemini', { ...gemini, generationConfig: { maxOutputTokens: 30, candidateCount: 2 } }, 60],
    ['gemini', gemini, 1_024],
    ['completions', { model: 'm', prompt: 'hello', max_tokens: 4, n: 2 }, 8],
    ['embeddings', { model: 'm', input: 'hello' }, 0],
    ['speech', { model: 'm', input: 'hello' }, 0],
    ['count_tokens', messages, 0],
  ] as const)('take for the answer of %s %j: %d', (format, request, answer) => {
    expect(asked(format, request).answer).toBe(answer)
  })

  test.each([
    ['chat', { model: 'm', messages: long }],
    ['messages', { model: 'm', max_tokens: 1, messages: long }],
    ['count_tokens', { model: 'm', messages: long }],
    ['responses', { model: 'm', input: 'x'.repeat(400) }],
    ['input_tokens', { model: 'm', input: 'x'.repeat(400) }],
    ['gemini', { contents: [{ parts: [{ text: 'x'.repeat(400) }] }] }],
    ['gemini_count_tokens', { contents: [{ parts: [{ text: 'x'.repeat(400) }] }] }],
    ['gemini_embed', { content: { parts: [{ text: 'x'.repeat(400) }] } }],
    ['embeddings', { model: 'm', input: 'x'.repeat(400) }],
    ['completions', { model: 'm', prompt: 'x'.repeat(400) }],
    ['moderations', { model: 'm', input: 'x'.repeat(400) }],
    ['rerank', { model: 'm', query: 'x'.repeat(200), documents: ['x'.repeat(200)] }],
    ['image_generations', { model: 'm', prompt: 'x'.repeat(400) }],
    ['speech', { model: 'm', input: 'x'.repeat(400) }],
  ] as const)('take for the prompt of %s what its length says', (format, request) => {
    expect(asked(format, request).prompt).toBeWithin(100, 120)
  })
})

function image(image_url: object) {
  return { type: 'image_url', image_url }
}

function inputImage(image_url: string) {
  return { type: 'input_image', image_url }
}

function block(source: object) {
  return { type: 'image', source: { media_type: 'image/png', ...source } }
}

/** A request with the top-level members of a body, as formats without checks of them have it. */
function members(body: Uint8Array): Ask {
  const cursor = new JsonCursor(body)
  const found: Member[] = []
  cursor.peek()
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const [name, start, valueStart] = [cursor.name(), cursor.nameStart, cursor.position]
    cursor.skip()
    found.push({ name, start, valueStart, end: cursor.position })
  }
  return { format: 'chat', body, model: 'm', stream: false, members: found }
}
