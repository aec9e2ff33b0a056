import { growingBytes } from './growing-bytes.ts'
import { endOfPlainText, isAt } from './json-cursor.ts'
import { encode, latin1, utf8 } from './text.ts'

/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event:` field; empty when absent. */
  readonly event: string
  /** The `data:` lines, joined with LF. */
  readonly data: Uint8Array
  /** The whole event as received, if {@link formatEvent} would write the same. */
  readonly framed?: Uint8Array
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
  return new EventReader(options.eventBytesMax ?? 1024 * 1024)
}

/** The bytes of an event up to its data. */
interface Lead {
  readonly event: string
  readonly bytes: Uint8Array
}

/** A class, since every stream has one: closures would take more memory. */
class EventReader implements EventStreamReader {
  readonly #eventBytesMax: number
  readonly #line = growingBytes()
  readonly #data = growingBytes()
  #hasData = false
  /** The event's only data line so far, as a view of the pushed bytes; copied to `data` when the bytes end first. */
  #view: Uint8Array | undefined
  #event = ''
  #isFirstLine = true
  #isInLine = false
  #isInComment = false
  #isAfterCr = false
  #failure: EventTooLarge | undefined
  #events: ServerSentEvent[] | undefined
  /** Of the last event that came alone and had a name: most events of a stream have the same. */
  #lead: Lead | undefined

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    if (this.#failure !== undefined) throw this.#failure
    try {
      const whole = this.#readWhole(bytes)
      if (whole < bytes.length) this.#readLines(whole === 0 ? bytes : bytes.subarray(whole))
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error
    }
    return this.#takeEvents()
  }

  end(): readonly ServerSentEvent[] {
    if (this.#failure !== undefined) throw this.#failure
    try {
      if (this.#isInLine) this.#endLine(noBytes, 0, 0)
      this.#dispatch()
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error
    }
    return this.#takeEvents()
  }

  #tooLarge(): EventTooLarge {
    return (this.#failure ??= new EventTooLarge(this.#eventBytesMax))
  }

  #addData(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#hasData) {
      this.#hasData = true
      if (end - start > this.#eventBytesMax) throw this.#tooLarge()
      this.#view = bytes.subarray(start, end)
      return
    }
    this.#keepView()
    if (this.#data.length + 1 + end - start > this.#eventBytesMax) throw this.#tooLarge()
    this.#data.append(lineFeed, 0, 1)
    this.#data.append(bytes, start, end)
  }

  #keepView(): void {
    if (this.#view === undefined) return
    this.#data.append(this.#view, 0, this.#view.length)
    this.#view = undefined
  }

  #dispatch(): void {
    if (this.#hasData) {
      this.#events ??= []
      this.#events.push({ event: this.#event, data: this.#view ?? this.#data.take() })
    }
    this.#hasData = false
    this.#view = undefined
    this.#event = ''
  }

  /** Reads a whole line, without its line break. */
  #readLine(bytes: Uint8Array, from: number, end: number): void {
    let start = from
    if (this.#isFirstLine) {
      this.#isFirstLine = false
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf && end - start >= 3)
        start += 3
    }
    if (start === end) return this.#dispatch()
    if (bytes[from] === COLON) return
    if (end - start > this.#eventBytesMax + lineNameBytes) throw this.#tooLarge()
    if (bytes[start] === COLON) return
    if (isField(bytes, start, end, dataName)) return this.#addData(bytes, valueStart(bytes, start + 4, end), end)
    if (isField(bytes, start, end, eventName)) this.#event = utf8(bytes, valueStart(bytes, start + 5, end), end)
  }

  /** Keeps the first part of a line whose end has not arrived. */
  #keepLine(bytes: Uint8Array, start: number): void {
    if (!this.#isInLine && bytes[start] === COLON) this.#isInComment = true
    this.#isInLine = true
    if (this.#isInComment) return
    if (this.#line.length + bytes.length - start > this.#eventBytesMax + lineNameBytes + byteOrderMarkBytes)
      throw this.#tooLarge()
    this.#line.append(bytes, start, bytes.length)
  }

  #endLine(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#isInLine) return this.#readLine(bytes, start, end)
    this.#isInLine = false
    if (this.#isInComment) {
      this.#isInComment = false
      this.#isFirstLine = false
      return
    }
    if (this.#line.length + end - start > this.#eventBytesMax + lineNameBytes + byteOrderMarkBytes)
      throw this.#tooLarge()
    this.#line.append(bytes, start, end)
    const whole = this.#line.take()
    this.#readLine(whole, 0, whole.length)
  }

  #readLines(bytes: Uint8Array): void {
    let position = 0
    if (this.#isAfterCr && bytes.length > 0) {
      this.#isAfterCr = false
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
        this.#keepLine(bytes, position)
        break
      }
      this.#endLine(bytes, position, end)
      position = end + 1
      if (!isCr) continue
      if (bytes[position] === LF) position++
      else if (position === bytes.length) this.#isAfterCr = true
    }
    this.#keepView()
  }

  /**
   * The usual case, without copies: events of one short line of data, perhaps behind its name.
   *
   * @returns the offset behind the last of them that is whole
   */
  #readWhole(bytes: Uint8Array): number {
    if (this.#isInLine || this.#isAfterCr || this.#hasData || this.#event !== '' || bytes.includes(CR)) return 0
    let position = 0
    while (position < bytes.length) {
      const lead = isAt(bytes, position, prefix) ? unnamed : this.#leadOf(bytes, position)
      if (lead === undefined) break
      const start = position + lead.bytes.length
      const end = bytes.indexOf(LF, start)
      if (end === -1 || bytes[end + 1] !== LF || end - start > this.#eventBytesMax) break
      const framed = end + 2 - position === bytes.length ? bytes : bytes.subarray(position, end + 2)
      this.#events ??= []
      this.#events.push({ event: lead.event, data: bytes.subarray(start, end), framed })
      position = end + 2
    }
    if (position > 0) this.#isFirstLine = false
    return position
  }

  /** The beginning of an event with a name, as the last one or a new one. */
  #leadOf(bytes: Uint8Array, from: number): Lead | undefined {
    if (this.#lead !== undefined && isAt(bytes, from, this.#lead.bytes)) return this.#lead
    if (!isAt(bytes, from, namePrefix)) return undefined
    const start = from + lineNameBytes
    const end = endOfPlainText(bytes, start)
    if (end === start || end > start + nameBytesMax || bytes[end] !== LF) return undefined
    if (bytes[start] === SPACE || !isAt(bytes, end + 1, prefix)) return undefined
    const lead = { event: latin1(bytes, start, end), bytes: bytes.slice(from, end + 1 + prefix.length) }
    return (this.#lead = lead)
  }

  #takeEvents(): readonly ServerSentEvent[] {
    const complete = this.#events ?? noEvents
    this.#events = undefined
    if (this.#failure !== undefined && complete.length === 0) throw this.#failure
    return complete
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
  /** The event as it was received, with this name and its framing: it need not be written anew. */
  readonly framed?: Uint8Array | undefined
}

/** Writes several events as one piece. */
export function formatEvents(events: readonly WrittenEvent[]): Uint8Array {
  const [first] = events
  if (first?.framed !== undefined && events.length === 1) return first.framed
  let length = 0
  for (const { event, data, framed } of events)
    if (framed !== undefined) length += framed.length
    else if (data.length > 0) length += data.length + 8 + (event === undefined ? 0 : Buffer.byteLength(event) + 8)
  const bytes = new Uint8Array(length)
  let position = 0
  for (const { event, data, framed } of events) {
    if (framed !== undefined) {
      bytes.set(framed, position)
      position += framed.length
      continue
    }
    if (data.length === 0) continue
    if (event !== undefined) position = writeName(event, bytes, position)
    bytes.set(prefix, position)
    bytes.set(data, position + 6)
    position += data.length + 8
    bytes[position - 2] = LF
    bytes[position - 1] = LF
  }
  return bytes
}

/** Writes the `event:` field. Names are usually ASCII, whose characters cost less than an encoder. */
function writeName(event: string, bytes: Uint8Array, from: number): number {
  bytes.set(namePrefix, from)
  let position = from + lineNameBytes
  for (let index = 0; index < event.length; index++) {
    const code = event.charCodeAt(index)
    if (code > 0x7f) return from + encoder.encodeInto(`event: ${event}\n`, bytes.subarray(from)).written
    bytes[position++] = code
  }
  bytes[position] = LF
  return position + 1
}

const namePrefix = encode('event: ')
const encoder = new TextEncoder()
const prefix = encode('data: ')
const unnamed: Lead = { event: '', bytes: prefix }
/** Longer names are read line by line. */
const nameBytesMax = 64
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
