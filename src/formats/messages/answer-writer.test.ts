import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent, FinishReason } from '../answer.ts'
import { parseChecked } from '../chat/read-event.ts'
import { messageWriter, writeMessage } from './answer-writer.ts'

const options = { model: 'asked', promptTokens: () => 7 }
const choice = 0
const start: AnswerEvent = { kind: 'start', id: 'a1', model: 'theirs', created: 1 }
const text = (said: string): AnswerEvent => ({ kind: 'text', choice, text: said })
const call = (number: number): AnswerEvent => ({
  kind: 'call',
  choice,
  call: number,
  id: `call_${number}`,
  name: 'f',
  opaque: undefined,
})
const input = (number: number, json: string): AnswerEvent => ({ kind: 'arguments', choice, call: number, text: json })
const callEnd = (number: number): AnswerEvent => ({ kind: 'callEnd', choice, call: number })
const finish = (reason: FinishReason = 'stop', raw: string = reason): AnswerEvent => {
  return { kind: 'finish', choice, reason, raw }
}

/** The stream in short: `+0 text`, `0 content`, `-0`, and the rest by type. */
function written(events: readonly AnswerEvent[], isComplete = true): readonly string[] {
  const writer = messageWriter(options)
  const parts = [...events.flatMap((event) => writer.write([event])), ...(isComplete ? writer.end() : [])]
  return parts.filter(({ data }) => data.length > 0).map(({ data }) => short(parseChecked(data)))
}

function short(event: ReturnType<typeof parseChecked>): string {
  const { type, index, content_block: block, delta } = JSON.parse(JSON.stringify(event))
  if (type === 'content_block_start') return `+${index} ${block.type}`
  if (type === 'content_block_stop') return `-${index}`
  if (type !== 'content_block_delta') return type
  return `${index} ${delta.text ?? delta.thinking ?? delta.partial_json ?? delta.signature}`
}

describe('a written stream', () => {
  test('has one open block at a time, in order', () => {
    const reasoning: AnswerEvent = { kind: 'reasoning', choice, text: 'Hm.' }
    expect(written([start, reasoning, text('He'), text('y'), call(0), input(0, '{}'), callEnd(0), finish()])).toEqual([
      'message_start',
      '+0 thinking',
      '0 Hm.',
      '-0',
      '+1 text',
      '1 He',
      '1 y',
      '-1',
      '+2 tool_use',
      '2 {}',
      '-2',
      'message_delta',
      'message_stop',
    ])
  })

  test('sends the oldest of calls that alternate at once, and the others behind it', () => {
    const begun = [start, call(0), call(1), input(1, '{"b":'), input(0, '{"a":')]
    expect(written(begun, false)).toEqual(['message_start', '+0 tool_use', '0 {"a":'])
    const ended = [input(1, '2}'), input(0, '1}'), callEnd(0), callEnd(1), finish()]
    expect(written([...begun, ...ended])).toEqual([
      'message_start',
      '+0 tool_use',
      '0 {"a":',
      '0 1}',
      '-0',
      '+1 tool_use',
      '1 {"b":2}',
      '-1',
      'message_delta',
      'message_stop',
    ])
  })

  test('ends a call whose JSON is complete when the next content begins', () => {
    expect(written([start, call(0), input(0, '{"a":"}"}'), call(1), input(1, '{"b"')], false)).toEqual([
      'message_start',
      '+0 tool_use',
      '0 {"a":"}"}',
      '-0',
      '+1 tool_use',
      '1 {"b"',
    ])
  })

  test('keeps blank pieces of arguments, but not before the object', () => {
    const pieces = ['{"a":"x', '  ', 'y"', '\n', '}']
    const events = ['', ' ', ...pieces].map((piece) => input(0, piece))
    expect(written([start, call(0), ...events], false).slice(2)).toEqual(pieces.map((piece) => `0 ${piece}`))
  })

  test('keeps text behind a call that is incomplete', () => {
    expect(written([start, call(0), input(0, '{'), text('Hi')], false)).toEqual(['message_start', '+0 tool_use', '0 {'])
  })

  test('never ends a call that was cut', () => {
    expect(written([start, text('x'), call(0), input(0, '{"a')], false).at(-1)).toBe('1 {"a')
  })

  test('never ends a call that was cut at a limit, for clients run a call when its block ends', () => {
    const events = [start, call(0), input(0, '{}'), callEnd(0), call(1), input(1, '{"a'), finish('length')]
    expect(written(events)).toEqual([
      'message_start',
      '+0 tool_use',
      '0 {}',
      '-0',
      '+1 tool_use',
      '1 {"a',
      'message_delta',
      'message_stop',
    ])
  })

  test('holds up to 1 MiB behind a call', () => {
    const writer = messageWriter(options)
    writer.write([start, call(0), call(1), input(1, '{'.padEnd(1024 * 1024))])
    expect(() => writer.write([input(1, 'x')])).toThrow(UpstreamFailure)
  })

  test('has signed thinking of Anthropic alone', () => {
    const sealed = (maker: 'anthropic' | 'google', said: string | undefined): AnswerEvent => {
      return { kind: 'sealed', choice, text: said, opaque: { maker, data: 'sig' } }
    }
    const thought: AnswerEvent = { kind: 'reasoning', choice, text: 'Hm.' }
    expect(
      written([start, thought, sealed('anthropic', 'Hm.'), sealed('anthropic', undefined), text('x')], false),
    ).toEqual(['message_start', '+0 thinking', '0 Hm.', '0 sig', '-0', '+1 redacted_thinking', '-1', '+2 text', '2 x'])
    expect(JSON.stringify(written([start, thought, sealed('google', 'Hm.')], false))).not.toContain('sig')
  })
})

describe('the end of an answer', () => {
  test.each([
    ['tool_use', [call(0), input(0, '{}'), callEnd(0), finish()]],
    ['max_tokens', [call(0), input(0, '{'), callEnd(0), finish('length')]],
    ['max_tokens', [text('x'), finish('length')]],
    ['refusal', [text('x'), finish('content_filter')]],
    ['end_turn', [text('x'), finish()]],
    ['recitation', [text('x'), finish('other', 'recitation')]],
    ['tool_use', [call(0), input(0, '{}'), callEnd(0), finish('other', 'recitation')]],
  ])('is %s', (expected, events) => {
    const { body } = writeMessage([start, ...events], options)
    expect(parseChecked(body)).toMatchObject({ id: 'a1', model: 'theirs', stop_reason: expected })
  })

  test('names the stop sequence that the upstream names', () => {
    const { body } = writeMessage([start, text('x'), { ...finish(), stopSequence: 'END' } as AnswerEvent], options)
    expect(parseChecked(body)).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
  })

  test('counts cached tokens apart from the input', () => {
    const counts = { prompt: 10, completion: 4, cached: 6, cacheWrite: 1 }
    const { body, usage } = writeMessage(
      [start, text('x'), finish(), { kind: 'usage', counts, own: undefined }],
      options,
    )
    expect(parseChecked(body)['usage']).toEqual({
      input_tokens: 3,
      cache_creation_input_tokens: 1,
      cache_read_input_tokens: 6,
      output_tokens: 4,
    })
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 4 })
  })

  test('is estimated for an upstream that counts nothing: clients compact their history by it', () => {
    const { body, usage } = writeMessage([start, text('12345678'), finish()], options)
    expect(parseChecked(body)['usage']).toEqual({ input_tokens: 7, output_tokens: 2 })
    expect(usage).toBeUndefined()
  })
})
