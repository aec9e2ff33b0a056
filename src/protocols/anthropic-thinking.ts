import { textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/**
 * A thinking block as it travels both ways in `thinking_blocks` (docs/protocols.md): complete, with its signature, and
 * nothing else in it. Undefined for what is none, or bears no signature: Anthropic would refuse it.
 */
export function thinkingBlock({ type, thinking, signature, data }: JsonObject): JsonObject | undefined {
  if (type === 'redacted_thinking') return textOf(data) ? { type, data } : undefined
  return type === 'thinking' && textOf(signature) ? { type, thinking: textOf(thinking) ?? '', signature } : undefined
}
