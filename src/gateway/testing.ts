import type { Ask } from '../formats/ask.ts'
import { parseChatRequest, type ChatRequest } from '../formats/chat/request.ts'
import { deltaPart, finishPart, rolePart, textPart, usagePart } from '../formats/chat/testing.ts'
import type { OfferedModel } from '../formats/model.ts'
import type { Part } from '../formats/part.ts'
import { type PartStream, type Reply, type StreamReply, watchable, type WholeReply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Unavailability } from '../service/health/health-state.ts'
import { gateway, type Gateway, type GatewayOptions } from './gateway.ts'
import { type AnswerService, fixedModels, type ModelCandidate, type ModelList, type Provider } from './provider.ts'

/** The head of the parts of one fake provider. For tests. */
export function headFrom(name: string) {
  return { id: `chatcmpl-${name}`, created: 1_700_000_000, model: `${name}-model` }
}

const head = headFrom('first')

/** Parts by their content. For tests. */
export const parts = {
  role: () => rolePart(head),
  text: (text: string, name = 'first') => textPart(headFrom(name), text),
  finish: (reason = 'stop', name = 'first') => finishPart(headFrom(name), reason),
  usage: () => usagePart(head, 3, 4),
  reasoning: (text: string) => deltaPart(head, { reasoning_content: text }),
  refusal: (text: string) => deltaPart(head, { refusal: text }),
  toolCall: (name = 'find') =>
    deltaPart(head, { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }] }),
  secondChoice: (text: string) => deltaPart(head, { content: text }, 1),
}

/** One read of a fake stream: parts, or a failure. */
export type StreamStep = Part | readonly Part[] | Error

/** A stream of given steps. */
export interface FakeStream extends StreamReply {
  readonly reads: number
  readonly isCancelled: boolean
}

/** A stream that gives these steps, then ends, or never ends with `hangs`. A cancel ends it. For tests. */
export function writtenStream(
  steps: readonly StreamStep[],
  { hangs = false }: { readonly hangs?: boolean } = {},
): FakeStream {
  const left = [...steps]
  let reads = 0
  let isCancelled = false
  let wake = (): void => undefined
  const stream = watchable({
    kind: 'stream',
    isEmpty: false,
    async read() {
      reads += 1
      if (isCancelled) return undefined
      const step = left.shift()
      if (step instanceof Error) throw step
      if (step !== undefined) return isParts(step) ? step : [step]
      if (!hangs) return undefined
      return new Promise((resolve) => {
        wake = () => resolve(undefined)
      })
    },
    cancel() {
      isCancelled = true
      wake()
    },
  })
  return {
    ...stream,
    get reads() {
      return reads
    },
    get isCancelled() {
      return isCancelled
    },
  }
}

function isParts(step: Part | readonly Part[]): step is readonly Part[] {
  return Array.isArray(step)
}

/** A stream that gives these steps, then ends. A cancel ends it. For tests. */
export function fakeStream(...steps: readonly StreamStep[]): FakeStream {
  return writtenStream(steps)
}

/** A stream that gives nothing until it is cancelled. For tests. */
export function silentStream(): FakeStream {
  return writtenStream([], { hangs: true })
}

/** A whole answer with this content. For tests. */
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

/** The failure of a stream that was cut. For tests. */
export function cutFailure(message = 'the connection was lost during the stream'): UpstreamFailure {
  return new UpstreamFailure('cut', message, { status: 200 })
}

/** A checked request. For tests. */
export function requestOf(fields: Readonly<Record<string, unknown>> = {}): ChatRequest {
  return parseChatRequest(
    new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields })),
  )
}

/** Reads a stream to its end: all its parts, and the error that ended it. For tests. */
export async function readAll(
  reply: PartStream,
): Promise<{ readonly parts: readonly Part[]; readonly error?: unknown }> {
  const all: Part[] = []
  try {
    for (let read = await reply.read(); read !== undefined; read = await reply.read()) all.push(...read)
  } catch (error) {
    return { parts: all, error }
  }
  return { parts: all }
}

/** A part's JSON. For tests. */
export function partJson(part: { readonly data: Uint8Array }): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(part.data))
}

/** All text of choice 0, as a client reads it from the JSON. For tests. */
export function partsText(all: readonly Part[]): string {
  return all
    .map((part) => {
      const choices = partJson(part)['choices']
      const delta: unknown = Array.isArray(choices) ? choices[0]?.delta : undefined
      return typeof delta === 'object' && delta !== null && 'content' in delta && typeof delta.content === 'string'
        ? delta.content
        : ''
    })
    .join('')
}

/** A fake provider, and the requests it received. */
export interface FakeProvider extends Provider {
  readonly requests: Ask[]
}

/** Differences from a healthy provider that offers model `m`. */
export interface FakeProviderOptions {
  /** `undefined`: not known. Names, or models. */
  readonly models?: ModelList | readonly (string | OfferedModel)[]
  readonly continues?: boolean
  readonly promptCache?: ModelCandidate['promptCache']
  readonly unavailable?: Unavailability
}

/** A provider that gives these answers one after the other, and repeats the last. For tests. */
export function fakeProvider(
  id: string,
  answers: readonly (Reply | Error | AnswerService)[],
  options: FakeProviderOptions = {},
): FakeProvider {
  const { models = ['m'], continues = false, promptCache, unavailable } = options
  const left = [...answers]
  const requests: Ask[] = []
  const candidates = new Map<string, ModelCandidate>()
  const answerNext: AnswerService = async (request, call) => {
    requests.push(request)
    const answer = left.length > 1 ? left.shift() : left[0]
    if (answer === undefined) throw new Error(`${id} must not be asked`)
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
      const made: ModelCandidate = {
        name: id,
        model,
        answer: answerNext,
        speaks: () => true,
        continues,
        promptCache,
        unavailable: () => unavailable,
      }
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

/** A gateway to these providers, with the settings that services have without any. For tests. */
export function gatewayTo(providers: readonly Provider[], options: Partial<GatewayOptions> = {}): Gateway {
  const usual = { aliases: {}, onContentPolicy: 'stop', onCut: 'resume', hold: 'calls', retryBilled: false } as const
  return gateway({ providers, ...usual, ...options })
}
