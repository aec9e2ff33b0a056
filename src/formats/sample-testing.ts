import fc from 'fast-check'
import type { FormatName } from './ask.ts'
import type { FormatSamples } from './format-testing.ts'

const word = fc.constantFrom('a', 'Good morning 🌅', '{"city":', 'two\nlines')
const call = fc.record({
  id: fc.constantFrom('call_1', 'call_2'),
  type: fc.constant('function'),
  function: fc.record({ name: word, arguments: word }),
})
const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: word,
    refusal: fc.constant(null),
    reasoning_content: word,
    tool_calls: fc.uniqueArray(call, { minLength: 1, maxLength: 2, selector: ({ id }) => id }),
    dialect: word,
  },
  { requiredKeys: ['role', 'content', 'refusal'] },
)
const completion = fc
  .tuple(fc.nat(3), fc.array(message, { minLength: 1, maxLength: 2 }), fc.constantFrom('stop', 'length'))
  .map(([number, messages, finish_reason]) => ({
    id: `c${number}`,
    object: 'chat.completion',
    created: number,
    model: `m${number}`,
    choices: messages.map((each, index) => ({ index, message: each, logprobs: null, finish_reason })),
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    service_tier: 'default',
  }))

const chatRequest = {
  model: 'asked',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi 🌅' }] },
    { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [] },
  ],
  max_completion_tokens: 5,
  temperature: 0.5,
  stop: ['x'],
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  seed: 12_345,
  unknown: { deep: [null] },
}

const messagesRequest = {
  model: 'asked',
  max_tokens: 5,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi 🌅' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x', is_error: true }] },
  ],
  temperature: 0.5,
  stop_sequences: ['x'],
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  metadata: { user_id: 'u' },
  unknown: { deep: [null] },
}

const messagesBlock = fc.oneof(
  fc.record({ type: fc.constant('text'), text: word }),
  fc.record({ type: fc.constant('thinking'), thinking: word, signature: word }),
  fc.record({ type: fc.constant('redacted_thinking'), data: word }),
  fc.record({ type: fc.constant('tool_use'), id: word, name: word, input: fc.record({ city: word }) }),
)
const messagesAnswer = fc
  .tuple(
    fc.nat(3),
    fc.uniqueArray(messagesBlock, {
      minLength: 1,
      maxLength: 3,
      selector: (block) => ('id' in block ? block.id : block),
    }),
    fc.constantFrom('stop_sequence', 'max_tokens', 'tool_use'),
  )
  .map(([number, content, stop_reason]) => ({
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: `m${number}`,
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3 },
    container: { id: 'c' },
  }))

const embedding = fc.array(fc.constantFrom(0.5, -1, 0), { minLength: 3, maxLength: 3 })

const item = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    id: word,
    role: fc.constant('assistant'),
    content: fc.array(
      word.map((text) => ({ type: 'output_text', text, annotations: [] })),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({ type: fc.constant('function_call'), id: word, call_id: word, name: word, arguments: word }),
  fc.record({
    type: fc.constant('reasoning'),
    id: word,
    summary: fc.array(word.map((text) => ({ type: 'summary_text', text }))),
  }),
)
const response = fc
  .tuple(
    fc.nat(3),
    fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: (each) => ('call_id' in each ? each.call_id : each) }),
  )
  .map(([number, output]) => ({
    id: `resp_${number}`,
    object: 'response',
    created_at: number,
    completed_at: number,
    status: 'completed',
    model: `m${number}`,
    output,
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    store: false,
  }))

const responsesRequest = {
  model: 'asked',
  instructions: 'Be brief.',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'Hi 🌅' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'e' },
    { type: 'function_call', call_id: 'c', name: 'go', namespace: 'n', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'ok' },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'patch' }] },
  ],
  max_output_tokens: 5,
  temperature: 0.5,
  tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'go', parameters: { type: 'object' } }] }],
  reasoning: { effort: 'low' },
  text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' } } },
  include: ['reasoning.encrypted_content'],
  metadata: { a: 'b' },
  unknown: { deep: [null] },
}

