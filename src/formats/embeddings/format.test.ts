import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countedPauses } from '../../bytes/testing.ts'
import { encode } from '../../bytes/text.ts'
import { WireError } from '../error.ts'
import { envelopeAt } from '../format-testing.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readEmbeddings } from './answer.ts'
import { embeddings } from './format.ts'
import type { EmbeddingsRequest } from './request.ts'

const envelope = envelopeAt(embeddings.path)

function requestOf(fields: Readonly<Record<string, unknown>> = {}): EmbeddingsRequest {
  const ask = embeddings.check(encode(JSON.stringify({ model: 'e', input: 'x', ...fields })), envelope)
  return {
    inputs: 1,
    isBase64: false,
    dimensions: undefined,
    isUsual: true,
    ...ask,
    format: 'embeddings',
    stream: false,
  }
}

function answerOf(answer: unknown, fields?: Readonly<Record<string, unknown>>): unknown {
  const read = readEmbeddings(encode(JSON.stringify(answer)), requestOf(fields))
  return read.kind === 'whole' ? JSON.parse(new TextDecoder().decode(read.body)) : read
}

const embedding = [0.5, -1]
const whole = { object: 'list', data: [{ object: 'embedding', index: 0, embedding }], model: 'm' }

describe('a request for embeddings', () => {
  test.each([
    ['a text', 'x', 1],
    ['texts', ['x', 'y'], 2],
    ['tokens', [1, 2, 3], 1],
    ['arrays of tokens', [[1], [2, 3]], 2],
    ['pictures', [{ image: 'data:' }], 1],
  ])('counts its inputs: %s', (_, input, inputs) => {
    expect(requestOf({ input })).toMatchObject({ model: 'e', inputs, isBase64: false })
  })

  test('reads whether it asks for base64', () => {
    expect(requestOf({ encoding_format: 'base64' }).isBase64).toBe(true)
    expect(requestOf({ encoding_format: 'float' }).isBase64).toBe(false)
    expect(requestOf({ encoding_format: null }).isBase64).toBe(false)
  })

  test('is checked in slices with the same result', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (input, dimensions) => {
        const body = encode(JSON.stringify({ model: 'e', input, dimensions }))
        const attempt = async (check: () => unknown) => {
          try {
            return await check()
          } catch (error) {
            expect(error).toBeInstanceOf(WireError)
            return error instanceof WireError ? error.message : undefined
          }
        }
        const large = await attempt(() => embeddings.checkLarge(body, async () => undefined, envelope))
        expect(large).toEqual(await attempt(() => embeddings.check(body, envelope)))
      }),
    )
  })
})

