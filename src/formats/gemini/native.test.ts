import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { encodeJson, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { responseReader } from './native.ts'
import { readResponse } from './whole-response.ts'

function read(events: readonly unknown[], choices = 1): readonly Part[] {
  const reader = responseReader(choices)
  return events.flatMap((event) => {
    const parts = reader.read({ event: '', data: encode(JSON.stringify(event)) })
    if (parts === 'done' || 'kind' in parts) throw new Error('no parts')
    return parts
  })
}

const said = (parts: readonly object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] })

describe('an event', () => {
  const facts: readonly (readonly [string, object, Partial<Part>])[] = [
    [
      'text',
      said([{ text: 'a' }, { text: 'b' }]),
      { isMeaningful: true, text: 'ab', isBeyondText: false, hasOpenChoice: true },
    ],
    ['an empty text', said([{ text: '' }]), { isMeaningful: false, text: '' }],
    [
      'no content',
      { candidates: [{ content: { role: 'model' }, index: 0 }] },
      { isMeaningful: false, hasOpenChoice: true },
    ],
    ['usage alone', { usageMetadata: { promptTokenCount: 3 } }, { isMeaningful: false, hasOpenChoice: false }],
    ['a thought', said([{ thought: true, text: 'a' }]), { isMeaningful: true, text: '', isBeyondText: true }],
    ['a signature', said([{ text: '', thoughtSignature: 'x' }]), { isMeaningful: true, isBeyondText: true }],
    [
      'a second candidate',
      { candidates: [{ index: 1, content: { parts: [{ text: 'b' }] } }] },
      { text: '', isBeyondText: true },
    ],
    [
      'a finish',
      said([], { finishReason: 'STOP' }),
      { isMeaningful: true, finishReason: 'stop', hasOpenChoice: false },
    ],
    [
      'no reason',
      said([], { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
      { finishReason: undefined, hasOpenChoice: true },
    ],
    ['the limit', said([{ text: 'a' }], { finishReason: 'MAX_TOKENS' }), { finishReason: 'length' }],
    ['a filter', said([], { finishReason: 'SAFETY' }), { finishReason: 'content_filter' }],
    [
      'a refused prompt',
      { promptFeedback: { blockReason: 'OTHER' } },
      { isMeaningful: true, finishReason: 'content_filter' },
    ],
    ['a prompt that is fine', { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }, { isMeaningful: false }],
    ['what is null', { candidates: null, error: null, usageMetadata: null }, { isMeaningful: false, usage: undefined }],
  ]
  test.each(facts)('with %s has its facts', (_name, event, expected) => {
    expect(read([event])).toMatchObject([expected])
  })

  test('with a call waits for the finish, and others behind it do', () => {
    const call = said([{ functionCall: { name: 'f' } }])
    const text = said([{ text: 'a' }])
    const end = said([], { finishReason: 'STOP' })
    expect(read([text, call, text])).toMatchObject([{ text: 'a', isBeyondText: false }])
    const parts = read([text, call, text, end, text])
    expect(parts.map(({ data }) => JSON.parse(new TextDecoder().decode(data)))).toEqual([text, call, text, end, text])
    expect(parts[1]).toMatchObject({ isMeaningful: true, text: '', isBeyondText: true })
    const large = said([{ functionCall: { name: 'f', args: { text: 'x'.repeat(600 * 1024) } } }])
    expect(read([large])).toBeEmpty()
    expect(read([large, large, call])).toHaveLength(2)
  })

  test('with a finish after calls says so', () => {
    const call = said([{ functionCall: { name: 'f', args: {} } }])
    expect(read([call, said([], { finishReason: 'STOP' })]).at(-1)?.finishReason).toBe('tool_calls')
  })

  test('has the usage so far, thoughts included', () => {
    const usageMetadata = {
      promptTokenCount: 7,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 3,
      totalTokenCount: 12,
      cachedContentTokenCount: 4,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }],
    }
    expect(read([{ usageMetadata }])[0]?.usage).toMatchObject({
      promptTokens: 7,
      completionTokens: 5,
      totalTokens: 12,
      cachedTokens: 4,
    })
  })

  test('with the end of one of two candidates leaves the other open', () => {
    const two = { candidates: [{ finishReason: 'STOP' }, { index: 1, content: { parts: [{ text: 'b' }] } }] }
    expect(read([two])).toMatchObject([{ finishReason: 'stop', hasOpenChoice: true }])
    expect(responseReader(2).hasOneChoice).toBe(false)
  })

  test('whose call was discarded is a failure, also behind text, unless another candidate has content', () => {
    const discarded = said([], { finishReason: 'MALFORMED_FUNCTION_CALL' })
    const behindText = (count: number) => {
      const text = { content: { parts: [{ text: 'a' }] } }
      const reasons = ['MALFORMED_FUNCTION_CALL', 'STOP'].slice(0, count)
      return { candidates: reasons.map((finishReason, index) => ({ ...text, finishReason, index })) }
    }
    expect(() => read([discarded])).toThrow(MalformedAnswer)
    expect(() => read([said([{ text: 'a' }]), discarded])).toThrow(MalformedAnswer)
    expect(() => readResponse(encode(JSON.stringify(behindText(1))))).toThrow(MalformedAnswer)
    expect(readResponse(encode(JSON.stringify(behindText(2))))).toMatchObject({ kind: 'whole' })
  })

  test.each([
    [[]],
    ['text'],
    [{ candidates: {} }],
    [{ candidates: ['a'] }],
    [{ candidates: [{ content: 'a' }] }],
    [{ candidates: [{ content: { parts: 'a' } }] }],
    [said([{ text: 5 }])],
  ])('of the wrong shape is malformed: %j', (event) => {
    expect(() => read([event])).toThrow(MalformedAnswer)
  })

  test('with an error is one, also by its name', () => {
    const reader = responseReader(1)
    const data = encode('{"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}')
    for (const event of ['', 'error'])
      expect(reader.read({ event, data })).toMatchObject({ kind: 'error', error: { message: 'Busy', status: 503 } })
  })

  test('that is cut at any byte is malformed', () => {
    const data = encodeJson({
      ...said([{ text: 'Good morning 🌅' }], { finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 1 },
    })
    for (let end = 1; end < data.length; end++)
      expect(() => responseReader(1).read({ event: '', data: data.subarray(0, end) })).toThrow(MalformedAnswer)
  })
})

test('a stream that ends with [DONE] gets a finish for each open candidate', () => {
  const reader = responseReader(1)
  reader.read({ event: '', data: encodeJson(said([{ text: 'a' }])) })
  expect(reader.read({ event: '', data: encode('[DONE]') })).toBe('done')
  expect(reader.finish()).toMatchObject([{ finishReason: 'stop', hasOpenChoice: false }])
  expect(reader.finish()).toEqual([])
})

const part = fc.record(
  {
    text: fc.constantFrom('', 'a', '"\\🌅\n'),
    thought: fc.constantFrom(true, false, null),
    thoughtSignature: fc.constantFrom('s', ''),
    functionCall: fc.record({ name: fc.constant('f') }),
  },
  { requiredKeys: [] },
)
const candidate = fc.record(
  {
    content: fc.record({ role: fc.constant('model'), parts: fc.array(part, { maxLength: 3 }) }, { requiredKeys: [] }),
    finishReason: fc.constantFrom('STOP', 'MAX_TOKENS', '', null),
    safetyRatings: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: [] },
)

test('the facts of any event are those of its JSON', () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 2 }), fc.constantFrom(0, 2), (candidates, indent) => {
      const data = encode(JSON.stringify({ candidates, x: 1 }, undefined, indent))
      const reader = responseReader(1)
      const parts = reader.read({ event: '', data })
      if (parts === 'done' || 'kind' in parts) throw new Error('no parts')
      // A call without a finish waits for it.
      const [found] = [...parts, ...reader.finish()]
      expect(JSON.parse(new TextDecoder().decode(found?.data))).toEqual(
        JSON.parse(JSON.stringify({ candidates, x: 1 })),
      )
      expect(found?.data.includes(0x0a)).toBe(false)
      const partsOf = (each: JsonObject | undefined) => objectsOf(objectOf(each?.['content'])['parts'])
      const plain = partsOf(candidates[0]).filter(({ thought }) => thought !== true)
      expect(found?.text).toBe(plain.map(({ text }) => textOf(text) ?? '').join(''))
      const isBeyond = (each: JsonObject) =>
        'functionCall' in each ||
        Boolean(each['thoughtSignature']) ||
        (each['thought'] === true && Boolean(each['text']))
      const others = candidates.slice(1).flatMap(partsOf)
      expect(found?.isBeyondText).toBe(
        candidates.flatMap(partsOf).some(isBeyond) ||
          others.some(({ thought, text }) => thought !== true && Boolean(text)),
      )
    }),
    { numRuns: 300 },
  )
})
