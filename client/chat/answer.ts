import type { Output } from '../../src/base/command-line/command.ts'
import { formatDuration, harmless, harmlessLines, paintFor } from '../../src/base/shown-text.ts'
import type { ChatFacts, AnswerPiece, ChatClient } from '../host.ts'
import type { ChatMessage } from './messages.ts'

/** Characters of the text of an answer. */
const textMax = 16 * 1024 * 1024

/** A conversation with a model. */
export interface ChatState {
  /** Undefined: the first chat model, found when it is needed. */
  model: string | undefined
  system: string | undefined
  /** Questions and answers, in turn. */
  messages: readonly ChatMessage[]
}

/** An answer that has ended. */
export interface EndedAnswer {
  readonly text: string
  readonly facts: ChatFacts
  readonly ms: number
}

export interface AskOptions {
  readonly client: ChatClient
  /** Gets the pieces as they arrive. */
  readonly show: (piece: AnswerPiece) => void
  /** Stops the answer. */
  readonly signal: AbortSignal
}

/**
 * Asks a question in a conversation, and adds it with its answer, also with the part of one that was stopped.
 *
 * @returns undefined when the signal stopped the answer
 * @throws errors with a message for users; the conversation stays as it was
 */
export async function ask(
  conversation: ChatState,
  question: ChatMessage,
  { client, show, signal }: AskOptions,
): Promise<EndedAnswer | undefined> {
  const start = performance.now()
  let text = ''
  const { system, messages } = conversation
  function keep(): void {
    // Providers refuse an empty answer in a conversation.
    if (text !== '') conversation.messages = [...messages, question, { role: 'assistant', content: text }]
  }
  try {
    const model = (conversation.model ??= await client.defaultModel(signal))
    const instructions: readonly ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }]
    const answered = await client.ask({ model, messages: [...instructions, ...messages, question] }, signal)
    for await (const piece of answered.pieces) {
      if (signal.aborted) break
      if (piece.kind === 'text') text += piece.text
      if (text.length > textMax) throw new Error(`the answer has more than ${textMax} characters`)
      show(piece)
    }
    keep()
    return signal.aborted ? undefined : { text, facts: answered.facts(), ms: performance.now() - start }
  } catch (error) {
    if (!signal.aborted) throw error
    keep()
    return undefined
  }
}

/** Prints an answer while it arrives. */
export interface AnswerPrinter {
  show(piece: AnswerPiece): void
  /** Ends the last line. */
  end(): void
}

/** Makes a printer. A terminal gets reasoning, dimmed, and escaped control characters; other outputs the text alone. */
export function answerPrinter(output: Output): AnswerPrinter {
  const paint = paintFor(output)
  let last: AnswerPiece | undefined

  function end(): void {
    if (last !== undefined && !last.text.endsWith('\n')) output.write('\n')
    last = undefined
  }

  return {
    show(piece) {
      if (!output.isTerminal) {
        if (piece.kind === 'reasoning') return
        output.write(piece.text)
      } else {
        if (last !== undefined && last.kind !== piece.kind) {
          end()
          output.write('\n')
        }
        const text = harmlessLines(piece.text)
        if (piece.kind === 'text') output.write(text)
        else output.write(`${last === undefined && !output.hasColour ? 'Reasoning: ' : ''}${paint('dim', text)}`)
      }
      last = piece
    },
    end,
  }
}

/** Who answered, how fast, with how many tokens and for how much, in one line. */
export function answerLine({ facts, ms }: EndedAnswer): string {
  const { provider, model, usage, costUsd } = facts
  const who = [model, provider === undefined ? undefined : `from ${provider}`]
    .filter((word) => word !== undefined)
    .map(harmless)
    .join(' ')
  const tokens =
    usage?.prompt_tokens === undefined || usage.completion_tokens === undefined
      ? undefined
      : `${usage.prompt_tokens} + ${usage.completion_tokens} tokens`
  const cost = costUsd === undefined ? undefined : `$${Number(costUsd.toPrecision(2))}`
  return [who === '' ? 'answered' : who, formatDuration(ms), tokens, cost]
    .filter((part) => part !== undefined)
    .join(', ')
}

/** An answer as one line of JSON, for programs. Unknown facts are null. */
export function answerJson({ text, facts }: EndedAnswer): string {
  const { model, provider, usage, costUsd, trail } = facts
  return JSON.stringify({
    text,
    model: model ?? null,
    provider: provider ?? null,
    usage: usage ?? null,
    cost_usd: costUsd ?? null,
    trail: trail ?? null,
  })
}
