import { formats } from '../src/formats/format-list.ts'
import type { Envelope, Format } from '../src/formats/format.ts'
/**
 * `npm run bench:formats -- [ROUNDS]`: what requests and streamed chunks cost in each format of callers, at providers
 * of each format, within one process and without sockets. User time of this process, so that other programs do not
 * count. With `--service`: of the running service (`formats-service.ts`).
 */
import { commit } from '../src/gateway/commit.ts'
import { eventStreamBody } from '../src/http/entrance/event-stream-body.ts'
import { anyTarget, LearnedProfile } from '../src/profiles/resolve-profile.ts'
import { anthropic } from '../src/protocols/anthropic.ts'
import { endpointAt } from '../src/protocols/fixtures/load.ts'
import { gemini } from '../src/protocols/gemini.ts'
import { openai } from '../src/protocols/openai.ts'
import type { Protocol } from '../src/protocols/protocol.ts'
import { unlimitedAnswerBudget } from '../src/service/answer-budget.ts'
import { callController } from '../src/service/service.ts'
import type { Transport, UpstreamResponse } from '../src/transport/transport.ts'
import { upstreamExchange } from '../src/upstream/exchange.ts'
import { upstreamAt } from '../src/upstream/upstream.ts'
import { measureService } from './formats-service.ts'
import { median } from './statistics.ts'
import { formatNumber, markdownTable } from './table.ts'

const chunks = 200
const deltas = Array.from({ length: chunks }, (_, index) => ` word ${index} of it`)
const text = deltas.join('')
const encoder = new TextEncoder()

const encoded = (value: object): Uint8Array => encoder.encode(JSON.stringify(value))
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`

/** A provider: a whole answer, and the events of a streamed one with these pieces of text. */
interface Provider {
  readonly name: string
  readonly protocol: Protocol
  readonly whole: object
  readonly events: (pieces: readonly string[]) => readonly string[]
}

const chatHead = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chatChunk = (delta: object, finish_reason: string | null = null) =>
  data({ ...chatHead, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
const messageHead = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
const messageUsage = { input_tokens: 9, output_tokens: 200 }
const item = { id: 'msg_1', type: 'message', role: 'assistant' }
const outputText = (content: string) => ({ type: 'output_text', text: content, annotations: [], logprobs: [] })
const response = (status: string, content?: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status,
  output: content === undefined ? [] : [{ ...item, status, content: [outputText(content)] }],
  ...(content === undefined ? {} : { usage: { ...messageUsage, total_tokens: 209 } }),
})
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const geminiPart = (content: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: content }] }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 200, totalTokenCount: 209 },
  modelVersion: 'm',
  responseId: 'r1',
})

const providers: readonly Provider[] = [
  {
    name: 'chat completions',
    protocol: openai,
    whole: {
      ...chatHead,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 200, total_tokens: 209 },
    },
    events: (pieces) => [
      chatChunk({ role: 'assistant', content: '' }),
      ...pieces.map((content) => chatChunk({ content })),
      chatChunk({}, 'stop'),
      'data: [DONE]\n\n',
    ],
  },
  {
    name: 'Messages',
    protocol: anthropic,
    whole: { ...messageHead, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: messageUsage },
    events: (pieces) => [
      named({ type: 'message_start', ...{ message: { ...messageHead, content: [], usage: messageUsage } } }),
      named({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
      ...pieces.map((piece) =>
        named({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: piece } } }),
      ),
      named({ type: 'content_block_stop', ...{ index: 0 } }),
      named({ type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: messageUsage } }),
      named({ type: 'message_stop' }),
    ],
  },
  {
    name: 'Responses',
    protocol: { ...openai, dialects: { ...openai.dialects, ...openai.further?.responses } },
    whole: response('completed', text),
    events(pieces) {
      const said = pieces.join('')
      const all = [
        { type: 'response.created', response: response('in_progress') },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
        { type: 'response.content_part.added', ...place, part: outputText('') },
        ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...place, text: said },
        { type: 'response.content_part.done', ...place, part: outputText(said) },
        { type: 'response.output_item.done', output_index: 0, item: { ...item, content: [outputText(said)] } },
        { type: 'response.completed', response: response('completed', said) },
      ]
      return all.map((each, sequence_number) => named({ ...each, ...{ sequence_number } }))
    },
  },
  {
    name: 'Gemini',
    protocol: gemini,
    whole: geminiPart(text, { finishReason: 'STOP' }),
    events: (pieces) => [
      ...pieces.map((piece) => data(geminiPart(piece))),
      data(geminiPart('', { finishReason: 'STOP' })),
    ],
  },
]

/** A format of callers: a request, by whether it asks for a stream, and its path. */
interface Caller {
  readonly format: Format
  readonly native: string
  readonly request: (stream: boolean) => Uint8Array
  readonly path: (stream: boolean) => string
}

const question = [{ role: 'user', content: 'Tell me a story of two hundred words.' }]
const callers: readonly Caller[] = [
  {
    format: formats.chat,
    native: 'chat completions',
    request: (stream) => encoded({ model: 'm', stream, messages: question }),
    path: () => '/v1/chat/completions',
  },
  {
    format: formats.messages,
    native: 'Messages',
    request: (stream) => encoded({ model: 'm', stream, max_tokens: 900, messages: question }),
    path: () => '/v1/messages',
  },
  {
    format: formats.responses,
    native: 'Responses',
    request: (stream) => encoded({ model: 'm', stream, input: question }),
    path: () => '/v1/responses',
  },
  {
    format: formats.gemini,
    native: 'Gemini',
    request: () => encoded({ contents: [{ role: 'user', parts: [{ text: question[0]?.content }] }] }),
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent' : 'generateContent'}`,
  },
]

