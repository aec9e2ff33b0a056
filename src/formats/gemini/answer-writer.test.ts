import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent } from '../answer.ts'
import { parseJsonBytes } from '../exact-json.ts'
import { responseStreamWriter, writeGeminiResponse, type ResponseOptions } from './answer-writer.ts'
import { openThoughts } from './sealed-thoughts.ts'

const options: ResponseOptions = { model: 'asked', promptTokens: () => 7, includesThoughts: true, choices: 1 }
const choice = 0
const call = (number: number, name = 'f'): AnswerEvent => ({
  kind: 'call',
  choice,
  call: number,
  id: `c${number}`,
  name,
  opaque: undefined,
})
const args = (number: number, text: string): AnswerEvent => ({ kind: 'arguments', choice, call: number, text })
const callEnd = (number: number): AnswerEvent => ({ kind: 'callEnd', choice, call: number })
const finish: AnswerEvent = { kind: 'finish', choice, reason: 'stop', raw: undefined }

/** The data of the parts; undefined for those of the record only. */
function streamed(
  pieces: readonly (readonly AnswerEvent[])[],
  more: Partial<ResponseOptions> = {},
): readonly unknown[] {
  const writer = responseStreamWriter({ ...options, ...more })
  return [...pieces.flatMap((events) => writer.write(events)), ...writer.end()].map(({ data }) =>
    data.length === 0 ? undefined : parseJsonBytes(data),
  )
}

const content = (...parts: readonly object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })

describe('a stream', () => {
  test('has its calls when it is complete, also of calls that alternate', () => {
    const written = streamed([
      [call(0)],
      [call(1, 'g')],
      [args(0, '{"a":')],
      [args(1, '{}')],
      [callEnd(1)],
      [args(0, '12345678901234567890}')],
      [callEnd(0)],
      [finish],
    ])
    expect(written.filter((each) => each !== undefined)).toMatchObject([
      content({ functionCall: { id: 'c1', name: 'g', args: {} } }, { functionCall: { id: 'c0', name: 'f' } }),
      { candidates: [{ finishReason: 'STOP' }] },
    ])
    expect(JSON.stringify(written)).toContain('"args":{"a":12345678901234567890}')
  })

  test('shows progress until it finishes with calls: those of an answer that was cut are not written', () => {
    const writer = responseStreamWriter(options)
    const text: AnswerEvent = { kind: 'text', choice, text: 'Behind.' }
    const parts = [[call(0)], [args(0, '{}')], [callEnd(0)], [text]].flatMap((events) => writer.write(events))
    for (const part of parts) expect(part).toMatchObject({ isProgress: true, isMeaningful: false, isBeyondText: false })
    expect(parts.every(({ data }) => data.length === 0)).toBe(true)
    expect(writer.write([finish])).toMatchObject([{ text: 'Behind.', isMeaningful: true, isBeyondText: true }])
  })

  test('has calls above 1 MiB before it finishes', () => {
    const writer = responseStreamWriter(options)
    const large = JSON.stringify({ a: 'x'.repeat(1024 * 1024) })
    const parts = [[call(0)], [args(0, large)], [callEnd(0)]].flatMap((events) => writer.write(events))
    expect(parts.at(-1)).toMatchObject({ isMeaningful: true, isBeyondText: true, hasOpenChoice: true })
    expect(parts.at(-1)?.data.length).toBeGreaterThan(1024 * 1024)
  })

  test('has sealed thoughts in the signature of the next call alone', () => {
    const sealed = { text: 'Hm', opaque: { maker: 'sealed', data: 'svc1:x' } } as const
    const events: readonly AnswerEvent[] = [
      { kind: 'sealed', choice, ...sealed },
      call(0),
      callEnd(0),
      call(1),
      callEnd(1),
      finish,
    ]
    const [first] = streamed([events])
    const text = JSON.stringify(first)
    const [signature = '', ...others] = [...text.matchAll(/"thoughtSignature":"([^"]*)"/g)].map(
      ([, found = '']) => found,
    )
    expect([openThoughts(signature), others]).toEqual([[sealed], []])
  })

  test('has one head, the model of the answer, and estimated usage where there is none', () => {
    const written = streamed([
      [{ kind: 'start', id: 'r', model: 'theirs', created: 1 }],
      [{ kind: 'text', choice, text: 'abcde' }],
      [finish],
    ])
    expect(written).toEqual([
      {
        ...content({ text: 'abcde' }),
        candidates: [{ ...content({ text: 'abcde' }).candidates[0], index: 0 }],
        modelVersion: 'theirs',
        responseId: 'r',
      },
      undefined,
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, index: 0, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
        modelVersion: 'theirs',
        responseId: 'r',
      },
    ])
  })

  test('has several candidates, which end one by one', () => {
    const writer = responseStreamWriter({ ...options, choices: 2 })
    const parts = [
      writer.write([
        { kind: 'text', choice: 0, text: 'a' },
        { kind: 'text', choice: 1, text: 'b' },
      ]),
      writer.write([finish]),
      writer.write([{ ...finish, choice: 1, reason: 'length' }]),
      writer.end(),
    ].flat()
    expect(parts).toMatchObject([
      { text: 'a', isBeyondText: true, hasOpenChoice: true },
      { finishReason: 'stop', hasOpenChoice: true },
      { finishReason: 'length', hasOpenChoice: false },
      { finishReason: undefined, hasOpenChoice: false },
    ])
    expect(parseJsonBytes(parts.at(-1)?.data ?? new Uint8Array())).toMatchObject({
      candidates: [
        { index: 0, finishReason: 'STOP' },
        { index: 1, finishReason: 'MAX_TOKENS' },
      ],
    })
  })

  test('fails when incomplete calls grow without end', () => {
    const writer = responseStreamWriter(options)
    writer.write([call(0)])
    expect(() => {
      for (let round = 0; round < 10; round++) writer.write([args(0, 'x'.repeat(1024 * 1024))])
    }).toThrow(UpstreamFailure)
  })
})

