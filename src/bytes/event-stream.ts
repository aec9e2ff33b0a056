import { growingBytes } from './growing-bytes.ts'
import { encode, utf8 } from './text.ts'

/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event:` field; empty when absent. */
  readonly event: string
  /** The `data:` lines, joined with LF. */
  readonly data: Uint8Array
}

/** Reads the events of one stream. */
export interface EventStreamReader {
  /**
   * Reads bytes and returns the events they complete. Event data may be views of `bytes`.
   *
   * @throws {EventTooLarge} now and in every later call
   */
  push(bytes: Uint8Array): readonly ServerSentEvent[]
  /**
   * Ends the stream and returns its unfinished event, if that has data: many upstreams omit the last blank line.
   *
   * @throws {EventTooLarge}
   */
  end(): readonly ServerSentEvent[]
}

/** An event, or one line of it, is larger than `eventBytesMax` (failover.md row 29). */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge'
  readonly eventBytesMax: number

  constructor(eventBytesMax: number) {
    super(`an event of the stream is larger than ${eventBytesMax} bytes`)
    this.eventBytesMax = eventBytesMax
  }
}

/** The last event of a complete stream. */
export const doneEvent: Uint8Array = encode('data: [DONE]\n\n')

/** A comment that keeps the connection open; clients ignore it. */
export const keepAliveEvent: Uint8Array = encode(': keep-alive\n\n')

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COLON = 0x3a
const noEvents: readonly ServerSentEvent[] = []
const noBytes = new Uint8Array(0)

/**
 * Reads server-sent events (HTML Living Standard, section 9.2) from bytes cut at any point: LF, CRLF and CR, a byte
 * order mark, comments, several data lines. `id` and `retry` are ignored. Memory is bounded by `eventBytesMax` (default
 * 1 MiB), time is linear. Events before one that is too large are returned first; the next call throws.
 */
export function eventStreamReader(options: { readonly eventBytesMax?: number } = {}): EventStreamReader {
  const { eventBytesMax = 1024 * 1024 } = options
  const line = growingBytes()
  const data = growingBytes()
  let hasData = false
  /** The event's only data line so far, as a view of the pushed bytes; copied to `data` when the bytes end first. */
  let view: Uint8Array | undefined
  let event = ''
  let isFirstLine = true
  let isInLine = false
  let isInComment = false
  let isAfterCr = false
  let failure: EventTooLarge | undefined
  let events: ServerSentEvent[] | undefined

  function tooLarge(): EventTooLarge {
    return (failure ??= new EventTooLarge(eventBytesMax))
  }

  function addData(bytes: Uint8Array, start: number, end: number): void {
    if (!hasData) {
      hasData = true
      if (end - start > eventBytesMax) throw tooLarge()
      view = bytes.subarray(start, end)
      return
    }
    keepView()
    if (data.length + 1 + end - start > eventBytesMax) throw tooLarge()
    data.append(lineFeed, 0, 1)
    data.append(bytes, start, end)
  }

  function keepView(): void {
    if (view === undefined) return
    data.append(view, 0, view.length)
    view = undefined
  }

  function dispatch(): void {
    if (hasData) {
      events ??= []
      events.push({ event, data: view ?? data.take() })
    }
    hasData = false
    view = undefined
    event = ''
  }

  /** Reads a whole line, without its line break. */
  function readLine(bytes: Uint8Array, from: number, end: number): void {
    let start = from
    if (isFirstLine) {
      isFirstLine = false
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf && end - start >= 3)
        start += 3
    }
    if (start === end) return dispatch()
    if (bytes[from] === COLON) return
    if (end - start > eventBytesMax + lineNameBytes) throw tooLarge()
    if (bytes[start] === COLON) return
    if (isField(bytes, start, end, dataName)) return addData(bytes, valueStart(bytes, start + 4, end), end)
    if (isField(bytes, start, end, eventName)) event = utf8(bytes, valueStart(bytes, start + 5, end), end)
  }

  /** Keeps the first part of a line whose end has not arrived. */
  function keepLine(bytes: Uint8Array, start: number): void {
    if (!isInLine && bytes[start] === COLON) isInComment = true
    isInLine = true
    if (isInComment) return
    if (line.length + bytes.length - start > eventBytesMax + lineNameBytes + byteOrderMarkBytes) throw tooLarge()
    line.append(bytes, start, bytes.length)
  }

  function endLine(bytes: Uint8Array, start: number, end: number): void {
    if (!isInLine) return readLine(bytes, start, end)
    isInLine = false
    if (isInComment) {
      isInComment = false
      isFirstLine = false
      return
    }
    if (line.length + end - start > eventBytesMax + lineNameBytes + byteOrderMarkBytes) throw tooLarge()
    line.append(bytes, start, end)
    const whole = line.take()
    readLine(whole, 0, whole.length)
  }

  function readLines(bytes: Uint8Array): void {
    let position = 0
    if (isAfterCr && bytes.length > 0) {
      isAfterCr = false
      if (bytes[0] === LF) position = 1
    }
    let nextLf = bytes.indexOf(LF, position)
    let nextCr = bytes.indexOf(CR, position)
    while (position < bytes.length) {
      if (nextLf !== -1 && nextLf < position) nextLf = bytes.indexOf(LF, position)
      if (nextCr !== -1 && nextCr < position) nextCr = bytes.indexOf(CR, position)
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf)
      const end = isCr ? nextCr : nextLf
      if (end === -1) {
        keepLine(bytes, position)
        break
      }
      endLine(bytes, position, end)
      position = end + 1
      if (!isCr) continue
      if (bytes[position] === LF) position++
      else if (position === bytes.length) isAfterCr = true
    }
    keepView()
  }

  function takeEvents(): readonly ServerSentEvent[] {
    const complete = events ?? noEvents
    events = undefined
    if (failure !== undefined && complete.length === 0) throw failure
    return complete
  }

  return {
    push(bytes) {
      if (failure !== undefined) throw failure
      try {
        readLines(bytes)
      } catch (error) {
        if (!(error instanceof EventTooLarge)) throw error
      }
      return takeEvents()
    },
    end() {
      if (failure !== undefined) throw failure
      try {
        if (isInLine) endLine(noBytes, 0, 0)
        dispatch()
      } catch (error) {
        if (!(error instanceof EventTooLarge)) throw error
      }
      return takeEvents()
    },
  }
}

/** Writes `data: …` and a blank line. `data` must not contain a line break. */
export function formatEvent(data: Uint8Array): Uint8Array {
  return formatEvents([{ data }])
}

/** An event to be written. */
export interface WrittenEvent {
  /** The `event:` field, without line breaks. Absent: the event has none. */
  readonly event?: string | undefined
  /** Without line breaks. Empty: the event is omitted. */
  readonly data: Uint8Array
}

/** Writes several events as one piece. */
export function formatEvents(events: readonly WrittenEvent[]): Uint8Array {
  let length = 0
  for (const { event, data } of events)
    if (data.length > 0) length += data.length + 8 + (event === undefined ? 0 : Buffer.byteLength(event) + 8)
  const bytes = new Uint8Array(length)
  let position = 0
  for (const { event, data } of events) {
    if (data.length === 0) continue
    if (event !== undefined) position += encoder.encodeInto(`event: ${event}\n`, bytes.subarray(position)).written
    bytes.set(prefix, position)
    bytes.set(data, position + 6)
    position += data.length + 8
    bytes[position - 2] = LF
    bytes[position - 1] = LF
  }
  return bytes
}

const encoder = new TextEncoder()
const prefix = encode('data: ')
const lineFeed = encode('\n')
const dataName = encode('data')
const eventName = encode('event')
/** Length of `event: `, the longest field name that is read. */
const lineNameBytes = 7
const byteOrderMarkBytes = 3

/** Whether the line is the field `name`, with or without a value. */
function isField(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  const length = name.length
  if (end - start < length || (end - start > length && bytes[start + length] !== COLON)) return false
  for (let index = 0; index < length; index++) {
    if (bytes[start + index] !== name[index]) return false
  }
  return true
}

/** Offset of the value, given the offset where a colon would be. */
function valueStart(bytes: Uint8Array, colon: number, end: number): number {
  if (colon >= end) return end
  return colon + 1 < end && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
}