/** A connection within this process: it answers each request with these pieces. */
function answering(contentType: string, pieces: readonly Uint8Array[]): Transport {
  const headers = new Map([['content-type', contentType]])
  return {
    request() {
      let position = 0
      const answer: UpstreamResponse = {
        status: 200,
        headers,
        body: {
          read: () => Promise.resolve(pieces[position++]),
          readAll: () => Promise.resolve(Buffer.concat(pieces)),
          hasPendingBytes: () => false,
          cancel: () => undefined,
          endsWithConnection: false,
        },
      }
      return Promise.resolve(answer)
    },
    connections: { active: 0, idle: 0 },
    close: () => undefined,
  }
}

const endpoint = endpointAt('http://127.0.0.1:9/v1')

function envelopeOf(path: string): Envelope {
  return { path, headers: new Headers(), parameter: () => 'sse' }
}

/** One request after the other, from its bytes to the last byte for the caller. */
function requester(caller: Caller, provider: Provider, pieces: readonly string[] | undefined): () => Promise<void> {
  const isStream = pieces !== undefined
  const transport = isStream
    ? answering(
        'text/event-stream',
        provider.events(pieces).map((each) => encoder.encode(each)),
      )
    : answering('application/json', [encoded(provider.whole)])
  const upstream = upstreamAt({ transport, protocol: provider.protocol, endpoint, connectMs: 1_000 })
  const profile = new LearnedProfile(anyTarget)
  const options = { upstream, model: 'm', idleMs: 60_000, answerBudget: unlimitedAnswerBudget, profile }
  const answer = commit(upstreamExchange(options))
  const body = caller.request(isStream)
  const envelope = envelopeOf(caller.path(isStream))
  const { stream: output } = caller.format

  return async () => {
    const ask = caller.format.check(body, envelope)
    const reply = await answer(ask, { signal: callController().signal, trail: [] })
    if (reply.kind === 'whole' || output === undefined) return
    const written = { bytes: 0 }
    let isWhole = false
    await eventStreamBody({
      reply,
      format: output,
      stallMs: 30_000,
      describe: (error) => {
        throw error
      },
      abort: () => undefined,
      onEnd: ({ error }) => void (isWhole = error === undefined),
    }).send({ write: (bytes) => void (written.bytes += bytes.length), end: () => undefined })
    if (!isWhole || written.bytes < text.length / chunks) throw new Error('a stream did not end well')
  }
}

/** A request as coding agents begin with: 27 tools with schemas, long instructions, 87 KB. */
function firstRequest(): Uint8Array {
  const sentence = 'Use this tool to read, write or change files of the project; give paths from its root.\n'
  const property = (name: string) => [name, { type: 'string', description: sentence.repeat(2), minLength: 1 }] as const
  const input_schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: Object.fromEntries(['path', 'text', 'from', 'to', 'mode'].map(property)),
    required: ['path'],
    additionalProperties: false,
  }
  const tools = Array.from({ length: 27 }, (_, index) => ({
    name: `tool_${index}`,
    description: sentence.repeat(12),
    input_schema,
  }))
  const system = [2, 160, 90].map((count) => ({
    type: 'text',
    text: sentence.repeat(count),
    cache_control: { type: 'ephemeral' },
  }))
  return encoded({ model: 'm', max_tokens: 64_000, stream: true, system, tools, messages: question })
}