describe('a whole answer', () => {
  test('has text, images, log probabilities, usage and its reason', () => {
    const token = { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [{ token: 'b', logprob: -1, bytes: null }] }
    const { body } = writeGeminiResponse(
      [
        { kind: 'reasoning', choice, text: 'Hm' },
        { kind: 'text', choice, text: 'a' },
        { kind: 'text', choice, text: 'b' },
        { kind: 'logprobs', choice, tokens: [token], refusalTokens: undefined },
        { kind: 'image', choice, mediaType: 'image/png', base64: 'aGk=' },
        { kind: 'finish', choice, reason: 'content_filter', raw: undefined },
        { kind: 'usage', counts: { prompt: 3, completion: 9, cached: 1, reasoning: 4 }, own: undefined },
      ],
      { ...options, includesThoughts: false },
    )
    expect(parseJsonBytes(body)).toMatchObject({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'a' }, { text: 'b' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }],
          },
          finishReason: 'SAFETY',
          index: 0,
          logprobsResult: {
            chosenCandidates: [{ token: 'a', logProbability: -0.5 }],
            topCandidates: [{ candidates: [{ token: 'b', logProbability: -1 }] }],
          },
        },
      ],
      usageMetadata: {
        promptTokenCount: 3,
        candidatesTokenCount: 5,
        totalTokenCount: 12,
        cachedContentTokenCount: 1,
        thoughtsTokenCount: 4,
      },
      modelVersion: 'asked',
    })
  })

  test('without content is empty, and has an empty text', () => {
    const reply = writeGeminiResponse([finish], options)
    expect(reply.isEmpty).toBe(true)
    expect(parseJsonBytes(reply.body)).toMatchObject(content({ text: '' }))
  })
})
