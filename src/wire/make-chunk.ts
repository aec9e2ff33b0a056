import { chunkReader } from './chat-chunk.ts'
import type { ChatChunk, ChunkHead } from './chat-chunk.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { encode } from './text.ts'

/**
 * A chunk of a JSON value, as one of an upstream would be read.
 *
 * @throws {MalformedAnswer} for what is no chunk, or is an error
 */
export function chunkOf(value: Readonly<Record<string, unknown>>): ChatChunk {
  const chunk = chunkReader()(encode(JSON.stringify(value)))
  if (chunk.kind === 'error') throw new MalformedAnswer('malformed', 'a chunk cannot be made of an error')
  return chunk
}

/** `id`, `object`, `created`, `model`, as they begin a chunk. */
export function headMembers(head: ChunkHead): Record<string, unknown> {
  return { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model }
}
