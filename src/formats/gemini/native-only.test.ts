import { describe, expect, test } from 'bun:test'
import { envelopeAt } from '../format-testing.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { batchEmbedContents, embedContent } from './native-only.ts'

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))
const content = { parts: [{ text: 'Hi' }] }
const one = embedContent.check(bytes({ content }), envelopeAt('/v1beta/models/m:embedContent'))
const several = batchEmbedContents.check(
  bytes({ requests: [{ content }] }),
  envelopeAt('/v1beta/models/m:batchEmbedContents'),
)

describe('embeddings of Gemini for its callers', () => {
  test('pass unchanged', () => {
    const body = bytes({ embedding: { values: [0.5, 1] } })
    expect(embedContent.passThrough.readWhole(body, one)).toMatchObject({ kind: 'whole', body })
  })

  test.each([[null], [{}], [{ values: null }], [{ values: [] }], [{ values: ['0.5'] }], [{ values: [null] }], ['no']])(
    'that are none are malformed: %j',
    async (embedding) => {
      expect(() => embedContent.passThrough.readWhole(bytes({ embedding }), one)).toThrow(MalformedAnswer)
      const body = bytes({ embeddings: [{ values: [1] }, embedding] })
      expect(() => batchEmbedContents.passThrough.readWhole(body, several)).toThrow(MalformedAnswer)
      const large = batchEmbedContents.passThrough.readLarge?.(body, several, async () => {})
      await expect(large).rejects.toThrow(MalformedAnswer)
    },
  )
})
