import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../base/json-value.ts'
import { encode } from '../bytes/text.ts'
import type { FormatName } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { envelopeAt } from '../formats/format-testing.ts'
import { anthropic } from './anthropic.ts'
import { endpointAt, encoded } from './fixtures/load.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { ModelTarget, Protocol } from './protocol.ts'

const target = (more: Partial<ModelTarget>) => endpointAt('https://upstream.example/v1', more)

/** The body that an upstream of the caller's own format gets, as text. */
function native(protocol: Protocol, name: FormatName, body: string, more: Parameters<typeof endpointAt>[1]): string {
  const path = name === 'gemini' ? '/v1beta/models/m:generateContent' : formats[name].path
  const ask = formats[name].check(encode(body), envelopeAt(path))
  const dialect = protocol.further?.responses[name] ?? protocol.dialects[name]
  const pieces = dialect?.encode(ask, 'm', endpointAt('https://upstream.example/v1', more))
  return Buffer.concat([...(pieces ?? [])]).toString()
}

describe('defaults of a provider, for callers of its own format', () => {
  test('stand behind the model, and the bytes of the caller stay', () => {
    const body = '{ "model":"m","messages":[{"role":"user","content":"\\u00e9"}],"seed":9007199254740993}'
    const defaults = { temperature: 0.2, seed: 1 }
    expect(native(openai, 'chat', body, { defaults })).toBe(body.replace('"m"', '"m","temperature":0.2'))
  })

  const messages = '"messages":[{"role":"user","content":"hi"}]'
  test.each<[string, string, Partial<ModelTarget>, JsonObject]>([
    ['are not sent beside the value of the caller', '"temperature":1', {}, { temperature: 1 }],
    ['take the place of null', '"temperature":null', {}, { temperature: 0.2 }],
    ['are not sent beside another spelling', '"Flavour":1', { defaults: { flavour: 3 } }, { Flavour: 1 }],
    ['give way to an override', '"x":1', { overrides: { temperature: 0.9 } }, { x: 1, temperature: 0.9 }],
    [
      'are not a second limit of the answer',
      '"max_completion_tokens":5',
      { defaults: { max_tokens: 9 } },
      { max_completion_tokens: 5 },
    ],
  ])('%s', (_name, fields, more, expected) => {
    const body = `{"model":"m",${messages},${fields}}`
    const sent: JsonObject = JSON.parse(native(openai, 'chat', body, { defaults: { temperature: 0.2 }, ...more }))
    expect(sent).toEqual({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...expected })
  })

  test('are renamed and left out as fields of the caller', () => {
    const profile = { rename: { max_tokens: 'max_completion_tokens' }, drop: ['temperature'] }
    const sent = native(openai, 'chat', `{"model":"m",${messages}}`, {
      profile,
      defaults: { max_tokens: 9, temperature: 0.2 },
    })
    expect(sent).toBe(`{"model":"m","max_completion_tokens":9,${messages}}`)
  })

  test('hold for Messages, Responses, embeddings and generateContent', () => {
    const body = `{"model":"m","max_tokens":3,${messages}}`
    expect(native(anthropic, 'messages', body, { defaults: { max_tokens: 9, top_k: 2 } })).toBe(
      body.replace('"m"', '"m","top_k":2'),
    )
    expect(native(openai, 'responses', '{"model":"m","input":"hi"}', { defaults: { top_p: 0.5 } })).toBe(
      '{"model":"m","top_p":0.5,"input":"hi"}',
    )
    expect(native(openai, 'embeddings', '{"model":"m","input":"hi"}', { defaults: { dimensions: 8 } })).toBe(
      '{"model":"m","dimensions":8,"input":"hi"}',
    )
  })

  test.each<[string, string, JsonObject]>([
    ['one by one in generationConfig', '"generationConfig":{"max_output_tokens":5}', { max_output_tokens: 5, topK: 3 }],
    ['whole without it', '"labels":{"a":"b"}', { maxOutputTokens: 9, topK: 3 }],
  ])('hold for generateContent %s', (_name, fields, expected) => {
    const body = `{"contents":[{"parts":[{"text":"hi"}]}],${fields}}`
    const defaults = { generationConfig: { maxOutputTokens: 9, topK: 3 }, labels: { c: 'd' } }
    const sent: JsonObject = JSON.parse(native(gemini, 'gemini', body, { defaults }))
    expect(sent['generationConfig']).toEqual(expected)
    expect(sent['labels']).toEqual(fields.includes('labels') ? { a: 'b' } : { c: 'd' })
  })
})

describe('defaults of a provider, for callers of another format', () => {
  test.each<[string, Protocol, JsonObject, JsonObject, JsonObject]>([
    ['Messages', anthropic, { max_tokens: 77, top_k: 4 }, { max_tokens: 5 }, { max_tokens: 5, top_k: 4 }],
    ['Messages without a limit', anthropic, { max_tokens: 77 }, {}, { max_tokens: 77 }],
    [
      'generateContent',
      gemini,
      { generationConfig: { temperature: 0.2, topK: 4 } },
      { temperature: 1 },
      { generationConfig: { temperature: 1, topK: 4 } },
    ],
  ])('are fields of its own: %s', (_name, protocol, defaults, fields, expected) => {
    expect(encoded(protocol, fields, 'm', target({ defaults }))).toMatchObject(expected)
  })

  test('stream several answers of which none ends the stream', () => {
    const body = encode('{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}')
    const ask = formats.chat.check(body, envelopeAt(formats.chat.path))
    const oneChoice = (defaults: JsonObject) => openai.dialects.chat?.stream?.(ask, target({ defaults })).hasOneChoice
    expect([oneChoice({}), oneChoice({ n: 2 })]).toEqual([true, false])
  })
})
