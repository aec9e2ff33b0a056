import type { ChatReply, ChatService, StreamReply, WholeReply } from '../protocols/protocol.ts'
import type { Unavailability } from '../service/circuit.ts'
import { UpstreamFailure, type FailureClass, type FailureDetails } from '../service/failure.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import { parseChatRequest, type ChatRequest } from '../wire/chat-request.ts'
import { deltaChunk, finishChunk, roleChunk, textChunk, usageChunk } from '../wire/testing.ts'
import { fixedModels, type ChatCandidate, type ModelList, type OfferedModel, type Provider } from './provider.ts'

/** What the chunks of one fake provider have in common. For tests. */
export function headFrom(name: string) {
  return { id: `chatcmpl-${name}`, created: 1_700_000_000, model: `${name}-model` }
}

const head = headFrom('first')

/** Chunks by what they carry. For tests. */
export const chunks = {
  role: () => roleChunk(head),
  text: (text: string, name = 'first') => textChunk(headFrom(name), text),
  finish: (reason = 'stop', name = 'first') => finishChunk(headFrom(name), reason),
  usage: () => usageChunk(head, 3, 4),
  reasoning: (text: string) => deltaChunk(head, { reasoning_content: text }),
  refusal: (text: string) => deltaChunk(head, { refusal: text }),
  toolCall: (name = 'find') =>
    deltaChunk(head, { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }] }),
  secondChoice: (text: string) => deltaChunk(head, { content: text }, 1),
}

/** One read of a stream that a test has written: chunks, or a failure. */
export type StreamStep = ChatChunk | readonly ChatChunk[] | Error

/** A stream that a test has written. */
export interface FakeStream extends StreamReply {
  readonly reads: number
  readonly isCancelled: boolean
}

/** A stream that gives these steps, then ends; with `hangs` it says nothing more. Cancelled, it ends at once. For tests. */
export function writtenStream(
  steps: readonly StreamStep[],
  { hangs = false }: { readonly hangs?: boolean } = {},
): FakeStream {
  const left = [...steps]
  let reads = 0
  let isCancelled = false
  let wake = (): void => undefined
  return {
    kind: 'stream',
    isEmpty: false,
    async read() {
      reads += 1
      if (isCancelled) return undefined
      const step = left.shift()
      if (step instanceof Error) throw step
      if (step !== undefined) return isChunks(step) ? step : [step]
      if (!hangs) return undefined
      return new Promise((resolve) => {
        wake = () => resolve(undefined)
      })
    },
    cancel() {
      isCancelled = true
      wake()
    },
    get reads() {
      return reads
    },
    get isCancelled() {
      return isCancelled
    },
  }
}

function isChunks(step: ChatChunk | readonly ChatChunk[]): step is readonly ChatChunk[] {
  return Array.isArray(step)
}

/** A stream that gives these steps, then ends. Cancelled, it ends at once. For tests. */
export function fakeStream(...steps: readonly StreamStep[]): FakeStream {
  return writtenStream(steps)
}

/** A stream that never gives anything until it is cancelled. For tests. */
export function silentStream(): FakeStream {
  return writtenStream([], { hangs: true })
}

/** A whole answer that says this. For tests. */
export function wholeReply(content: string, finishReason = 'stop'): WholeReply {
  const body = new TextEncoder().encode(
    JSON.stringify({
      id: 'chatcmpl-whole',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          logprobs: null,
          finish_reason: finishReason,
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }),
  )
  return {
    kind: 'whole',
    body,
    usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7 },
    isEmpty: content === '' && finishReason === 'stop',
  }
}

/** A cut of a stream that had begun. For tests. */
export function cutFailure(message = 'the stream broke off'): UpstreamFailure {
  return new UpstreamFailure('cut', message, { status: 200 })
}

/** A failure by its class. For tests. */
export function failureOf(failure: FailureClass, details: FailureDetails = {}): UpstreamFailure {
  return new UpstreamFailure(failure, `it was ${failure}`, details)
}

/** A checked request. For tests. */
export function requestOf(fields: Readonly<Record<string, unknown>> = {}): ChatRequest {
  return parseChatRequest(
    new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields })),
  )
}

/** All chunks of a stream, read to its end; and what it ended with, if not well. For tests. */
export async function readAll(
  reply: StreamReply,
): Promise<{ readonly chunks: readonly ChatChunk[]; readonly error?: unknown }> {
  const all: ChatChunk[] = []
  try {
    for (let read = await reply.read(); read !== undefined; read = await reply.read()) all.push(...read)
  } catch (error) {
    return { chunks: all, error }
  }
  return { chunks: all }
}

/** The chunks' JSON. For tests. */
export function jsonOf(chunk: { readonly data: Uint8Array }): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(chunk.data))
}

/** All text of choice 0 as a client reads it out of the JSON. For tests. */
export function textOf(all: readonly ChatChunk[]): string {
  return all
    .map((chunk) => {
      const choices = jsonOf(chunk)['choices']
      const delta: unknown = Array.isArray(choices) ? choices[0]?.delta : undefined
      return typeof delta === 'object' && delta !== null && 'content' in delta && typeof delta.content === 'string'
        ? delta.content
        : ''
    })
    .join('')
}

/** A provider that a test has written, and what it was asked. */
export interface FakeProvider extends Provider {
  readonly requests: ChatRequest[]
}

/** What differs from a provider that is healthy and offers model `m`. */
export interface FakeProviderOptions {
  /** `undefined`: not known. Names, or models. */
  readonly models?: ModelList | readonly (string | OfferedModel)[]
  readonly continues?: boolean
  readonly unavailable?: Unavailability
}

/** A provider; it gives its answers one after the other, the last again and again. For tests. */
export function fakeProvider(
  id: string,
  answers: readonly (ChatReply | Error | ChatService)[],
  options: FakeProviderOptions = {},
): FakeProvider {
  const { models = ['m'], continues = false, unavailable } = options
  const left = [...answers]
  const requests: ChatRequest[] = []
  const candidates = new Map<string, ChatCandidate>()
  const chat: ChatService = async (request, call) => {
    requests.push(request)
    const answer = left.length > 1 ? left.shift() : left[0]
    if (answer === undefined) throw new Error(`${id} was not to be asked`)
    if (answer instanceof Error) throw answer
    call.trail.push({ name: id, status: 200, ms: 0 })
    return typeof answer === 'function' ? answer(request, call) : answer
  }
  return {
    id,
    requests,
    models: isList(models)
      ? fixedModels(models.map((model) => (typeof model === 'string' ? offered(model) : model)))
      : models,
    candidate(model) {
      const known = candidates.get(model)
      if (known !== undefined) return known
      const made: ChatCandidate = { name: id, model, chat, continues, unavailable: () => unavailable }
      candidates.set(model, made)
      return made
    },
  }
}

function isList(models: ModelList | readonly (string | OfferedModel)[]): models is readonly (string | OfferedModel)[] {
  return Array.isArray(models)
}

/** A model by name. For tests. */
export function offered(name: string, more: Partial<OfferedModel> = {}): OfferedModel {
  return { name, upstream: name, aliases: [], ...more }
}

/** A list that is not known yet. For tests. */
export const unknownModels: ModelList = { current: () => undefined, version: 0, pending: undefined }
