import { firstChatModel } from '../../src/base/chat-model.ts'
import { errorMessage, member, tryParseJson } from '../../src/base/command-line/running-service.ts'
import { eventStreamReader } from '../../src/bytes/event-stream.ts'
import { decodeHeaderText } from '../../src/bytes/header-text.ts'
import type { AnswerPiece, ChatClient, ServiceAnswer, ServiceLink, StreamedAnswer, TokenUsage } from '../host.ts'

/** Asks a running service. */
export function serviceChat(link: ServiceLink, base: URL): ChatClient {
  return {
    async defaultModel(signal) {
      const list = tryParseJson(await (await link.ask('/models', undefined, signal)).body.readAll())
      const model = firstChatModel(modelMembers(list, 'id').map((name) => ({ name })))
      if (model === undefined) throw new Error(`${base.href} offers no model`)
      return model.name
    },
    async ask({ model, messages }, signal) {
      const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } })
      return serviceAnswer(await link.ask('/chat/completions', body, signal))
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

function serviceAnswer({ headers, body }: ServiceAnswer): StreamedAnswer {
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
  return knownCounts({
    prompt_tokens: read(usage, 'prompt_tokens'),
    completion_tokens: read(usage, 'completion_tokens'),
    total_tokens: read(usage, 'total_tokens'),
    cached_tokens: read(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
    reasoning_tokens: read(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
  })
}

/** Leaves out the counts that are not known. */
export function knownCounts(found: Readonly<Record<keyof TokenUsage, number | undefined>>): TokenUsage {
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count !== undefined))
}

/** The text of a chunk (`delta`), or of a whole answer (`message`). */
export function piecesOf(value: unknown, part: 'message' | 'delta'): readonly AnswerPiece[] {
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
