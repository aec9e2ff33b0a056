import { encode } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { chunkReader, type ChunkHead, type ChunkReader } from './chunk.ts'

/**
 * Makes a part of a chunk, as the reader of an upstream's stream would.
 *
 * @param read the reader of a stream; default: one for a new stream
 * @throws {MalformedAnswer} for a malformed chunk, and for an error
 */
export function chunkPart(value: Readonly<Record<string, unknown>>, read: ChunkReader = chunkReader()): Part {
  const part = read(encode(JSON.stringify(value)))
  if (part.kind === 'error') throw new MalformedAnswer('malformed', 'a part cannot be made of an error')
  return part
}

/** The members `id`, `object`, `created` and `model` of a chunk. */
export function headMembers(head: ChunkHead): Record<string, unknown> {
  return { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model }
}