describe('an answer with embeddings', () => {
  test('that is complete passes unchanged', () => {
    const body = encode(JSON.stringify(whole))
    expect(readEmbeddings(body, requestOf())).toMatchObject({ kind: 'whole', body })
  })

  test('gets required members', () => {
    expect(answerOf({ data: [{ embedding }] })).toEqual({ ...whole, model: 'e' })
    expect(answerOf({ data: [{ embedding, index: '0' }], model: 7, x: 1 })).toEqual({ ...whole, model: 'e', x: 1 })
  })

  test('may say that there is no error', () => {
    expect(answerOf({ error: null, ...whole })).toEqual({ error: null, ...whole })
  })

  test('has floats encoded as base64 on request', () => {
    const answer = answerOf(whole, { encoding_format: 'base64' })
    expect(answer).toMatchObject({
      data: [{ embedding: Buffer.from(new Float32Array(embedding).buffer).toString('base64') }],
    })
  })

  test('has base64 decoded for a caller of numbers', () => {
    const text = Buffer.from(new Float32Array([0.5, -2]).buffer).toString('base64')
    expect(answerOf({ data: [{ embedding: text }] })).toMatchObject({ data: [{ embedding: [0.5, -2] }] })
    const other = { output_dtype: 'ubinary' }
    expect(answerOf({ data: [{ embedding: 'AAE' }] }, other)).toMatchObject({ data: [{ embedding: 'AAE' }] })
  })

  test('has the asked width, and one width', () => {
    for (const encoding_format of ['float', 'base64']) {
      const asked = { dimensions: 3, encoding_format }
      expect(answerOf({ data: [{ embedding: [1, 2e-3, -4] }] }, asked)).toBeDefined()
      expect(() => answerOf({ data: [{ embedding: [1, 2] }] }, asked)).toThrow('the answer has 2 dimensions, not 3')
      const two = { input: ['a', 'b'], encoding_format }
      expect(() => answerOf({ data: [{ embedding: [1, 2] }, { embedding: [1] }] }, two)).toThrow(MalformedAnswer)
    }
    const base64 = Buffer.from(new Float32Array([0.5, -2]).buffer).toString('base64')
    expect(() => answerOf({ data: [{ embedding: base64 }] }, { dimensions: 3 })).toThrow(
      'the answer has 2 dimensions, not 3',
    )
  })

  test('may have a vector for each token', () => {
    const data = [{ object: 'embedding', index: 0, embedding: [[1, 2], [3]] }]
    expect(answerOf({ ...whole, data }, { dimensions: 3 })).toEqual({ ...whole, data })
  })

  test('is an error if it contains one', () => {
    expect(answerOf({ error: { message: 'no', code: 'rate_limit_exceeded' } })).toMatchObject({
      kind: 'error',
      error: { message: 'no' },
    })
  })

  test.each([
    ['no data', { object: 'list' }],
    ['too few embeddings', { data: [] }],
    ['too many embeddings', { data: [{ embedding }, { embedding }] }],
    ['an entry without an embedding', { data: [{ index: 0 }] }],
    ['an embedding of another type', { data: [{ embedding: 7 }] }],
    ['an array', []],
    ['null', { data: [{ embedding: null }] }],
    ['an empty embedding', { data: [{ embedding: [] }] }],
    ['an embedding of texts', { data: [{ embedding: ['0.1'] }] }],
    ['an embedding of nulls', { data: [{ embedding: [null, 1] }] }],
    ['an embedding of objects', { data: [{ embedding: [{}] }] }],
    ['a text', { data: [{ embedding: 'I am sorry' }] }],
    ['an empty text', { data: [{ embedding: '' }] }],
    [
      'no number in base64',
      { data: [{ embedding: Buffer.from(new Float32Array([1, NaN]).buffer).toString('base64') }] },
    ],
  ])('is malformed with %s', (_, answer) => {
    expect(() => answerOf(answer)).toThrow(MalformedAnswer)
  })

  test('is read or malformed, for any input', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.jsonValue(), (bytes, value) => {
        for (const body of [bytes, encode(JSON.stringify({ data: [{ embedding, x: value }, value], usage: value }))]) {
          try {
            const read = readEmbeddings(body, requestOf({ input: ['a', 'b'] }))
            if (read.kind === 'whole') JSON.parse(new TextDecoder().decode(read.body))
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedAnswer)
          }
        }
      }),
    )
  })
})

describe('a large answer', () => {
  const data = Array.from({ length: 40 }, (_, index) => ({
    index,
    embedding: Array.from({ length: 500 }, () => 0.125),
  }))
  const input = data.map(() => 'x')

  test.each(['float', 'base64'])('is read in slices, with the same result: %s', async (encoding_format) => {
    const request = requestOf({ input, encoding_format })
    const body = encode(JSON.stringify({ model: 'é', data, usage: { prompt_tokens: 3, total_tokens: 3 } }))
    using pauses = countedPauses()
    const read = await embeddings.passThrough.readLarge?.(body, request, pauses.pause)
    expect(read).toEqual(embeddings.passThrough.readWhole(body, request))
    expect(pauses.count()).toBeGreaterThan(1)
  })

  test('is malformed with a fault at its end, and is not parsed for an error', async () => {
    const request = requestOf({ input })
    for (const end of [']}x', ',{}]}', ']'])
      await expect(
        embeddings.passThrough.readLarge?.(
          encode(`${JSON.stringify({ data }).slice(0, -2)}${end}`),
          request,
          async () => {},
        ),
      ).rejects.toThrow(MalformedAnswer)
  })
})