const textCompletion = fc
  .tuple(fc.nat(3), fc.array(word, { minLength: 1, maxLength: 2 }), fc.constantFrom('stop', 'length'))
  .map(([number, texts, finish_reason]) => ({
    id: `cmpl-${number}`,
    object: 'text_completion',
    created: number,
    model: `m${number}`,
    choices: texts.map((text, index) => ({ index, text, logprobs: null, finish_reason })),
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }))
const pictures = fc
  .array(fc.constantFrom({ url: 'https://x.test/1.png' }, { b64_json: 'AAAA' }), { minLength: 1, maxLength: 2 })
  .map((data) => ({ created: 1, data, usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } }))
const transcript = word.map((text) => ({ text, usage: { type: 'duration', seconds: 3 } }))
const completionRequest = { model: 'asked', prompt: ['Hi 🌅'], suffix: 'x', max_tokens: 5, unknown: { deep: [null] } }
const geminiRequest = {
  contents: [
    { role: 'user', parts: [{ text: 'Hi 🌅' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
    {
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true },
        { functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'f', response: { output: 'x' } } }] },
  ],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  generationConfig: {
    maxOutputTokens: 5,
    temperature: 0.5,
    stopSequences: ['x'],
    thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 },
  },
  tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  safetySettings: [{ category: 'c', threshold: 't' }],
  unknown: { deep: [null] },
}

