import { describe, expect, test } from 'bun:test'
import { newKey } from '../people/keys/key-form.ts'
import { keptBytesMax, keptTexts, type KeptTexts } from './kept-text.ts'
import { secretRemover } from './remove-secrets.ts'
import type { TakenAnswer } from './taken-content.ts'

const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const secret = 'pk-4f9a8c7b6d5e4f3a2b1c'
const remove = secretRemover({
  '0 key': secret,
  '0 x-app': 'an application',
  '0 authorization': 'Bearer tok-123456789',
})

function kept(question: unknown, answer?: TakenAnswer, redact: readonly string[] = [], contentType = ''): KeptTexts {
  return keptTexts(
    {
      request: { time: 1, id: 'r' },
      keepMs: 1,
      redact,
      question: { bytes: bytesOf(question), contentType },
      ...(answer === undefined ? {} : { answer }),
    },
    remove,
  )
}

const textOf = ({ bytes }: KeptTexts['question']) => new TextDecoder().decode(bytes)
const questionOf = (question: unknown, contentType = '') => textOf(kept(question, undefined, [], contentType).question)
const whole = (value: unknown, contentType = ''): string =>
  textOf(kept({}, { kind: 'whole', sent: { bytes: bytesOf(value), contentType } }).answer)
const streamed = (...pieces: readonly (string | object)[]): string => {
  const all = pieces.map((piece) => (typeof piece === 'string' ? piece : bytesOf(piece)))
  return textOf(kept({}, { kind: 'parts', pieces: all, isCut: false }).answer)
}
const picture = Buffer.alloc(600, 7).toString('base64')
const measured = '600 bytes, SHA-256 '

describe('a question', () => {
  test('of chat completions has roles, texts, calls, pictures by size, and settings', () => {
    const text = questionOf({
      model: 'm',
      stream: true,
      temperature: 0,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
            { type: 'input_audio', input_audio: { data: picture, format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'a cat' },
      ],
    })
    expect(text).toStartWith('[system]\nBe brief.\n\n[user]\nWhat is it?\n')
    expect(text).toContain(`[image/png, ${measured}`)
    expect(text).toContain(`"data":"[data, ${measured}`)
    expect(text).toEndWith('\n\n[assistant]\n[call look] {"a":1}\n\n[tool]\na cat\n\n[settings]\n{"temperature":0}')
    expect(text).not.toContain(picture.slice(0, 40))
  })

  test('of Messages, Responses, Gemini, embeddings and a form is readable, too', () => {
    const source = { type: 'base64', media_type: 'image/png', data: picture }
    const messages = questionOf({
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'Why?' },
          ],
        },
      ],
    })
    expect(messages).toStartWith('[system]\nBe brief.\n\n[user]\n')
    expect(messages).toContain(measured)
    expect(questionOf({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'Why?' }] }] })).toBe(
      '[input]\n[user]\nWhy?',
    )
    const parts = [{ text: 'Why?' }, { inlineData: { mimeType: 'image/png', data: picture } }]
    expect(questionOf({ contents: [{ role: 'user', parts }] })).toMatch(/^\[user\]\nWhy\?\n.*image\/png.*600 bytes/)
    expect(questionOf({ input: ['one', 'two'] })).toBe('[input]\none\ntwo')
    expect(questionOf({ input: Array.from({ length: 20 }, (_, index) => index) })).toBe('[input]\n[20 numbers]')
    const form = [
      '--x\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nsay it\r\n',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n',
      'content-type: audio/wav\r\n\r\nRIFF\r\n--x--\r\n',
    ].join('')
    expect(questionOf(form, 'multipart/form-data; boundary=x')).toMatch(
      /^\[prompt\]\nsay it\n\n\[file\]\n\[audio\/wav, 4 bytes, SHA-256 [0-9a-f]{64}\]$/,
    )
  })

  test.each([
    ['not JSON', '{"a":'],
    ['deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['a deep member', `{"input":${'[{"content":'.repeat(500)}"x"${'}]'.repeat(500)}}`],
    ['members of other types', '{"messages":{"role":5,"content":{"text":[null,5,true]}},"input":{},"system":[[[]]]}'],
    ['a bad form', '--x'],
    ['no text at all', ''],
  ])('of any bytes is some text: %s', (name, text) => {
    expect(typeof questionOf(text, name === 'a bad form' ? 'multipart/form-data; boundary=x' : '')).toBe('string')
  })
})

