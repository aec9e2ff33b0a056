import { modelName, promptOf, type StreamShape } from './upstream-protocol.ts'

/** The formats that the mock upstream answers in, and in which loads ask. */
export const spokenNames = ['chat', 'messages', 'responses', 'gemini'] as const
export type SpokenName = (typeof spokenNames)[number]

/** A format of requests and answers, as the load and the mock upstream write it. */
export interface SpokenFormat {
  /** Path of its requests at the service. */
  path(isStream: boolean): string
  /** The body of a request of about 1 KB. */
  request(prompt: string, isStream: boolean): object
  /** The answer to a plain request. */
  readonly whole: object
  /** The events before the content, as they are sent. */
  readonly begin: string
  /** The event of one piece of text. @param nth from 0 */
  content(text: string, nth: number): string
  /** The events after the content. */
  end(text: string, count: number): string
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`
const answer = 'x'.repeat(700)

/** Writes an event around a text that needs no escapes, since the upstream writes many. */
function around(event: string): (text: string) => string {
  const [before, after] = event.split(textMark)
  return (text) => `${before}${text}${after}`
}
const textMark = '@text'
const numberMark = '@number'
const messages = (content: string) => [{ role: 'user', content }]

const chatHead = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: modelName }
function chunk(delta: object, finish_reason: string | null): string {
  return data({
    ...chatHead,
    system_fingerprint: 'fp_bench',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  })
}

const messageHead = { id: 'msg_bench', type: 'message', role: 'assistant', model: modelName, stop_sequence: null }
const messageUsage = { input_tokens: 1, output_tokens: 2 }

const item = { id: 'msg_bench', type: 'message', role: 'assistant' }
const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 }
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
function response(status: string, text?: string): object {
  return {
    id: 'resp_bench',
    object: 'response',
    created_at: 1,
    model: modelName,
    status,
    output: text === undefined ? [] : [{ ...item, status, content: [outputText(text)] }],
    ...(text === undefined ? {} : { usage: { ...messageUsage, total_tokens: 3 } }),
  }
}
/** Numbers events as OpenAI does. */
function numbered(from: number, events: readonly { readonly type: string }[]): string {
  return events.map((event, index) => named({ ...event, ...{ sequence_number: from + index } })).join('')
}
const responseBegin = [
  { type: 'response.created', response: response('in_progress') },
  { type: 'response.in_progress', response: response('in_progress') },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...place, part: outputText('') },
]
const [deltaStart, deltaEnd = ''] = named({
  type: 'response.output_text.delta',
  ...{ sequence_number: numberMark, ...place, delta: textMark, logprobs: [], obfuscation: 'fkP3' },
}).split(JSON.stringify(numberMark))
const deltaRest = around(deltaEnd)

function geminiResponse(text: string, more: object = {}): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, ...more, index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    modelVersion: modelName,
    responseId: 'bench',
  }
}

export const spokenFormats: Readonly<Record<SpokenName, SpokenFormat>> = {
  chat: {
    path: () => '/v1/chat/completions',
    request: (prompt, stream) => ({ model: modelName, stream, messages: messages(prompt) }),
    whole: {
      ...chatHead,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: answer, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    begin: chunk({ role: 'assistant', content: '', refusal: null }, null),
    content: around(chunk({ content: textMark }, null)),
    end: () => `${chunk({}, 'stop')}data: [DONE]\n\n`,
  },
  messages: {
    path: () => '/v1/messages',
    request: (prompt, stream) => ({ model: modelName, stream, max_tokens: 900, messages: messages(prompt) }),
    whole: {
      ...messageHead,
      content: [{ type: 'text', text: answer }],
      stop_reason: 'end_turn',
      usage: messageUsage,
    },
    begin:
      named({ type: 'message_start', ...{ message: { ...messageHead, content: [], usage: messageUsage } } }) +
      named({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
    content: around(
      named({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: textMark } } }),
    ),
    end: () =>
      named({ type: 'content_block_stop', ...{ index: 0 } }) +
      named({ type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: messageUsage } }) +
      named({ type: 'message_stop' }),
  },
  responses: {
    path: () => '/v1/responses',
    request: (prompt, stream) => ({ model: modelName, stream, input: messages(prompt) }),
    whole: response('completed', answer),
    begin: numbered(0, responseBegin),
    content: (text, nth) => `${deltaStart}${responseBegin.length + nth}${deltaRest(text)}`,
    end: (text, count) =>
      numbered(responseBegin.length + count, [
        { type: 'response.output_text.done', ...place, ...{ text, logprobs: [] } },
        { type: 'response.content_part.done', ...place, ...{ part: outputText(text) } },
        {
          type: 'response.output_item.done',
          ...{ output_index: 0, item: { ...item, status: 'completed', content: [outputText(text)] } },
        },
        { type: 'response.completed', ...{ response: response('completed', text) } },
      ]),
  },
  gemini: {
    path: (isStream) => `/v1beta/models/${modelName}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    request: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    whole: geminiResponse(answer, { finishReason: 'STOP' }),
    begin: '',
    content: around(data(geminiResponse(textMark))),
    end: () => data(geminiResponse('', { finishReason: 'STOP' })),
  },
}

/** The format of requests to a path. */
export function spokenAt(path: string): SpokenName {
  if (path.includes(':')) return 'gemini'
  return spokenNames.find((name) => name !== 'chat' && path.endsWith(`/${name}`)) ?? 'chat'
}

/**
 * Makes the body of a request of about 1 KB. The prompt carries the shape of the stream, since every translation passes
 * it on. @param shape absent: a plain request
 */
export function spokenRequest(name: SpokenName, shape?: StreamShape): string {
  const prompt = promptOf(1000)
  const said = shape === undefined ? prompt : `chunks:${shape.chunks} pace:${shape.paceUs} ${prompt}`
  return JSON.stringify(spokenFormats[name].request(said, shape !== undefined))
}

/** Reads the shape from a request body; undefined for a plain request. */
export function readSpokenShape(body: string): StreamShape | undefined {
  const [, chunks, paceUs] = /chunks:(\d+) pace:(\d+) /.exec(body) ?? []
  return chunks === undefined ? undefined : { chunks: Number(chunks), paceUs: Number(paceUs) }
}
