import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode } from '../../bytes/text.ts'
import { targetWith } from '../../profiles/testing.ts'
import { envelopeAt } from '../format-testing.ts'
import type { PassThroughTarget } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { usageOf } from './answer.ts'
import { completionReader } from './events.ts'
import { relays } from './relay.ts'
import { relayEndpoints } from './table.ts'

const target: PassThroughTarget = targetWith()
const { completions, moderations } = relays
const bytesOf = (value: unknown) => encode(JSON.stringify(value))
const written = (body: string, model: string, format = completions) => {
  const ask = format.check(encode(body), envelopeAt(format.path))
  return Buffer.concat(format.passThrough.write(ask, model, target)).toString()
}

describe('the table', () => {
  test('has each path once, and checks what it requires', () => {
    const endpoints = Object.values(relayEndpoints)
    const paths = endpoints.map(({ path }) => path)
    expect(new Set(paths).size).toBe(paths.length)
    for (const { path, request, stream } of endpoints) {
      expect(path).toStartWith('/v1/')
      if (request.kind === 'form') continue
      expect(Object.keys(request.fields)).toEqual(expect.arrayContaining([...request.required]))
      if (stream !== undefined) expect(Object.keys(request.fields)).toContain(stream.member)
    }
  })
})

describe('a request', () => {
  const name = fc.oneof(fc.constantFrom('m', 'vendor/m-1', '"', '\\', '🌅'), fc.string({ minLength: 1, maxLength: 20 }))

  test('changes in nothing but the model, wherever that stands', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().map((key) => `x${key}`),
          fc.jsonValue(),
        ),
        fc.nat(),
        name,
        (members, place, model) => {
          const entries = Object.entries(members)
          entries.splice(place % (entries.length + 1), 0, ['model', 'asked'])
          // As JSON, which has no -0.
          const request: object = JSON.parse(JSON.stringify(Object.fromEntries([...entries, ['prompt', 'p']])))
          const sent = JSON.parse(written(JSON.stringify(request, null, 1), model)) as Record<string, unknown>
          expect(Object.entries(sent)).toEqual(Object.entries({ ...request, model }))
        },
      ),
      { numRuns: 200 },
    )
  })

  test.each([
    ['{"model":"asked","prompt":"p"}', 'asked', '{"model":"asked","prompt":"p"}'],
    ['{"prompt":"p", "model" : "a\\u0073ked" }', 'asked', '{"prompt":"p", "model" : "a\\u0073ked" }'],
    ['{"prompt":"p", "model" : "asked" }', 'x"y', '{"prompt":"p", "model" : "x\\"y" }'],
  ])('%s for %s is %s', (body, model, expected) => {
    expect(written(body, model)).toBe(expected)
  })

  test('without a model gets one', () => {
    expect(written(' { "input":"a"}', 'm', moderations)).toBe(' { "model":"m","input":"a"}')
    const ask = moderations.check(encode('{"input":"a"}'), envelopeAt(moderations.path))
    expect(ask.model).toBe('omni-moderation-latest')
  })

  test.each([
    ['true', true],
    ['false', false],
    ['null', false],
  ])('with "stream":%s asks for a stream: %p', (value, expected) => {
    const body = encode(`{"model":"m","prompt":"p","stream": ${value} }`)
    expect(completions.check(body, envelopeAt(completions.path)).stream).toBe(expected)
  })
})

describe('usage', () => {
  test.each([
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }, 1, 2, 3],
    [{ input_tokens: 4, output_tokens: 5 }, 4, 5, 9],
    [{ total_tokens: 7 }, 7, 0, 7],
    [{ tokens: { input_tokens: 8, output_tokens: 0 }, billed_units: { search_units: 1 } }, 8, 0, 8],
    [{ prompt_tokens: 2, completion_tokens: -1, total_tokens: 1.5 }, 2, undefined, 2],
    [{ input_tokens: '7' }, 7, 0, 7],
  ])('%p is %p, %p and %p tokens', (usage, promptTokens, completionTokens, totalTokens) => {
    expect(usageOf(usage)).toMatchObject({ promptTokens, completionTokens, totalTokens })
  })

  test.each([[{}], [{ type: 'duration', seconds: 3 }], [{ input_tokens: 'x' }]])('%p has no tokens', (usage) => {
    expect(usageOf(usage)).toBeUndefined()
  })
})

describe('a stream of completions', () => {
  const streamed = completions.check(encode('{"model":"m","prompt":"p"}'), envelopeAt(completions.path))
  const read = (...choices: readonly object[]) => {
    const reader = completionReader(streamed)
    return choices.map((choice) => reader.read({ event: '', data: bytesOf({ choices: [choice] }) }))
  }

  test('is open while a choice that has begun has no finish', () => {
    const open = read(
      { index: 0, text: 'a' },
      { index: 1, text: 'b' },
      { index: 0, text: '', finish_reason: 'stop' },
      { index: 1, text: '', finish_reason: 'length' },
    ).flatMap((parts) => (parts === 'done' || 'kind' in parts ? [] : parts.map(({ hasOpenChoice }) => hasOpenChoice)))
    expect(open).toEqual([true, true, true, false])
  })

  test('commits with text or a finish', () => {
    const meaningful = read({ text: '' }, { text: 'a' }, { text: '', finish_reason: 'stop' }).flatMap((parts) =>
      parts === 'done' || 'kind' in parts ? [] : parts.map(({ isMeaningful }) => isMeaningful),
    )
    expect(meaningful).toEqual([false, true, true])
  })

  test('is an error or malformed where its events are', () => {
    const reader = completionReader(streamed)
    const of = (data: string, event = '') => reader.read({ event, data: encode(data) })
    expect(of('{"error":{"message":"no"}}')).toMatchObject({ kind: 'error', error: { message: 'no' } })
    expect(of('{"message":"no"}', 'error')).toMatchObject({ kind: 'error' })
    expect(of('[DONE]')).toBe('done')
    for (const wrong of ['{', '[]', '7']) expect(() => of(wrong)).toThrow(MalformedAnswer)
  })
})

describe('a whole answer', () => {
  test('of many entries is read as it came', () => {
    const answer = { results: Array.from({ length: 500 }, (_, index) => ({ index, flagged: index % 2 === 0 })) }
    const body = bytesOf(answer)
    const ask = moderations.check(encode('{"input":"a"}'), envelopeAt(moderations.path))
    expect(moderations.passThrough.readWhole(body, ask)).toEqual({
      kind: 'whole',
      body,
      usage: undefined,
      isEmpty: false,
      isBlank: false,
    })
  })

  test.each([
    '{"results":[]}',
    '{"results":[{"flagged":"no"}]}',
    '{"results":[{"flagged":true},{}]}',
    '{"results":{}}',
    '{}',
    '[]',
    'null',
    '{"results":[{"flagged":true}]',
  ])('%s is never a verdict', (text) => {
    const ask = moderations.check(encode('{"input":"a"}'), envelopeAt(moderations.path))
    expect(() => moderations.passThrough.readWhole(encode(text), ask)).toThrow(MalformedAnswer)
  })

  test('that has an error is that error', () => {
    const ask = moderations.check(encode('{"input":"a"}'), envelopeAt(moderations.path))
    const body = bytesOf({ results: [], error: { message: 'no', code: 'rate_limit_exceeded' } })
    expect(moderations.passThrough.readWhole(body, ask)).toMatchObject({ kind: 'error', error: { message: 'no' } })
  })
})
