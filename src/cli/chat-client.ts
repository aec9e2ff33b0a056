import { eventStreamReader } from '../bytes/event-stream.ts'
import { decodeHeaderText } from '../bytes/header-text.ts'
import { parseChatRequest } from '../formats/chat/request.ts'
import type { Part } from '../formats/part.ts'
import type { Usage } from '../formats/usage.ts'
import { firstChatModel, isChatModel } from '../gateway/chat-model.ts'
import type { Gateway, ServedReply } from '../gateway/gateway.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import { formatTrail, type Attempt } from '../service/trail.ts'
import type { Transport, UpstreamResponse } from '../transport/transport.ts'
import type { ChatMessage } from './chat/messages.ts'
import { askService, errorMessage, member, serviceRoot, tryParseJson } from './running-service.ts'

/** New text of an answer. */
export interface AnswerPiece {
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

/** Tokens of an answer, with the names of chat completions. Counts that are not known are absent. */
export interface TokenUsage {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly cached_tokens?: number
  readonly reasoning_tokens?: number
}

/** Facts about an answer. They are complete at its end. */
export interface ChatFacts {
  /** Id of the provider. */
  readonly provider: string | undefined
  /** The provider's name for the model. */
  readonly model: string | undefined
  readonly usage: TokenUsage | undefined
  /** Cost in USD. `undefined`: it is not known, as of a running service. */
  readonly costUsd: number | undefined
  /** The attempts, as `x-svc-trail` of docs/api.md has them. */
  readonly trail: string | undefined
}

/** An answer that arrives in pieces. */
export interface StreamedAnswer {
  /** @throws when the answer is cut */
  readonly pieces: AsyncIterable<AnswerPiece>
  facts(): ChatFacts
}

/** A question with the conversation before it. */
export interface ChatQuestion {
  readonly model: string
  readonly messages: readonly ChatMessage[]
}

/** Asks for `svc chat`: the gateway in this process, or a running service. */
export interface ChatClient {
  /**
   * Finds the first chat model, judging by names, in the order of providers; else the first model.
   *
   * @throws when no model is offered
   */
  defaultModel(signal: AbortSignal): Promise<string>
  /** Sends a request for a stream. @throws errors with a message for users */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<StreamedAnswer>
}

/** Asks the gateway in this process. */
export function gatewayChat(gateway: Gateway): ChatClient {
  return {
    async defaultModel(signal) {
      for (const provider of gateway.providers) {
        await modelsListed([provider], signal)
        const model = provider.models.current()?.find(({ name }) => isChatModel(name))
        if (model !== undefined) return model.name
      }
      const [first] = gateway.models()
      if (first !== undefined) return first.name
      throw new Error("no provider offers a model: run 'svc check' for the reasons")
    },
    async ask({ model, messages }, signal) {
      const body = JSON.stringify({ model, messages, stream: true })
      const trail: Attempt[] = []
      const served = await gateway.answer(parseChatRequest(new TextEncoder().encode(body)), { signal, trail })
      return gatewayAnswer(served, trail, signal)
    },
  }
}

function gatewayAnswer(served: ServedReply, trail: readonly Attempt[], signal: AbortSignal): StreamedAnswer {
  let usage: Usage | undefined
  async function* pieces(): AsyncIterable<AnswerPiece> {
    const { reply } = served
    if (reply.kind === 'whole') {
      usage = reply.usage
      yield* piecesOf(tryParseJson(reply.body), 'message')
      return
    }
    // A read that waits ends by it.
    const cancel = (): void => reply.cancel()
    signal.addEventListener('abort', cancel)
    try {
      for (let parts = await reply.read(); parts !== undefined; parts = await reply.read()) {
        for (const part of parts) {
          usage = part.usage ?? usage
          yield* piecesOfPart(part)
        }
      }
    } finally {
      signal.removeEventListener('abort', cancel)
      reply.cancel()
    }
  }
  return {
    pieces: pieces(),
    facts() {
      const nanoUsd = usage && served.costOf?.(usage)?.nanoUsd
      return {
        provider: served.provider,
        model: served.model,
        usage: usage && tokenUsage(usage),
        costUsd: nanoUsd === undefined ? undefined : nanoUsd / 1e9,
        trail: formatTrail(trail),
      }
    },
  }
}

/** Only a part that has more than text is parsed. */
function piecesOfPart({ text, isBeyondText, data }: Part): readonly AnswerPiece[] {
  const reasoning = isBeyondText ? reasoningOf(deltaOf(tryParseJson(data), 'delta')) : ''
  return listed(reasoning, text)
}

function tokenUsage(usage: Usage): TokenUsage {
  return counts({
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
  })
}

/**
 * Asks a running service.
 *
 * @param url with or without `/v1`
 * @param token session token or key
 */
export function serviceChat(url: string, token: string | undefined, transport: Transport): ChatClient {
  const base = new URL(`${serviceRoot(url)}/v1`)
  const credential = token === undefined ? {} : { token }

  function request(path: string, body: string | undefined, signal: AbortSignal): Promise<UpstreamResponse> {
    const given = body === undefined ? { path } : { path, body }
    return askService(base, { ...given, ...credential }, transport, signal)
  }

  return {
    async defaultModel(signal) {
      const list = tryParseJson(await (await request('/models', undefined, signal)).body.readAll())
      const model = firstChatModel(modelMembers(list, 'id').map((name) => ({ name })))
      if (model === undefined) throw new Error(`${base.href} offers no model`)
      return model.name
    },
    async ask({ model, messages }, signal) {
      const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } })
      return serviceAnswer(await request('/chat/completions', body, signal))
    },
  }
}

