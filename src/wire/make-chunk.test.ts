import { describe, expect, test } from 'bun:test'
import { chunkOf, headMembers } from './make-chunk.ts'
import { MalformedAnswer } from './malformed-answer.ts'

const head = headMembers({ id: 'i', created: 1, model: 'm' })

describe('chunkOf', () => {
  test('makes the chunk that would be read', () => {
    const value = { ...head, choices: [{ index: 0, delta: { content: 'a\nb' }, finish_reason: null }] }
    const chunk = chunkOf(value)
    expect(chunk).toMatchObject({ kind: 'chunk', text: 'a\nb', isMeaningful: true, hasOpenChoice: true })
    expect(new TextDecoder().decode(chunk.data)).toBe(JSON.stringify(value))
  })

  test('makes none of an error', () => {
    expect(() => chunkOf({ error: { message: 'no' } })).toThrow(MalformedAnswer)
  })
})
