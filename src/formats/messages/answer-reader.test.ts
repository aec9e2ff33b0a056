import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fixture, fixtureEvents } from '../../protocols/fixtures/load.ts'
import { objectOf, parseJson, parseJsonBytes } from '../exact-json.ts'
import { answerContract } from '../testing.ts'
import { readMessagesAnswer } from './answer-reader.ts'
import { messages } from './upstream.ts'

const name = fc.constantFrom('find', 'look')
const text = fc.constantFrom('', 'Good ', 'morning 🌅', '{"city":', '"Paris"}')
const index = fc.nat(2)
const usage = fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat(), cache_read_input_tokens: fc.nat() })
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
  fc.record({ type: fc.constant('tool_use'), id: text, name, input: fc.constantFrom({}, { city: 'Rome' }) }),
  fc.record({ type: fc.constant('server_tool_use'), id: text }),
)
const delta = fc.oneof(
  fc.record({ type: fc.constant('text_delta'), text }),
  fc.record({ type: fc.constant('thinking_delta'), thinking: text }),
  fc.record({ type: fc.constant('signature_delta'), signature: text }),
  fc.record({ type: fc.constant('input_json_delta'), partial_json: text }),
)
const message = fc.record({ id: text, model: text, content: fc.array(block, { maxLength: 3 }), usage })
const events = fc.oneof(
  fc.record({ type: fc.constant('message_start'), message }),
  message,
  fc.record({ type: fc.constant('content_block_start'), index, content_block: block }),
  fc.record({ type: fc.constant('content_block_delta'), index, delta }),
  fc.record({ type: fc.constant('content_block_stop'), index }),
  fc.record({ type: fc.constant('message_delta'), delta: fc.record({ stop_reason: fc.constant('tool_use') }), usage }),
  fc.constantFrom({ type: 'ping' }, { type: 'message_stop' }, {}),
)

const names = ['anthropic-text', 'anthropic-tools', 'anthropic-repeated-start', 'anthropic-prefilled-start']

answerContract(messages, {
  streams: names.map((name) => fixtureEvents(`${name}.jsonl`).map((line) => objectOf(parseJson(line)))),
  wholes: [objectOf(parseJsonBytes(fixture('anthropic-message.json')))],
  events,
})

test('an empty id of a call counts as none', () => {
  const content = [{ type: 'tool_use', id: '', name: 'find', input: {} }]
  expect(readMessagesAnswer({ content })).toContainEqual(expect.objectContaining({ kind: 'call', id: undefined }))
})