/** A text of each model in a list, as `/v1/models` answers it: its name, or the provider that owns it. */
export function modelMembers(list: unknown, name: 'id' | 'owned_by'): readonly string[] {
  return (arrayOf(member(list, 'data')) ?? []).flatMap((model) => {
    const text = member(model, name)
    return typeof text === 'string' ? [text] : []
  })
}

function serviceAnswer({ headers, body }: UpstreamResponse): StreamedAnswer {
  let usage: TokenUsage | undefined
  async function* pieces(): AsyncIterable<AnswerPiece> {
    const reader = eventStreamReader()
    try {
      for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
        for (const { data } of reader.push(bytes)) {
          if (new TextDecoder().decode(data) === '[DONE]') return
          const event = tryParseJson(data)
          const message = errorMessage(event)
          if (message !== undefined) throw new Error(message)
          usage = usageIn(event) ?? usage
          yield* piecesOf(event, 'delta')
        }
      }
    } finally {
      body.cancel()
    }
    throw new Error('the answer was cut off')
  }
  const model = headers.get('x-svc-model')
  const facts = {
    provider: headers.get('x-svc-provider'),
    model: model === undefined ? undefined : decodeHeaderText(model),
    trail: headers.get('x-svc-trail'),
    costUsd: undefined,
  }
  return { pieces: pieces(), facts: () => ({ ...facts, usage }) }
}

function usageIn(event: unknown): TokenUsage | undefined {
  const usage = member(event, 'usage')
  if (typeof usage !== 'object' || usage === null) return undefined
  const read = (of: unknown, name: string): number | undefined => {
    const count = member(of, name)
    return typeof count === 'number' ? count : undefined
  }
  return counts({
    prompt_tokens: read(usage, 'prompt_tokens'),
    completion_tokens: read(usage, 'completion_tokens'),
    total_tokens: read(usage, 'total_tokens'),
    cached_tokens: read(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
    reasoning_tokens: read(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
  })
}

/** Leaves out the counts that are not known. */
function counts(found: Readonly<Record<keyof TokenUsage, number | undefined>>): TokenUsage {
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count !== undefined))
}

function piecesOf(value: unknown, part: 'message' | 'delta'): readonly AnswerPiece[] {
  const delta = deltaOf(value, part)
  return listed(reasoningOf(delta), textOf(member(delta, 'content')))
}

function deltaOf(value: unknown, part: 'message' | 'delta'): unknown {
  return member(arrayOf(member(value, 'choices'))?.[0], part)
}

function reasoningOf(delta: unknown): string {
  return textOf(member(delta, 'reasoning_content') ?? member(delta, 'reasoning'))
}

function listed(reasoning: string, text: string): readonly AnswerPiece[] {
  const pieces: AnswerPiece[] = []
  if (reasoning !== '') pieces.push({ kind: 'reasoning', text: reasoning })
  if (text !== '') pieces.push({ kind: 'text', text })
  return pieces
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function arrayOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