describe('an answer', () => {
  test.each<[string, string, string]>([
    ['chat', whole({ id: 'c', choices: [{ message: { role: 'assistant', content: 'Yes.' } }], usage: {} }), 'Yes.'],
    [
      'reasoning',
      whole({ choices: [{ message: { reasoning_content: 'Hm.', content: 'Yes.' } }] }),
      '[reasoning]\nHm.\nYes.',
    ],
    [
      'messages',
      whole({
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Yes.' },
        ],
      }),
      '[reasoning]\nHm.\nYes.',
    ],
    ['a call', whole({ content: [{ type: 'tool_use', name: 'look', input: { a: 1 } }] }), '[call look] {"a":1}'],
    ['responses', whole({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }] }), 'Yes.'],
    ['gemini', whole({ candidates: [{ content: { role: 'model', parts: [{ text: 'Yes.' }] } }] }), 'Yes.'],
    ['embeddings', whole({ data: [{ embedding: Array(20).fill(0.5) }] }), '[20 numbers]'],
    ['an image', whole({ data: [{ b64_json: picture }] }).slice(0, 34), `{"b64_json":"[data, ${measured}`.slice(0, 34)],
    ['subtitles', whole('WEBVTT\n\nYes.', 'text/vtt'), 'WEBVTT\n\nYes.'],
    ['sound', whole('RIFF', 'audio/wav').slice(0, 29), '[audio/wav, 4 bytes, SHA-256 '],
  ])('of %s is readable', (_, text, wanted) => {
    expect(text).toBe(wanted)
  })

  test('that was streamed has its text, and reasoning and calls of all formats', () => {
    expect(streamed('Ye', 's.')).toBe('Yes.')
    const call = (called: object) => ({ choices: [{ delta: { tool_calls: [{ index: 0, function: called }] } }] })
    expect(
      streamed(
        { choices: [{ delta: { reasoning_content: 'Hm' } }] },
        { choices: [{ delta: { reasoning: '.' } }] },
        'Yes.',
      ),
    ).toBe('[reasoning]\nHm.\n\n[answer]\nYes.')
    expect(
      streamed('So:', call({ name: 'look', arguments: '' }), call({ arguments: '{"a"' }), call({ arguments: ':1}' })),
    ).toBe('So:\n\n[call look] {"a":1}')
    expect(
      streamed(
        { type: 'content_block_start', content_block: { type: 'tool_use', name: 'look' } },
        { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{}' } },
      ),
    ).toBe('[call look] {}')
    expect(
      streamed(
        { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
        { type: 'response.output_item.added', item: { type: 'function_call', name: 'look' } },
        { type: 'response.function_call_arguments.delta', delta: '{}' },
        { type: 'response.completed', response: { output: ['repeated'] } },
      ),
    ).toBe('[reasoning]\nHm.\n\n[call look] {}')
    expect(
      streamed({
        candidates: [
          { content: { parts: [{ text: 'Hm.', thought: true }, { functionCall: { name: 'look', args: {} } }] } },
        ],
      }),
    ).toBe('[reasoning]\nHm.\n\n[calls]\n[call look] {}\n')
    const second = (delta: object) => ({ choices: [{ index: 1, delta }] })
    expect(
      streamed('a', second({ reasoning: 'H' }), 'b', second({ reasoning: 'm.' }), second({ content: 'c' }), 'd'),
    ).toBe('abd\n\n[choice 2]\n[reasoning]\nHm.\n\n[answer]\nc')
    expect(streamed({ candidates: [{ index: 2, content: { parts: [{ text: 'a' }] } }] })).toBe('[choice 3]\na')
  })

  test('in which events are hostile has the rest', () => {
    expect(
      streamed('a', Buffer.from('{'), { choices: 'x', delta: 5, item: null }, { candidates: [{ content: [] }] }, 'b'),
    ).toBe('ab')
  })
})

