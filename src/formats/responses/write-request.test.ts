import { describe, expect, test } from 'bun:test'
import { isRecord, type JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { targetWith } from '../../profiles/testing.ts'
import { Changes } from '../../service/changes.ts'
import { readChatRequest } from '../chat/read-conversation.ts'
import { encodeJson, objectsOf } from '../exact-json.ts'
import { responsesUpstream } from './upstream.ts'

const user = { role: 'user', content: 'Hi' }
const hi = { type: 'message', role: 'user', content: 'Hi' }

/** A chat request as one for a response, and the names of the members that were left out. */
function sent(fields: JsonObject, profile?: Partial<TargetProfile>) {
  const changes = new Changes()
  const conversation = readChatRequest(encodeJson({ model: 'asked', messages: [user], ...fields }), [])
  const target = { ...targetWith(profile), model: 'gpt', isStream: false, overrides: {} }
  const written: unknown = JSON.parse(Buffer.concat(responsesUpstream.write(conversation, target, changes)).toString())
  return { body: isRecord(written) ? written : {}, dropped: changes.dropped, adjusted: changes.adjusted }
}

describe('a request for a response', () => {
  test('is not stored, and has the first system messages as instructions', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      user,
      { role: 'system', content: 'Late.' },
    ]
    expect(sent({ messages }).body).toEqual({
      model: 'gpt',
      instructions: 'Be brief.\nBe kind.',
      input: [hi, { type: 'message', role: 'developer', content: 'Late.' }],
      store: false,
    })
  })

  test('of system messages alone has them as input', () => {
    const { body } = sent({ messages: [{ role: 'system', content: 'Say hi.' }] })
    expect(body).toMatchObject({ input: [{ type: 'message', role: 'developer', content: 'Say hi.' }] })
    expect(body).not.toHaveProperty('instructions')
  })

  test('has texts, calls and results as items, in their order', () => {
    const called = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":12345678901234567890}' } }
    const messages = [
      user,
      { role: 'assistant', content: 'Let me see.', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Found.' },
    ]
    expect(JSON.stringify(sent({ messages }).body['input'])).toBe(
      JSON.stringify([
        hi,
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":12345678901234567890}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Found.' },
      ]),
    )
  })

  test('has pictures and files', () => {
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
    ]
    expect(sent({ messages: [{ role: 'user', content }] }).body['input']).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
        ],
      },
    ])
  })

  test('says of each tool whether it is strict, since this format would choose', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const tools = [
      { type: 'function', function: { name: 'f', description: 'Does it.', parameters: schema, strict: true } },
      { type: 'function', function: { name: 'g' } },
    ]
    const choice = { type: 'function', function: { name: 'g' } }
    expect(sent({ tools, tool_choice: choice, parallel_tool_calls: false }).body).toMatchObject({
      tools: [
        { type: 'function', name: 'f', description: 'Does it.', parameters: schema, strict: true },
        { type: 'function', name: 'g', parameters: { type: 'object', properties: {} }, strict: false },
      ],
      tool_choice: { type: 'function', name: 'g' },
      parallel_tool_calls: false,
    })
  })

  test('has the form of the answer, and its wordiness', () => {
    const schema = { type: 'object', properties: {} }
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } }
    expect(sent({ response_format, verbosity: 'low' }).body['text']).toEqual({
      format: { type: 'json_schema', name: 'a', schema, strict: true },
      verbosity: 'low',
    })
    const json = { response_format: { type: 'json_object' } }
    // The word counts in the input alone.
    const messages = [{ role: 'system', content: 'Answer in JSON.' }, user]
    expect(sent({ ...json, messages }, { needsWordJson: true }).body).toMatchObject({
      instructions: 'Answer in JSON.',
      input: [{ type: 'message', role: 'developer', content: expect.stringMatching(/JSON/) }, hi],
      text: { format: { type: 'json_object' } },
    })
    const says = { messages: [{ role: 'user', content: 'Hi in json' }] }
    expect(sent({ ...json, ...says }, { needsWordJson: true }).body['input']).toHaveLength(1)
  })

  test('has the settings that both formats have', () => {
    const fields = { max_tokens: 9, temperature: 0.5, top_p: 0.9, logprobs: true, top_logprobs: 2 }
    const own = { metadata: { a: 'b' }, prompt_cache_key: 'k', service_tier: 'flex', store: true }
    expect(sent({ ...fields, ...own, reasoning_effort: 'low' }, { thinks: 'default' }).body).toMatchObject({
      max_output_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      top_logprobs: 2,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      reasoning: { effort: 'low' },
      ...own,
    })
  })

  test('has ids of calls that the target takes', () => {
    const id = 'x'.repeat(90)
    const messages = [
      user,
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content: 'Found.' },
    ]
    const ids = objectsOf(sent({ messages }, { callIds: 'short' }).body['input']).map(({ call_id }) => call_id)
    expect(ids[1]).toMatch(/^call_\w{9,35}$/)
    expect(ids).toEqual([undefined, ids[1], ids[1]])
    expect(sent({ messages }).body['input']).toMatchObject([hi, { call_id: id }, { call_id: id }])
  })

  test('names members of chat completions that it does not have', () => {
    const fields = { prediction: { type: 'content', content: 'a' }, web_search_options: {}, safety_identifier: 's' }
    expect(sent({ ...fields, stream_options: {}, reasoning: { effort: 'low' } }).dropped).toEqual([
      'prediction',
      'web_search_options',
    ])
  })

  test('says what it leaves out, and what the target takes in another form', () => {
    const fields = {
      seed: 1,
      stop: ['x'],
      presence_penalty: 1,
      logit_bias: {},
      temperature: 0,
      reasoning_effort: 'max',
    }
    const { body, dropped, adjusted } = sent(fields, { sampling: { temperature: 'refused' }, efforts: ['low', 'high'] })
    expect(body).toEqual({ model: 'gpt', input: [hi], reasoning: { effort: 'high' }, store: false })
    expect(dropped.toSorted()).toEqual(['logit_bias', 'presence_penalty', 'seed', 'stop', 'temperature'])
    expect(adjusted).toEqual(['reasoning.effort'])
  })

  test.each([
    ['several choices', { n: 2 }],
    ['sound', { modalities: ['text', 'audio'] }],
    ['a tool of another kind', { tools: [{ type: 'retrieval' }] }],
  ])('is none for %s', (_, fields) => {
    expect(() => sent(fields)).toThrow(/cannot be translated/)
  })
})
