import { doneEvent, formatEvent, formatEvents, type ServerSentEvent } from '../../bytes/event-stream.ts'
import { encode } from '../../bytes/text.ts'
import { answerLimiter, otherLimits } from '../answer-limit.ts'
import type { AnswerEvent } from '../answer.ts'
import { demandReader } from '../demand.ts'
import { numberOf, textOf, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import type {
  AnsweredError,
  Format,
  PartReader,
  PassThroughTarget,
  StreamFormat,
  Talk,
  Continuation,
} from '../format.ts'
import { commentKeepAlive } from '../keep-alive.ts'
import { logprobsOfEnd } from '../logprobs-end.ts'
import type { Part } from '../part.ts'
import { setsChoices } from '../splice-request.ts'
import { stringInput, type StringInput } from '../string-input.ts'
import { chatAnswerReader } from './answer-reader.ts'
import { answerWriter, writeAnswer } from './answer-writer.ts'
import { inUsualForm } from './caller-forms.ts'
import { chatRetracer } from './chat-retracer.ts'
import { chunkReader, type ChunkHead } from './chunk.ts'
import { readCompletion } from './completion.ts'
import { fitChatRequest } from './fit.ts'
import { readChatRequest } from './read-conversation.ts'
import { readEvent, parseChecked } from './read-event.ts'
import {
  appendAnswer,
  encodeChatRequest,
  parseChatRequest,
  parseLargeChatRequest,
  chatWithoutReasoning,
  type ChatRequest,
} from './request.ts'
import { partGatherer, completionToParts } from './whole-and-parts.ts'

// The type of a part, and its member.
const media = { texts: ['"image_url"'], times: 2 }
const demand = demandReader({
  prompt: ['messages', 'tools', 'documents'],
  answerTokens: ['max_completion_tokens', 'max_tokens'],
  otherLimits,
  answers: ['n'],
  media,
})

/** The widely used chat-completions format (docs/api.md). */
export const chat: Format & { readonly stream: StreamFormat; readonly talk: Talk } = {
  name: 'chat',
  path: '/v1/chat/completions',
  check: (body) => inUsualForm(parseChatRequest(body)),
  checkLarge: async (body, pause) => inUsualForm(await parseLargeChatRequest(body, pause)),
  isText: true,
  demand,
  limitAnswer: answerLimiter({ names: ['max_completion_tokens', 'max_tokens'], others: otherLimits }),
  withoutReasoning: chatWithoutReasoning,
  needsSameModel: false,
  errorBody: (error) => JSON.stringify(error),

  passThrough: {
    write(request: ChatRequest, model, target) {
      const { overrides, defaults = {}, profile } = target
      const { rename, drop, reasoning } = profile
      const added = asksUsage(request, target) ? { stream_options: { include_usage: true }, ...overrides } : overrides
      return encodeChatRequest(request, { model, overrides: added, defaults, rename, drop, reasoning })
    },

    fit: fitChatRequest,
    losesReasoning: ({ hasReasoning }, { profile }) => hasReasoning !== undefined && profile.reasoning === 'drop',
    readWhole: (body, { model }) => readCompletion(body, { model }),
    reader: partReader,
  },

  talk: {
    keepsOpaque: true,
    read: ({ body }, drop) => readChatRequest(body, drop),
    writeWhole(events, request: ChatRequest) {
      const custom = customCalls(request)
      return { kind: 'whole', ...writeAnswer(custom?.(events) ?? events, request) }
    },
    writer(request: ChatRequest) {
      const { model, includeUsage, stream } = request
      // A plain request gets the stream of its provider gathered, with the usage that whole answers have.
      const writer = answerWriter({ model, usage: includeUsage || !stream ? 'separate' : 'hidden' })
      const custom = customCalls(request)
      return {
        hasOneChoice: asksOneChoice(request),
        write: (events) => writer.write(custom?.(events) ?? events),
        end: () => [],
      }
    },
  },

  stream: {
    frame: formatEvents,
    end: doneEvent,
    keepAlive: commentKeepAlive,
    error: (error) => formatEvent(encode(JSON.stringify(error))),
    split: (body, { includeUsage }: ChatRequest) => completionToParts(body, { includeUsage }),
    gatherer: partGatherer,
    continuation: (_ask, { first }, _text, calls) => chatContinuation(first, calls),
    retracer: chatRetracer,
    continued: (request: ChatRequest, text) =>
      appendAnswer(request, encode(JSON.stringify({ role: 'assistant', content: text }))),
  },
}

function partReader(request: ChatRequest, target: PassThroughTarget): PartReader {
  const read = chunkReader({ model: request.model })
  const isUsageOurs = asksUsage(request, target)
  return {
    hasOneChoice: !setsChoices(target) && asksOneChoice(request),
    get model() {
      return read.model()
    },
    read(event: ServerSentEvent): readonly Part[] | 'done' | AnsweredError {
      const part = readEvent(read, event)
      if (part === 'done' || part.kind === 'error') return part
      return [isUsageOurs && isUsageOnly(part) ? { ...part, data: nothing, framed: undefined } : part]
    },
    finish: read.finish,
  }
}

function asksOneChoice({ members }: ChatRequest): boolean {
  return members.every(({ name }) => name !== 'n')
}

const nothing = new Uint8Array()

/** The caller has no `stream_options`, and the provider counts only when asked. */
function asksUsage({ stream, members }: ChatRequest, { profile }: PassThroughTarget): boolean {
  return profile.streamUsage && stream && !members.some(({ name }) => name === 'stream_options')
}

/** Whether a part is the chunk without choices that has the usage of a stream. */
function isUsageOnly({ usage, isMeaningful, data }: Part): boolean {
  return usage !== undefined && !isMeaningful && /"choices"\s*:\s*\[\s*\]/.test(new TextDecoder().decode(data))
}

/** Reads the head of a chunk. */
function headOf(part: Part): ChunkHead {
  const { id, created, model } = parseChecked(part.data)
  return { id: textOf(id) ?? '', created: numberOf(created) ?? 0, model: textOf(model) ?? '' }
}

/**
 * Starts the rest of a stream. All its parts have the head of `first` (failover.md row 39).
 *
 * @param calls those that the client has
 */
export function chatContinuation(first: Part | undefined, calls?: ReadonlySet<number>): Continuation {
  const head = first === undefined ? undefined : headOf(first)
  const reader = chatAnswerReader()
  const writer = answerWriter({ model: head?.model ?? '', usage: 'beside', continued: head })
  return {
    write(part, text = part.text) {
      if (part.data.length === 0) return [part]
      const events = reader.read(parseChecked(part.data)).filter((event) => !isOf(event, calls))
      const parts = writer.write(text === part.text ? events : events.flatMap((event) => endOf(event, text)))
      return parts.map((written) => (written.usage === undefined ? written : { ...written, usage: part.usage }))
    },
  }
}

/** Whether an event belongs to one of these calls. */
function isOf(event: AnswerEvent, calls: ReadonlySet<number> | undefined): boolean {
  return calls !== undefined && 'call' in event && calls.has(event.call)
}

/** Shortens a text event, and its log probabilities, to `text`: the end that is new to the client. */
function endOf(event: AnswerEvent, text: string): readonly AnswerEvent[] {
  if (event.kind === 'text' && event.choice === 0) return [{ ...event, text }]
  if (event.kind === 'logprobs' && event.choice === 0) return logprobsOfEnd(event, text)
  return [event]
}

/**
 * For answers of providers without custom tools: gives calls of the functions in their place back as calls of custom
 * tools, with the input as text.
 *
 * @returns a function that passes on the events of each piece; undefined if the request has no custom tools
 */
function customCalls(request: ChatRequest): ((events: readonly AnswerEvent[]) => readonly AnswerEvent[]) | undefined {
  if (!request.hasCustomTools) return undefined
  const names = customNames(request)
  const inputs = new Map<string, StringInput>()

  function read(event: AnswerEvent): AnswerEvent | readonly AnswerEvent[] {
    if (event.kind !== 'call' && event.kind !== 'arguments' && event.kind !== 'callEnd') return event
    const key = `${event.choice} ${event.call}`
    if (event.kind === 'call') {
      if (!names.has(event.name)) return event
      inputs.set(key, stringInput())
      return { ...event, isCustom: true }
    }
    const input = inputs.get(key)
    if (input === undefined) return event
    const { choice, call } = event
    if (event.kind === 'arguments')
      return { kind: 'arguments', choice, call, text: input.push(event.text), isCustom: true }
    return [{ kind: 'arguments', choice, call, text: input.end(), isCustom: true }, event]
  }

  return (events) => events.flatMap(read).filter((event) => event.kind !== 'arguments' || event.text !== '')
}

function customNames({ body, members }: ChatRequest): ReadonlySet<string> {
  const tools = members.findLast(({ name }) => name === 'tools')
  const declared = tools && objectsOf(parseJsonBytes(body.subarray(tools.valueStart, tools.end)))
  return new Set(declared?.map(({ custom }) => textOf(objectOf(custom)['name']) ?? ''))
}
