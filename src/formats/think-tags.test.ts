import { describe, expect, test } from 'bun:test'
import type { AnswerEvent } from './answer.ts'
import { thinkTags } from './think-tags.ts'

/** The text and the reasoning of pieces of text. A piece in braces is reasoning of a field. */
function given(first: 'paired' | 'closing', pieces: readonly string[]): readonly [text: string, reasoning: string] {
  const read = thinkTags(first)
  const events = pieces.flatMap((piece): readonly AnswerEvent[] => {
    const field = /^\{(.*)\}$/s.exec(piece)?.[1]
    return read([{ kind: field === undefined ? 'text' : 'reasoning', choice: 0, text: field ?? piece }])
  })
  const all = [...events, ...read([{ kind: 'finish', choice: 0, reason: 'stop', raw: 'stop' }])]
  const said = (kind: string) => all.map((event) => (event.kind === kind && 'text' in event ? event.text : '')).join('')
  expect(all.at(-1)?.kind).toBe('finish')
  return [said('text'), said('reasoning')]
}

describe('text with reasoning between tags', () => {
  test.each([
    [['<think>hm</think>fine'], 'fine', 'hm'],
    [['\n<th', 'ink>\nh', 'm</', 'think', '>\n', '\nfi', 'ne <think>'], 'fine <think>', 'hm'],
    [['<think>a < b </thin', 'g></think>fine'], 'fine', 'a < b </thing>'],
    [['<think>hm'], '', 'hm'],
    [['<think></think>fine'], 'fine', ''],
    [['{hm}', '<think>hm</think>fine'], 'fine', 'hm'],
    [['{h}', '<think>h', '{m}', 'm</think>', 'fine'], 'fine', 'hm'],
    [['<thin'], '<thin', ''],
    [[' ', 'a <think>b</think>'], ' a <think>b</think>', ''],
    [['fine'], 'fine', ''],
  ])('%j has the text %j and the reasoning %j', (pieces, text, reasoning) => {
    expect(given('paired', pieces)).toEqual([text, reasoning])
  })

  test('may begin inside of them', () => {
    expect(given('closing', ['h', 'm</think>\n\nfine'])).toEqual(['fine', 'hm'])
  })

  test('ends before a call', () => {
    const call: AnswerEvent = { kind: 'call', choice: 0, call: 0, id: 'a', name: 'f', opaque: undefined }
    const read = thinkTags('paired')
    expect([...read([{ kind: 'text', choice: 0, text: '<think>hm</t' }]), ...read([call])]).toEqual([
      { kind: 'reasoning', choice: 0, text: 'hm' },
      { kind: 'reasoning', choice: 0, text: '</t' },
      call,
    ])
  })
})
