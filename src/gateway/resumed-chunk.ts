import type { ChatChunk } from '../wire/chat-chunk.ts'
import { isRecord } from '../wire/json-value.ts'

/** What stays the same in every chunk of one stream (failover.md row 39). */
export interface ChunkHead {
  readonly id: unknown
  readonly created: unknown
  readonly model: unknown
}

/** Reads the head of a chunk. */
export function headOf(chunk: ChatChunk): ChunkHead {
  const { id, created, model } = parse(chunk)
  return { id, created, model }
}

/**
 * A chunk of the provider that took a stream up, as if the first one had sent it.
 *
 * @param head of the stream's first chunk; absent: left as it is
 * @param text replaces the content of choice 0
 */
export function resumedChunk(chunk: ChatChunk, head: ChunkHead | undefined, text?: string): ChatChunk {
  if (chunk.data.length === 0) return chunk
  const parsed: Record<string, unknown> = { ...parse(chunk), ...head }
  const choices: unknown = parsed.choices
  if (text !== undefined && Array.isArray(choices)) {
    parsed.choices = choices.map((choice: unknown, position) => (position === 0 ? withContent(choice, text) : choice))
  }
  return { ...chunk, data: new TextEncoder().encode(JSON.stringify(parsed)), text: text ?? chunk.text }
}

function withContent(choice: unknown, content: string): unknown {
  if (!isRecord(choice)) return choice
  return { ...choice, delta: { ...(isRecord(choice.delta) ? choice.delta : {}), content } }
}

function parse(chunk: ChatChunk): Record<string, unknown> {
  const parsed: unknown = JSON.parse(new TextDecoder().decode(chunk.data))
  return isRecord(parsed) ? parsed : {}
}
