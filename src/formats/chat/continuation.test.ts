import { describe, expect, test } from 'bun:test'
import { headFrom, partJson } from '../../gateway/testing.ts'
import { chatContinuation } from './format.ts'
import { choicePart, textPart, usagePart } from './testing.ts'
import { chunkPart, headMembers } from './whole-and-parts.ts'

const other = headFrom('second')
const rest = () => chatContinuation(textPart(headFrom('first'), ''))

describe('the rest of a stream', () => {
  test('has the head of its beginning, and no second start', () => {
    const role = choicePart(other, { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null })
    const { write } = rest()
    expect(write(role)).toEqual([])
    expect(write(textPart(other, 'Hi')).map(partJson)).toEqual([
      {
        ...headMembers(headFrom('first')),
        choices: [{ index: 0, delta: { content: 'Hi' }, logprobs: null, finish_reason: null }],
      },
    ])
  })

  test('keeps unknown members', () => {
    const choices = [
      {
        index: 0,
        delta: {
          content: 'Hi',
          annotations: [{ type: 'url_citation' }],
          tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'run', input: 'ls' } }],
        },
        logprobs: null,
        finish_reason: 'stop',
        native_finish_reason: 'eos',
      },
    ]
    const more = { service_tier: 'flex', usage: null }
    const [content, finish] = rest()
      .write(chunkPart({ ...headMembers(other), ...more, choices }))
      .map(partJson)
    expect(content).toEqual({
      ...headMembers(headFrom('first')),
      ...more,
      choices: [{ ...choices[0], finish_reason: null }],
    })
    expect(finish).toMatchObject({ ...more, choices: [{ delta: {}, finish_reason: 'stop' }] })
  })

  test('has usage at its place: beside the finish, or without a choice', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, cost: 0.5 }
    const choices = [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]
    const beside = rest().write(chunkPart({ ...headMembers(other), choices, usage }))
    expect(beside.map(partJson)).toMatchObject([{ choices, usage }])
    expect(beside[0]).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 7 } })
    expect(
      rest()
        .write(usagePart(other, 3, 4))
        .map(partJson),
    ).toMatchObject([{ choices: [], usage: { total_tokens: 7 } }])
  })

  test('passes usage for the record only unchanged', () => {
    const counted = { ...usagePart(other, 3, 4), data: new Uint8Array() }
    expect(rest().write(counted)).toEqual([counted])
  })

  test('keeps long numbers unchanged', () => {
    const delta = JSON.stringify({ content: 'a' }).replace('}', ',"big":12345678901234567890}')
    const json = `{"id":"a","created":1,"model":"m","choices":[{"index":0,"delta":${delta}}]}`
    const [written] = rest().write({ ...textPart(other, 'a'), data: new TextEncoder().encode(json) })
    expect(new TextDecoder().decode(written?.data)).toContain('"big":12345678901234567890')
  })
})