const isOfService = process.argv[2] === '--service'
const [roundsGiven, secondsGiven, measuresGiven] = process.argv.slice(isOfService ? 3 : 2)

function wholeNumber(name: string, given: string | undefined, usual: number): number {
  const value = Number(given ?? usual)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name}: found '${given}', allowed: 1 or more`)
  return value
}

if (isOfService) {
  const rounds = wholeNumber('rounds', roundsGiven, 5)
  await measureService(rounds, wholeNumber('seconds', secondsGiven, 2), measuresGiven?.split(','))
  process.exit(0)
}
const rounds = wholeNumber('rounds', roundsGiven, 11)

/** Microseconds of user time of `count` runs, each. */
async function userTime(count: number, run: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage().user
  for (let index = 0; index < count; index++) await run()
  return (process.cpuUsage().user - before) / count
}

interface Series {
  readonly name: string
  readonly count: number
  readonly run: () => Promise<void> | void
  readonly values: number[]
}

const series = new Map<string, Series>()
function add(name: string, count: number, run: () => Promise<void> | void): void {
  series.set(name, { name, count, run, values: [] })
}

/** Providers of Responses get requests of other formats as chat completions. */
function providersOf({ native }: Caller): readonly Provider[] {
  return providers.filter(({ name }) => name !== 'Responses' || native === 'Responses')
}

for (const caller of callers) {
  for (const provider of providersOf(caller)) {
    const name = `${caller.native} / ${provider.name}`
    add(`request: ${name}`, 300, requester(caller, provider, undefined))
    add(`first: ${name}`, 300, requester(caller, provider, deltas.slice(0, 1)))
    add(`chunk: ${name}`, 40, requester(caller, provider, deltas))
  }
}
const large = firstRequest()
const messagesEnvelope = envelopeOf('/v1/messages')
add('large', 40, () => void formats.messages.check(large, messagesEnvelope))

for (const { count, run } of series.values()) await userTime(count * 2, run)
// In turns, so that a busy minute of the machine meets all of them.
for (let round = 0; round < rounds; round++)
  for (const { count, run, values } of series.values()) values.push(await userTime(count, run))

function value(name: string): number {
  return median(series.get(name)?.values ?? []) ?? Number.NaN
}

const micros = (figure: number): string => formatNumber(figure)
const chatRequest = value('request: chat completions / chat completions')
/** A stream of all chunks less one of a single chunk. */
const chunkOf = (name: string): number => (value(`chunk: ${name}`) - value(`first: ${name}`)) / (chunks - 1)
const chatChunkMicros = chunkOf('chat completions / chat completions')

const nativeRows = callers.map(({ native }) => {
  const name = `${native} / ${native}`
  const request = value(`request: ${name}`)
  const chunk = chunkOf(name)
  return [
    native,
    micros(request),
    (request - chatRequest).toFixed(1),
    micros(chunk),
    (chunk / chatChunkMicros).toFixed(2),
  ]
})
const translatedRows = callers.flatMap((caller) => {
  const { native } = caller
  return providersOf(caller)
    .filter(({ name }) => name !== native)
    .map(({ name: provider }) => {
      const name = `${native} / ${provider}`
      const own = `${native} / ${native}`
      const added = (value(`first: ${name}`) - value(`first: ${own}`)) / 1000
      const chunk = chunkOf(name)
      return [native, provider, micros(chunk), (chunk / chunkOf(own)).toFixed(2), added.toFixed(3)]
    })
})
const nativeHead = ['passed through', 'request µs', 'more than chat', 'chunk µs', '÷ chat']
const translatedHead = ['caller', 'provider', 'chunk µs', '÷ passed through', 'first token: added ms']

const checked = formats.messages.check(large, messagesEnvelope)
const sent = anthropic.dialects.messages?.encode(checked, 'other', { ...endpoint, profile: anyTarget })
const copied = (sent ?? []).reduce((sum, piece) => sum + (piece.buffer === large.buffer ? 0 : piece.length), 0)

const kilobytes = (large.length / 1024).toFixed(0)
console.log(markdownTable(nativeHead, nativeRows))
console.log(`\n${markdownTable(translatedHead, translatedRows)}`)
console.log(`
First request of a coding agent, ${kilobytes} KB: checked in ${(value('large') / 1000).toFixed(2)} ms of user time;
held once: of the bytes that the provider gets, ${copied} are not the caller's.
User time of one process without sockets, medians of ${rounds} rounds in turns.`)
