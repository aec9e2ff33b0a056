import { eventStreamReader, type EventStreamReader } from './event-stream.ts'

/** How the bytes of a stream are divided into events. */
export interface Framing {
  /** Media type of a stream, in lower case. */
  readonly mediaType: string
  /** Whether bytes look like the beginning of a stream. Some servers send streams with another media type. */
  looksLikeStream(bytes: Uint8Array): boolean
  /**
   * Starts reading a stream. The reader keeps at most about `eventBytesMax` bytes: it throws {@link EventTooLarge} as
   * soon as an event is known to have more, and {@link MalformedFrame} for bytes that are not of the framing. Earlier
   * events of the same bytes are returned first; then the next call throws.
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

/** Offset of the text after a byte order mark and white space. */
export function textStart(bytes: Uint8Array): number {
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while (isSpace(bytes[start])) start += 1
  return start
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Whether bytes begin like a JSON object or array. */
export function startsLikeJson(bytes: Uint8Array): boolean {
  const first = bytes[textStart(bytes)]
  return first === 0x7b || first === 0x5b // { [
}

const eventBeginning = /^(?::|(?:data|event|id|retry)(?::|\r|\n|$))/

/** Whether bytes begin like server-sent events: with a comment, or one of the four fields. */
function looksLikeEvents(bytes: Uint8Array): boolean {
  if (startsLikeJson(bytes)) return false
  const start = textStart(bytes)
  return eventBeginning.test(new TextDecoder().decode(bytes.subarray(start, start + 16)))
}
