import { describe, expect, test } from 'bun:test'
import { sliceBytes } from '../../bytes/pace.ts'
import { countedPauses } from '../../bytes/testing.ts'
import { WireError } from '../error.ts'
import { envelopeAt } from '../format-testing.ts'
import { responses } from './format.ts'
import { checked } from './testing.ts'

const user = { role: 'user', content: 'hi' }

function refusalOf(fields: Readonly<Record<string, unknown>>): readonly [string, string | null] | undefined {
  try {
    checked(fields)
    return undefined
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    expect(error.status).toBe(400)
    return [error.code, error.param]
  }
}

const accepted: Readonly<Record<string, readonly unknown[]>> = {
  input: ['', 'x', [user], [{ type: 'message', ...user }], [{ ...user, content: [] }]],
  instructions: [null, '', 'x'],
  temperature: [null, 0, 2],
  top_p: [0, 1],
  top_logprobs: [0, 20],
  max_output_tokens: [1, 1e9],
  max_tool_calls: [1],
  stream: [true, false, null],
  store: [true, false, null],
  background: [false, null],
  parallel_tool_calls: [true, false],
  previous_response_id: [null],
  conversation: [null],
  prompt: [null],
  truncation: ['auto', 'disabled', null],
  tool_choice: ['none', 'auto', 'required', null, { type: 'function', name: 'f' }, { type: 'custom', name: 'c' }],
  reasoning: [null, {}, { effort: 'none', summary: 'auto' }, { effort: 'max', summary: null, context: 'all_turns' }],
  text: [
    null,
    { verbosity: 'low' },
    { format: { type: 'json_schema', name: 'n', schema: {} } },
    { format: { type: 'json_schema', name: 'n', schema: { type: ['object', 'null'] } } },
  ],
  include: [[], ['reasoning.encrypted_content', 'not known yet']],
  metadata: [null, { a: 'b' }],
  tools: [
    null,
    [],
    [{ type: 'function', name: 'f', parameters: null }],
    [{ type: 'function', name: 'f', parameters: { type: ['object', 'null'] } }],
    [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
    [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] }],
    [{ type: 'tool_search', execution: 'client' }, { type: 'web_search' }, { type: 'not_known_yet' }],
  ],
  not_known_yet: [{ any: 'value' }],
}

const missing = 'missing_required_parameter'
const wrong = 'invalid_type'
const bad = 'invalid_value'
const unsupported = 'unsupported_parameter'

