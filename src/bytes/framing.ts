import { eventStreamReader, type EventStreamReader } from './event-stream.ts'

/** How the bytes of a stream are divided into events. */
export interface Framing {
  /** Media type of a stream, in lower case. */
  readonly mediaType: string
  /** Whether bytes look like the beginning of a stream. Some servers send streams with another media type. */
  looksLikeStream(bytes: Uint8Array): boolean
  /**
   * Starts reading a stream. The reader keeps at most about `eventBytesMax` bytes: it throws {@link EventTooLarge} as
   * soon as an event is known to have more, and {@link MalformedFrame} for other bytes. Events before those are returned
   * first, and the next call throws.
   */
  reader(options: { readonly eventBytesMax: number }): EventStreamReader
}

/** Bytes that are not of the framing. Nothing after them can be read. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame'
}

/** The usual framing. */
export const serverSentEvents: Framing = {
  mediaType: 'text/event-stream',
  looksLikeStream: looksLikeEvents,
  reader: eventStreamReader,
}

const asciiSpace = new Set([0x20, 0x09, 0x0a, 0x0d])
const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Offset of the text after a byte order mark and white space. */
export function textStart(bytes: Uint8Array): number {
  let start = byteOrderMark.every((byte, position) => bytes[position] === byte) ? byteOrderMark.length : 0
  while (start < bytes.length && asciiSpace.has(bytes[start] ?? 0)) start += 1
  return start
}

/** Whether bytes begin like a JSON object or array. */
export function startsLikeJson(bytes: Uint8Array): boolean {
  const first = bytes[textStart(bytes)]
  return first === 0x7b || first === 0x5b // { [
}

/** Whether bytes begin like server-sent events: with a comment, or one of the four fields. */
function looksLikeEvents(bytes: Uint8Array): boolean {
  const start = textStart(bytes)
  return /^(?::|(?:data|event|id|retry)(?::|\r|\n|$))/.test(new TextDecoder().decode(bytes.subarray(start, start + 16)))
}
