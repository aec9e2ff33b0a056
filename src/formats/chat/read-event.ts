import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { utf8 } from '../../bytes/text.ts'
import { objectOf, parseJson } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import type { Part } from '../part.ts'
import { isDone } from '../reply.ts'
import { readUpstreamError } from '../upstream-error.ts'
import type { ChunkReader } from './chunk.ts'

/** Reads an event of a stream: a chunk, an error or the end marker. @throws {MalformedAnswer} for any other event */
export function readEvent(read: ChunkReader, { event, data, framed }: ServerSentEvent): Part | 'done' | AnsweredError {
  if (isDone(data)) return 'done'
  return event === 'error'
    ? { kind: 'error', error: readUpstreamError(data) }
    : read(data, event === '' ? framed : undefined)
}

/** Parses the bytes of a checked chunk or completion. */
export function parseChecked(bytes: Uint8Array): JsonObject {
  return objectOf(parseJson(utf8(bytes)))
}
