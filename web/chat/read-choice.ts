import { isRecord } from '../../src/base/json-value.ts'
import type { AnswerError, TokenLogprob, ToolCall } from '../history/conversation.ts'
import { say } from '../texts/say.ts'

/** The content of a stream chunk or of a whole answer. */
export interface AnswerPiece {
  readonly text: string
  readonly reasoning: string
  /** The text before this piece was reasoning, too. */
  readonly wasReasoning?: true
  readonly finishReason?: string
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly logprobs?: readonly TokenLogprob[]
  /** The `delta` or `message`, if it has calls of tools. */
  readonly called?: Readonly<Record<string, unknown>>
  /** All calls of tools so far. */
  readonly tools?: readonly ToolCall[]
}

/** JSON of the service, parsed. */
export type ParsedChoice =
  | { readonly kind: 'piece'; readonly piece: AnswerPiece }
  | { readonly kind: 'error'; readonly error: AnswerError }
  /** Nothing known. */
  | { readonly kind: 'nothing' }

/**
 * Parses a chunk (`choices[0].delta`) or a whole answer (`choices[0].message`). Members of wrong types are ignored.
 * Never throws.
 */
export function readChoice(json: string): ParsedChoice {
  const value = parsed(json)
  if (!isRecord(value)) return { kind: 'nothing' }
  if (value['error'] !== undefined && value['error'] !== null) return { kind: 'error', error: errorOf(value['error']) }
  const choice: unknown = Array.isArray(value['choices']) ? value['choices'][0] : undefined
  const usage = usageOf(value['usage'])
  if (!isRecord(choice))
    return Object.keys(usage).length === 0
      ? { kind: 'nothing' }
      : { kind: 'piece', piece: { text: '', reasoning: '', ...usage } }
  return {
    kind: 'piece',
    piece: {
      ...textsIn(choice['delta'] ?? choice['message']),
      ...finishOf(choice),
      ...usage,
      ...logprobsOf(choice['logprobs']),
    },
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // The service sends valid JSON; an intermediary may not.
  }
}

/** Reads an error (docs/errors.md). */
function errorOf(error: unknown): AnswerError {
  if (!isRecord(error)) return { kind: 'wire', message: typeof error === 'string' ? error : say.chat.answerFailed }
  const { type, code, param, message } = error
  return {
    kind: 'wire',
    message: typeof message === 'string' && message !== '' ? message : say.chat.answerFailed,
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof param === 'string' ? { param } : {}),
  }
}

function textsIn(said: unknown): Pick<AnswerPiece, 'text' | 'reasoning' | 'called'> {
  if (!isRecord(said)) return { text: '', reasoning: '' }
  // A refusal is shown as text.
  return {
    text: textOf(said['content']) + textOf(said['refusal']),
    reasoning: textOf(said['reasoning_content']) || textOf(said['reasoning']),
    ...(said['tool_calls'] || said['function_call'] || said['executed_tools'] ? { called: said } : {}),
  }
}

/** Returns a string, or the joined texts of content parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

function finishOf(choice: Readonly<Record<string, unknown>>): Pick<AnswerPiece, 'finishReason'> {
  const reason = choice['finish_reason']
  return typeof reason === 'string' && reason !== '' ? { finishReason: reason } : {}
}

function usageOf(usage: unknown): Pick<AnswerPiece, 'promptTokens' | 'completionTokens'> {
  if (!isRecord(usage)) return {}
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  return {
    ...(isNumber(prompt) ? { promptTokens: prompt } : {}),
    ...(isNumber(completion) ? { completionTokens: completion } : {}),
  }
}

function logprobsOf(logprobs: unknown): Pick<AnswerPiece, 'logprobs'> {
  const content: unknown = isRecord(logprobs) ? logprobs['content'] : undefined
  if (!Array.isArray(content)) return {}
  const tokens = content.flatMap((each: unknown) => {
    const token = tokenOf(each)
    return token === undefined || !isRecord(each) ? [] : [{ ...token, top: topOf(each['top_logprobs']) }]
  })
  return tokens.length === 0 ? {} : { logprobs: tokens }
}

function topOf(top: unknown): TokenLogprob['top'] {
  return Array.isArray(top) ? top.flatMap((each: unknown) => tokenOf(each) ?? []) : []
}

function tokenOf(value: unknown): Pick<TokenLogprob, 'token' | 'logprob'> | undefined {
  if (!isRecord(value)) return undefined
  const { token, logprob } = value
  return typeof token === 'string' && isNumber(logprob) ? { token, logprob } : undefined
}

/** JSON numbers may exceed the range: `1e999` is Infinity. */
function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
