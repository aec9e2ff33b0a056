import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { targetWith } from '../../profiles/testing.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { encodeJson, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readChatRequest } from './read-conversation.ts'
import { chatCompletions } from './upstream.ts'

function sent(fields: object, profile: Partial<TargetProfile> = {}, overrides: JsonObject = {}, isStream = true) {
  const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
  const conversation = readChatRequest(encode(JSON.stringify(asked)), [])
  const target = { model: 'theirs', isStream, ...targetWith(profile), overrides }
  return objectOf(parseJsonBytes(Buffer.concat(chatCompletions.write(conversation, target))))
}

describe('a translated request to a provider of chat completions', () => {
  test('has the changes that the provider needs, like one that passes through', () => {
    const body = sent(
      { max_tokens: 5, seed: 1, temperature: 1 },
      {
        rename: { max_completion_tokens: 'max_tokens' },
        drop: ['stream_options', 'seed'],
      },
      { temperature: 0, extra: 1 },
    )
    expect(body).toEqual({
      model: 'theirs',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 5,
      temperature: 0,
      stream: true,
      extra: 1,
    })
  })

  test.each([
    ['keep', { reasoning_content: 'Hm.' }],
    ['drop', {}],
    ['reasoning', { reasoning: 'Hm.' }],
    ['required', { reasoning_content: 'Hm.' }],
  ] as const)('has the reasoning of earlier answers as the provider needs it: %s', (reasoning, expected) => {
    const messages = [
      { role: 'assistant', content: 'One', reasoning: 'Hm.' },
      { role: 'assistant', content: 'Two' },
    ]
    const blank = reasoning === 'required' ? { reasoning_content: ' ' } : {}
    expect(objectsOf(sent({ messages }, { reasoning })['messages'])).toEqual([
      { role: 'assistant', content: 'One', ...expected },
      { role: 'assistant', content: 'Two', ...blank },
    ])
  })

  test('asks a stream for its usage, and a whole answer for nothing', () => {
    expect(sent({})['stream_options']).toEqual({ include_usage: true })
    expect(Object.keys(sent({}, {}, {}, false)).toSorted()).toEqual(['messages', 'model'])
  })

  test('is refused when the format has no such value', () => {
    expect(() => sent({ temperature: 3 })).toThrow(UpstreamFailure)
  })
})

describe('an answer of a provider of chat completions', () => {
  const choice = { message: { content: 'Hi' } }

  test('is repaired before it is read', () => {
    const [start, ...events] = [chatCompletions.readAnswer(encodeJson({ choices: [choice] }))].flat()
    expect(start).toMatchObject({ kind: 'start', model: undefined })
    expect(events).toEqual([
      { kind: 'text', choice: 0, text: 'Hi' },
      { kind: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
    ])
  })

  test('that is an error is one, whole and in a stream', () => {
    const error = encodeJson({ error: { message: 'No', code: 'rate_limit_exceeded' } })
    const expected = { kind: 'error', error: { message: 'No' } }
    expect(chatCompletions.readAnswer(error)).toMatchObject(expected)
    for (const event of ['', 'error'])
      expect(chatCompletions.answerReader().read({ event, data: error })).toMatchObject(expected)
  })

  test('that is malformed is refused, whole and in a stream', () => {
    const data = encode('{"choices":')
    expect(() => chatCompletions.readAnswer(data)).toThrow(MalformedAnswer)
    expect(() => chatCompletions.answerReader().read({ event: '', data })).toThrow(MalformedAnswer)
  })

  test('has a finish for a choice without one, at the end marker only', () => {
    const reader = chatCompletions.answerReader()
    const data = encodeJson({ choices: [{ index: 0, delta: { content: 'Hi' } }] })
    expect([reader.read({ event: '', data })].flat().map((event) => event !== 'done' && event.kind)).toEqual([
      'start',
      'text',
    ])
    expect(reader.read({ event: '', data: encode('[DONE]') })).toBe('done')
    expect(reader.end()).toMatchObject([{ kind: 'finish', reason: 'stop' }])
  })
})
