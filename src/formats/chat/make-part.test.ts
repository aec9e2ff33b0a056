import { describe, expect, test } from 'bun:test'
import { MalformedAnswer } from '../malformed-answer.ts'
import { chunkPart, headMembers } from './whole-and-parts.ts'

const head = headMembers({ id: 'i', created: 1, model: 'm' })

describe('partOf', () => {
  test('makes the same part as the reader', () => {
    const value = {
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'a\nb' }, finish_reason: null }],
    }
    const part = chunkPart(value)
    expect(part).toMatchObject({ kind: 'part', text: 'a\nb', isMeaningful: true, hasOpenChoice: true })
    expect(new TextDecoder().decode(part.data)).toBe(JSON.stringify(value))
  })

  test('rejects an error', () => {
    expect(() => chunkPart({ error: { message: 'no' } })).toThrow(MalformedAnswer)
  })
})
