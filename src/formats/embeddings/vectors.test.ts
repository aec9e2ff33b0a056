import { describe, expect, test } from 'bun:test'
import { encode, utf8 } from '../../bytes/text.ts'
import type { Ask } from '../ask.ts'
import { parseJsonBytes } from '../exact-json.ts'
import { readEmbeddingsElsewhere, readLargeEmbeddingsElsewhere } from '../gemini/embed-elsewhere.ts'
import { readEmbeddingsAnswer, readLargeEmbeddingsAnswer } from '../gemini/embeddings.ts'
import { batchEmbedContents } from '../gemini/native-only.ts'
import { embeddings } from './format.ts'
import type { EmbeddingsRequest } from './request.ts'

const count = 400
const vectors = Array.from({ length: count }, (_, index) => Array.from({ length: 1024 }, () => index / 7))
const texts = vectors.map((_, index) => `text ${index}`)
const ofGoogle = encode(JSON.stringify({ embeddings: vectors.map((values) => ({ values })) }))
const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
const ofOthers = encode(JSON.stringify({ object: 'list', model: 'm', data: data.toReversed() }))
const path = '/v1/embeddings'
const envelope = { path, headers: new Headers(), parameter: () => null }

function requestFor(more: object = {}): EmbeddingsRequest {
  const asked = embeddings.check(encode(JSON.stringify({ model: 'm', input: texts, ...more })), envelope)
  return {
    ...asked,
    format: 'embeddings',
    stream: false,
    inputs: count,
    isBase64: 'encoding_format' in more,
    dimensions: undefined,
    isUsual: true,
  }
}

/** Counts pauses. */
function pauses() {
  const seen = { count: 0 }
  return { seen, pause: async () => void seen.count++ }
}

describe('embeddings of a large answer', () => {
  test.each([{}, { encoding_format: 'base64' }])(
    'of Google are translated in slices, as a small one: %j',
    async (more) => {
      const { seen, pause } = pauses()
      const read = await readLargeEmbeddingsAnswer(ofGoogle, requestFor(more), pause)
      expect(utf8(read.body)).toBe(utf8(readEmbeddingsAnswer(ofGoogle, requestFor(more)).body))
      expect(parseJsonBytes(read.body)).toMatchObject({ object: 'list', data: { length: count }, model: 'm' })
      expect(seen.count).toBeGreaterThan(4)
    },
  )

  test('for callers of Gemini are translated in slices, in their order', async () => {
    const { seen, pause } = pauses()
    const requests = texts.map((text) => ({ model: 'models/m', content: { parts: [{ text }] } }))
    const ask: Ask = {
      format: 'gemini_batch_embed',
      body: encode(JSON.stringify({ requests })),
      model: 'm',
      stream: false,
      members: [],
    }
    const read = await readLargeEmbeddingsElsewhere(ofOthers, ask, pause)
    expect(read).toEqual(readEmbeddingsElsewhere(ofOthers, ask))
    expect(read.kind === 'whole' && parseJsonBytes(read.body)).toEqual({
      embeddings: vectors.map((values) => ({ values })),
    })
    expect(seen.count).toBeGreaterThan(4)
  })

  test('that passes through is inspected in slices', async () => {
    const { seen, pause } = pauses()
    const read = batchEmbedContents.passThrough.readLarge
    const ask: Ask = { format: 'gemini_batch_embed', body: encode('{}'), model: 'm', stream: false, members: [] }
    expect(await read?.(ofGoogle, ask, pause)).toMatchObject({ kind: 'whole', body: ofGoogle })
    expect(seen.count).toBeGreaterThan(0)
    for (const wrong of ['{"embeddings":[]}', '[]', '{}', '{"embeddings":[{}]', '{"embedding":[1]}'])
      expect(await read?.(encode(wrong), ask, pause).catch((error: unknown) => error)).toBeInstanceOf(Error)
  })

  test('without numbers is malformed', () => {
    const one: EmbeddingsRequest = { ...requestFor(), inputs: 1 }
    for (const values of ['[]', '["1"]', '[null]', '"x"', '{}', '[1,[2]]'])
      expect(() => readEmbeddingsAnswer(encode(`{"embeddings":[{"values":${values}}]}`), one)).toThrow(
        'no list of numbers',
      )
    for (const body of ['{"embeddings":[5]}', '{"embeddings":5}', '[]', '{"embeddings":[{"values":[1]}', '{}'])
      expect(() => readEmbeddingsAnswer(encode(body), one)).toThrow()
  })
})
