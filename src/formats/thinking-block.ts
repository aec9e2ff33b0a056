import type { JsonObject } from '../base/json-value.ts'
import type { ReasoningPart, Sealed } from './conversation.ts'
import { textOf } from './exact-json.ts'
import { isSealed } from './opaque-seal.ts'

/**
 * Reads a block of Anthropic's thinking. Chat completions carry it unchanged in `thinking_blocks` (docs/protocols.md).
 * Undefined for other blocks, and for one without a signature, which Anthropic would refuse.
 */
export function readThinkingBlock({ type, thinking, signature, data }: JsonObject): Sealed | undefined {
  const opaque = textOf(type === 'redacted_thinking' ? data : type === 'thinking' ? signature : undefined)
  if (opaque === undefined || opaque === '') return undefined
  const text = type === 'thinking' ? (textOf(thinking) ?? '') : undefined
  return { text, opaque: { maker: isSealed(opaque) ? 'sealed' : 'anthropic', data: opaque } }
}

/**
 * Writes a block of Anthropic's thinking, or of data wrapped by this service. Undefined for other reasoning.
 *
 * @param isUnsigned plain text is written, too: servers that are not Anthropic's take it without a signature
 */
export function writeThinkingBlock(
  { text, opaque }: Pick<ReasoningPart, 'text' | 'opaque'>,
  isUnsigned = false,
): JsonObject | undefined {
  if (opaque === undefined && text !== undefined && isUnsigned)
    return { type: 'thinking', thinking: text, signature: '' }
  if (opaque === undefined || opaque.maker === 'google' || opaque.maker === 'openrouter') return undefined
  const { data } = opaque
  return text === undefined
    ? { type: 'redacted_thinking', data }
    : { type: 'thinking', thinking: text, signature: data }
}