describe('secrets', () => {
  const own = newKey('program')
  const manage = newKey('management')

  test('are removed: keys of providers and their headers, our own keys, and what patterns match', () => {
    const input = `a ${secret} b ${own} c ${own.slice(3)} d ${manage} e tok-123456789 f 1234-5678 an application`
    const { question } = kept({ input }, undefined, ['\\d{4}-\\d{4}'])
    expect(textOf(question)).toBe(
      '[input]\na [redacted] b [removed] c [removed] d [removed] e [redacted] f [removed] an application',
    )
  })

  test('that are no keys of ours stay: the checksum tells', () => {
    const wrong = `${own.slice(0, -1)}${own.endsWith('a') ? 'b' : 'a'}`
    expect(questionOf({ input: wrong })).toBe(`[input]\n${wrong}`)
  })

  test('in pieces of a stream, in escapes of JSON and in settings are removed', () => {
    expect(streamed('x', own.slice(0, 20), own.slice(20))).toBe('x[removed]')
    expect(questionOf(`{"input":"${own.replace('s', '\\u0073')}","user":"${own}"}`)).toBe(
      '[input]\n[removed]\n\n[settings]\n{"user":"[removed]"}',
    )
  })

  test('in JSON within JSON are removed, whatever its escapes', () => {
    const redact = ['Müller', '\\bx/y\\b']
    const json = '{"a":"M\\u00fcller\\nx\\/y \\\\u00fc \\u0022"}'
    const clean = '{"a":"[removed]\n[removed] \\\\u00fc \\u0022"}'
    const called = { name: 'look', arguments: json }
    const { question } = kept(
      { messages: [{ role: 'assistant', tool_calls: [{ function: called }] }] },
      undefined,
      redact,
    )
    expect(textOf(question)).toBe(`[assistant]\n[call look] ${clean}`)
    const piece = (part: object) => bytesOf({ choices: [{ delta: { tool_calls: [{ function: part }] } }] })
    const pieces = [piece({ name: 'look', arguments: json.slice(0, 10) }), piece({ arguments: json.slice(10) })]
    expect(textOf(kept({}, { kind: 'parts', pieces, isCut: false }, redact).answer)).toBe(`[call look] ${clean}`)
    expect(textOf(kept({ metadata: { a: 'b\nx/y' } }, undefined, redact).question)).toBe(
      '[settings]\n{"metadata":{"a":"b\n[removed]"}}',
    )
  })

  test('in choices that take turns in a stream are removed', () => {
    const second = (content: string) => bytesOf({ choices: [{ index: 1, delta: { content } }] })
    const [start, end] = [own.slice(0, 20), own.slice(20)]
    const pieces = [start, second(start), end, second(end)]
    expect(textOf(kept({}, { kind: 'parts', pieces, isCut: false }).answer)).toBe('[removed]\n\n[choice 2]\n[removed]')
    const cut = kept({}, { kind: 'parts', pieces: ['a'.repeat(9_000), second(start)], isCut: true })
    expect([textOf(cut.answer), cut.answer.isCut]).toEqual(['a'.repeat(9_000 - 8 * 1024), true])
  })

  test('at the place where a text is cut leave no half behind', () => {
    for (const before of [keptBytesMax - 60, keptBytesMax - 30, keptBytesMax - 9, keptBytesMax + 8_150]) {
      const { question } = kept(`${'x '.repeat(before / 2)}${own}${' y'.repeat(20_000)}`)
      expect(question.bytes.length).toBeLessThanOrEqual(keptBytesMax)
      expect([before, question.isCut]).toEqual([before, true])
      expect(textOf(question)).not.toContain(own.slice(0, 8))
    }
  })
})

test('a text is cut at whole characters, and says so', () => {
  const { question } = kept({ input: '€'.repeat(200_000) })
  expect(question.isCut).toBe(true)
  expect(question.bytes.length).toBeGreaterThan(keptBytesMax - 4)
  expect(textOf(question)).not.toContain('\ufffd')
  expect(kept({ input: 'short' }).question.isCut).toBe(false)
})