const geminiPart = fc.oneof(
  fc.record({ text: word }),
  fc.record({ text: word, thought: fc.constant(true) }),
  fc.record({ functionCall: fc.record({ id: word, name: word, args: fc.record({ city: word }) }) }),
  fc.record({ inlineData: fc.record({ mimeType: fc.constant('image/png'), data: fc.constant('aGk=') }) }),
)
const geminiAnswer = fc
  .tuple(
    fc.nat(3),
    fc.array(fc.array(geminiPart, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY'),
  )
  .map(([number, candidates, finishReason]) => ({
    candidates: candidates.map((parts, index) => ({ content: { role: 'model', parts }, finishReason, index })),
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 6 },
    modelVersion: `m${number}`,
    responseId: `r${number}`,
  }))

const geminiAction = (action: string): string => `/v1beta/models/asked:${action}`

/** Sample requests and answers of every format that callers speak. For tests. */
export const formatSamples: Readonly<Record<FormatName, FormatSamples>> = {
  chat: {
    request: chatRequest,
    streamed: { ...chatRequest, stream: true, stream_options: { include_usage: true } },
    answers: completion,
    head: ['id', 'created', 'model'],
  },
  messages: {
    request: messagesRequest,
    streamed: { ...messagesRequest, stream: true },
    answers: messagesAnswer,
    head: ['id', 'type', 'role', 'model'],
  },
  count_tokens: {
    request: messagesRequest,
    streamed: {},
    answers: fc.nat().map((count) => ({ input_tokens: count })),
    head: [],
  },
  embeddings: {
    request: { model: 'asked', input: 'Hi', dimensions: 3, unknown: [1] },
    streamed: {},
    answers: embedding.map((vector) => ({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: vector }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    })),
    head: [],
  },
  responses: {
    request: responsesRequest,
    streamed: { ...responsesRequest, stream: true },
    answers: response,
    head: ['id', 'created_at', 'model'],
  },
  input_tokens: {
    request: responsesRequest,
    streamed: {},
    answers: fc.nat().map((count) => ({ object: 'response.input_tokens', input_tokens: count })),
    head: [],
  },
  completions: {
    request: completionRequest,
    streamed: { ...completionRequest, stream: true },
    answers: textCompletion,
    isVerbatim: true,
    head: ['id', 'created', 'model'],
  },
  moderations: {
    request: { model: 'asked', input: [{ type: 'text', text: 'Hi 🌅' }], unknown: [1] },
    streamed: {},
    answers: fc.boolean().map((flagged) => ({ id: 'modr-1', model: 'm', results: [{ flagged, categories: {} }] })),
    isVerbatim: true,
    head: [],
  },
  rerank: {
    request: { model: 'asked', query: 'Hi 🌅', documents: ['a', { text: 'b' }], top_n: 1, unknown: [1] },
    streamed: {},
    answers: fc.double({ min: 0, max: 1, noNaN: true }).map((relevance_score) => ({
      id: 'r1',
      results: [{ index: 0, relevance_score }],
      meta: { billed_units: { search_units: 1 } },
    })),
    isVerbatim: true,
    head: [],
  },
  compact: {
    request: responsesRequest,
    streamed: {},
    answers: response.map(({ output }) => ({ object: 'response.compaction', output })),
    head: [],
  },
  gemini: {
    request: geminiRequest,
    streamed: geminiRequest,
    path: geminiAction('generateContent'),
    streamPath: geminiAction('streamGenerateContent?alt=sse'),
    answers: geminiAnswer,
    head: ['modelVersion', 'responseId'],
  },
  gemini_count_tokens: {
    request: { contents: geminiRequest.contents, unknown: [1] },
    streamed: {},
    path: geminiAction('countTokens'),
    answers: fc.nat().map((count) => ({ totalTokens: count })),
    head: [],
  },
  gemini_embed: {
    request: { content: { parts: [{ text: 'Hi' }] }, outputDimensionality: 3, unknown: [1] },
    streamed: {},
    path: geminiAction('embedContent'),
    answers: embedding.map((values) => ({ embedding: { values } })),
    head: [],
  },
  gemini_batch_embed: {
    request: { requests: [{ content: { parts: [{ text: 'Hi' }] }, outputDimensionality: 3 }], unknown: [1] },
    streamed: {},
    path: geminiAction('batchEmbedContents'),
    answers: embedding.map((values) => ({ embeddings: [{ values }] })),
    head: [],
  },
  image_generations: {
    request: { model: 'asked', prompt: 'A cat 🌅', size: '256x256', unknown: [1] },
    streamed: { model: 'asked', prompt: 'A cat', stream: true, partial_images: 1 },
    answers: pictures,
    events: [
      { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: 'AAAA' },
      { type: 'image_generation.completed', b64_json: 'AAAAAAAA', usage: { input_tokens: 1, output_tokens: 2 } },
    ],
    isVerbatim: true,
    head: [],
  },
  image_edits: {
    request: { model: 'asked', image: 'png \r\n--', prompt: 'A cat 🌅' },
    streamed: { model: 'asked', image: 'png', prompt: 'A cat', stream: 'true' },
    answers: pictures,
    events: [
      { type: 'image_edit.partial_image', partial_image_index: 0, b64_json: 'AAAA' },
      { type: 'image_edit.completed', b64_json: 'AAAAAAAA' },
    ],
    isForm: true,
    isVerbatim: true,
    head: [],
  },
  image_variations: {
    request: { image: 'png', model: 'asked', n: '2' },
    streamed: {},
    answers: pictures,
    isForm: true,
    isVerbatim: true,
    head: [],
  },
  speech: {
    request: { model: 'asked', input: 'Hi 🌅', voice: { id: 'v' }, unknown: [1] },
    streamed: { model: 'asked', input: 'Hi', voice: 'alloy', stream_format: 'sse' },
    answers: 'none',
    events: [
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
    ],
    isVerbatim: true,
    head: [],
  },
  transcriptions: {
    request: { model: 'asked', file: 'RIFF \r\n--', language: 'en' },
    streamed: { file: 'RIFF', model: 'asked', stream: 'True' },
    answers: transcript,
    events: [
      { type: 'transcript.text.delta', delta: 'Good' },
      { type: 'transcript.text.done', text: 'Good', usage: { type: 'tokens', input_tokens: 1, output_tokens: 2 } },
    ],
    isForm: true,
    isVerbatim: true,
    head: [],
  },
  translations: {
    request: { file: 'RIFF', model: 'asked' },
    streamed: {},
    answers: transcript,
    isForm: true,
    isVerbatim: true,
    head: [],
  },
}
