import { describe } from 'bun:test'
import fc from 'fast-check'
import { relays } from '../formats/relay/relay.ts'
import { fixtureEvents } from './fixtures/load.ts'
import { protocols } from './protocol-list.ts'
import { nativeSamples, protocolContract, type SamplesOf } from './protocol-testing.ts'
import { chunkJson } from './testing.ts'

const anything = fc.jsonValue({ maxDepth: 2 })
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' ', '{"a":12345678901234567890}', '[1]', '\ud800'),
)
const word = fc.constantFrom(
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
  'text',
  'text_delta',
  'thinking',
  'thinking_delta',
  'signature_delta',
  'redacted_thinking',
  'tool_use',
  'input_json_delta',
  'end_turn',
)
const loose = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: anything })
const block = loose(
  fc.record(
    {
      type: word,
      text,
      thinking: text,
      signature: text,
      data: text,
      id: text,
      name: text,
      input: anything,
      partial_json: text,
      stop_reason: word,
    },
    { requiredKeys: ['type'] },
  ),
)
const anthropicAnswer = loose(
  fc.record(
    {
      type: word,
      index: fc.nat(2),
      message: loose(
        fc.record({ id: text, content: fc.array(block), usage: anything, stop_reason: word }, { requiredKeys: [] }),
      ),
      content: fc.array(block),
      content_block: block,
      delta: block,
      usage: anything,
      error: anything,
      stop_reason: word,
    },
    { requiredKeys: ['type'] },
  ),
)
const geminiPart = loose(
  fc.record(
    {
      text,
      thought: fc.boolean(),
      thoughtSignature: text,
      functionCall: loose(fc.record({ name: text, args: anything }, { requiredKeys: [] })),
      inlineData: anything,
    },
    { requiredKeys: [] },
  ),
)
const geminiAnswer = loose(
  fc.record(
    {
      candidates: loose(
        fc.array(
          loose(
            fc.record(
              {
                content: loose(fc.record({ parts: fc.array(geminiPart) })),
                index: anything,
                logprobsResult: anything,
                finishReason: loose(fc.constantFrom('STOP', 'SAFETY', 'MALFORMED_FUNCTION_CALL')),
              },
              { requiredKeys: [] },
            ),
          ),
        ),
      ),
      usageMetadata: loose(
        fc.dictionary(fc.constantFrom('promptTokenCount', 'totalTokenCount', 'thoughtsTokenCount'), fc.nat()),
      ),
      promptFeedback: anything,
      error: anything,
    },
    { requiredKeys: [] },
  ),
)

const called = { index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '' } }
const chat = [
  chunkJson({ role: 'assistant', content: '' }),
  chunkJson({ content: 'Let me 🌅' }),
  chunkJson({ tool_calls: [called] }),
  chunkJson({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  chunkJson({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  chunkJson({}, 'tool_calls'),
].map((part) => JSON.stringify(part))

const chatAnswer = loose(
  fc.record(
    {
      id: text,
      choices: loose(
        fc.array(
          fc.record(
            { index: fc.nat(1), delta: block, message: block, finish_reason: fc.option(text), logprobs: anything },
            { requiredKeys: [] },
          ),
        ),
      ),
      usage: anything,
      error: anything,
    },
    { requiredKeys: [] },
  ),
)
const embedding = loose(fc.record({ embedding: loose(fc.array(fc.double())), index: anything, values: anything }))
const embeddingsAnswer = loose(
  fc.record({ data: loose(fc.array(embedding)), embeddings: loose(fc.array(embedding)), usage: anything }),
)

const embeddings = { answers: embeddingsAnswer, streams: [] }
const recorded = (...names: readonly string[]) => names.map((name) => fixtureEvents(`${name}.jsonl`))

/** Each protocol has samples. */
const samples: Readonly<Record<keyof typeof protocols, SamplesOf>> = {
  openai(format) {
    if (format === 'embeddings') return embeddings
    if (Object.hasOwn(relays, format)) return nativeSamples(format)
    return { answers: chatAnswer, streams: [chat, [...chat, '[DONE]']] }
  },
  anthropic: () => ({
    answers: anthropicAnswer,
    streams: recorded('anthropic-text', 'anthropic-tools', 'anthropic-repeated-start', 'anthropic-prefilled-start'),
  }),
  gemini: (format) =>
    format === 'embeddings'
      ? embeddings
      : { answers: geminiAnswer, streams: recorded('gemini-text', 'gemini-calls', 'gemini-blocked') },
}

describe.each(['openai', 'anthropic', 'gemini'] as const)('the protocol %s', (name) => {
  protocolContract(protocols[name], samples[name])
})