const refused: readonly (readonly [Readonly<Record<string, unknown>>, string, string])[] = [
  [{ input: null }, missing, 'input'],
  [{ input: 5 }, wrong, 'input'],
  [{ input: [] }, bad, 'input'],
  [{ input: [null] }, wrong, 'input[0]'],
  [{ input: ['x'] }, wrong, 'input[0]'],
  [{ input: [{ content: 'x' }] }, missing, 'input[0].role'],
  [{ input: [{ role: 'user' }] }, missing, 'input[0].content'],
  [{ input: [{ role: 'user', content: null }] }, missing, 'input[0].content'],
  [{ input: [{ role: 'tool', content: 'x' }] }, bad, 'input[0].role'],
  [{ input: [user, { ...user, content: [{ text: 'x' }] }] }, missing, 'input[1].content[0].type'],
  [{ input: [{ ...user, content: [{ type: 'input_text' }] }] }, missing, 'input[0].content[0].text'],
  [{ input: [{ ...user, content: [{ type: 'input_text', text: 1 }] }] }, wrong, 'input[0].content[0].text'],
  [{ input: [{ ...user, content: [{ type: 'input_image' }] }] }, missing, 'input[0].content[0].image_url'],
  [
    { input: [{ ...user, content: [{ file_id: 'f', type: 'input_file' }] }] },
    unsupported,
    'input[0].content[0].file_id',
  ],
  [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, missing, 'input[0].call_id'],
  [{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] }, wrong, 'input[0].arguments'],
  [{ input: [{ type: 'function_call_output', call_id: 'c' }] }, missing, 'input[0].output'],
  [{ input: [{ type: 'custom_tool_call', call_id: 'c', name: 'f' }] }, missing, 'input[0].input'],
  [{ input: [{ type: 'item_reference', id: 'i' }] }, unsupported, 'input[0].type'],
  [{ input: [{ encrypted_content: 'e', type: 'compaction' }] }, unsupported, 'input[0].type'],
  [{ input: [{ type: 'compaction_trigger' }] }, unsupported, 'input[0].type'],
  [{ input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] }, unsupported, 'input[0].tools[0].type'],
  [{ temperature: 2.01 }, bad, 'temperature'],
  [{ temperature: '1' }, wrong, 'temperature'],
  [{ top_p: -0.1 }, bad, 'top_p'],
  [{ top_logprobs: 21 }, bad, 'top_logprobs'],
  [{ max_output_tokens: 0 }, bad, 'max_output_tokens'],
  [{ max_output_tokens: 1.5 }, wrong, 'max_output_tokens'],
  [{ stream: 'yes' }, wrong, 'stream'],
  [{ store: 1 }, wrong, 'store'],
  [{ background: true }, unsupported, 'background'],
  [{ previous_response_id: 'resp_1' }, unsupported, 'previous_response_id'],
  [{ conversation: { id: 'c' } }, unsupported, 'conversation'],
  [{ prompt: { id: 'p' } }, unsupported, 'prompt'],
  [{ truncation: 'some' }, bad, 'truncation'],
  [{ tool_choice: 'f' }, bad, 'tool_choice'],
  [{ tool_choice: 5 }, wrong, 'tool_choice'],
  [{ tool_choice: { type: 'function' } }, missing, 'tool_choice.name'],
  [{ tool_choice: { type: 'web_search' } }, unsupported, 'tool_choice.type'],
  [{ tool_choice: { type: 'mcp', server_label: 's' } }, unsupported, 'tool_choice.type'],
  [{ tools: {} }, wrong, 'tools'],
  [{ tools: [{ name: 'f' }] }, missing, 'tools[0].type'],
  [{ tools: [{ type: 'function' }] }, missing, 'tools[0].name'],
  [{ tools: [{ type: 'function', name: 'f', strict: 1 }] }, wrong, 'tools[0].strict'],
  ...['mcp', 'computer', 'computer_use_preview', 'code_interpreter', 'file_search'].map(
    (type) => [{ tools: [{ type }] }, unsupported, 'tools[0].type'] as const,
  ),
  [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] }, unsupported, 'tools[0].tools[0].type'],
  [{ reasoning: { effort: 'huge' } }, bad, 'reasoning.effort'],
  [{ reasoning: 'low' }, wrong, 'reasoning'],
  [{ text: { format: { type: 'json_schema', name: 'n' } } }, missing, 'text.format.schema'],
  [{ text: { verbosity: 'loud' } }, bad, 'text.verbosity'],
  [{ include: 'x' }, wrong, 'include'],
  [{ include: [5] }, wrong, 'include[0]'],
  [{ metadata: 'x' }, wrong, 'metadata'],
]

describe('a request for a response', () => {
  test('needs a model and an input', () => {
    expect(refusalOf({ model: undefined })).toEqual([missing, 'model'])
    expect(refusalOf({ input: undefined })).toEqual([missing, 'input'])
    expect(refusalOf({ model: '' })).toEqual([bad, 'model'])
  })

  test.each(Object.entries(accepted))('may have these values of %s', (name, values) => {
    for (const value of values) expect(refusalOf({ [name]: value })).toBeUndefined()
  })

  test.each(refused)('is refused with %j', (fields, code, param) => {
    expect(refusalOf(fields)).toEqual([code, param])
  })

  test('is refused with a repeated model, and as text', () => {
    const check = (text: string) => () => responses.check(new TextEncoder().encode(text), envelopeAt(''))
    expect(check('{"model":"a","model":"b","input":"x"}')).toThrow("more than one 'model'")
    expect(check('[]')).toThrow('must be a JSON object')
    expect(check('{"model":"a","input":"x"')).toThrow('not valid JSON')
    expect(check(`{"model":"a","input":"x","y":${'['.repeat(600)}${']'.repeat(600)}}`)).toThrow('nested too deeply')
  })

  test('is checked in slices with the same result', async () => {
    const input = Array.from({ length: 10_000 }, (_, index) => ({ role: 'user', content: `${index} `.repeat(20) }))
    const body = new TextEncoder().encode(JSON.stringify({ input, tools: [{ type: 'custom', name: 'c' }], model: 'm' }))
    expect(body.length).toBeGreaterThan(4 * sliceBytes)
    using pauses = countedPauses()
    const envelope = envelopeAt('')
    expect(await responses.checkLarge(body, pauses.pause, envelope)).toEqual(responses.check(body, envelope))
    expect(pauses.count()).toBeGreaterThan(3)
  })

  test('names the fields that providers of other formats do not get', () => {
    expect(checked({ metadata: {}, truncation: 'auto', tools: [{ type: 'web_search' }] }).untranslated).toEqual([
      'metadata',
      'truncation',
      'tools.web_search',
    ])
  })
})
