import { EventTooLarge, type EventStreamReader, type ServerSentEvent } from '../bytes/event-stream.ts'
import { MalformedFrame, type Framing } from '../bytes/framing.ts'
import { utf8 } from '../bytes/text.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { Part } from '../formats/part.ts'
import { readOne, readTo, type Receiver } from '../formats/receiver.ts'
import { Cancelled, type EndListener, streamEnd, type StreamReply } from '../formats/reply.ts'
import type { Usage } from '../formats/usage.ts'
import type { StreamDecoder } from '../protocols/protocol.ts'
import { unlimitedAnswerBudget, type AnswerBudget, type AnswerReservation } from '../service/answer-budget.ts'
import { outOfResources, UpstreamFailure } from '../service/failure.ts'
import { watchdog, type Watchdog } from '../service/watchdog.ts'
import { readBytesMax } from '../transport/read-scheduler.ts'
import { TransportError, type UpstreamBody } from '../transport/transport.ts'
import { bodyFailure } from './transport-failure.ts'

const eventBytesDefault = 1024 * 1024
/** Time limit for the end of the body after `[DONE]`; only a connection whose body has ended can be reused. */
const afterDoneMs = 250
const barrenMs = 300_000
const noParts: readonly Part[] = []
/** Time limit for what follows the finish of the only choice: usage, and the end of the stream. */
const afterFinishMs = 5_000

/** A body that is read as a stream. */
export type StreamBody = Pick<UpstreamBody, 'read' | 'readTo' | 'cancel' | 'hasPendingBytes'>

export interface StreamReplyOptions {
  /** How the body is divided into events. */
  readonly framing: Framing
  /** Milliseconds of silence that end a stream. */
  readonly idleMs: number
  /** The beginning of the body, if it was read already. */
  readonly first?: Uint8Array
  /** Memory budget of answers, for events that may be larger than 1 MiB. Default: no limit. */
  readonly answerBudget?: AnswerBudget
  /** Redacts a failure. */
  readonly hidden: (error: unknown) => unknown
}

/**
 * Reads a stream: bytes → events → parts, with the rules of failover.md rows 29 and 32 to 38. After its first
 * meaningful part, silence of `idleMs`, or 300 s without a meaningful part, is a cut. After the finish of its only
 * choice the stream ends within 5 s, also if the upstream goes on with comments or pings. Some servers put a finish on
 * every event: after content behind a finish, finishes count only with an end marker or the end of the body. Time
 * without a reader does not count.
 */
export function streamReply(body: StreamBody, decoder: StreamDecoder, options: StreamReplyOptions): StreamReply {
  return new PartsOfBody(body, decoder, options)
}

/** Receives a body. A class, since every stream has one: closures would take more memory. */
class PartsOfBody implements StreamReply, Receiver<Uint8Array> {
  readonly kind = 'stream'
  readonly isEmpty = false
  readonly #body: StreamBody
  readonly #decoder: StreamDecoder
  readonly #idleMs: number
  readonly #hidden: StreamReplyOptions['hidden']
  readonly #events: EventStreamReader
  /** The bytes of an event, until it was taken. Its first MiB does not count, so small events need none. */
  readonly #reservation: AnswerReservation | undefined
  readonly #streamEnded = streamEnd()
  #pending: Uint8Array | undefined
  #isOver = false
  #isCancelled = false
  #hasBegun = false
  #hasFinished = false
  #hasOpenChoice = false
  /** Content came behind a finish, so that a finish says nothing: only an end marker or the end of the body does. */
  #finishesEarly = false
  /** The whole body was read. */
  #hasEnded = false
  /** The decoder was asked for its last parts. */
  #hasAskedForEnd = false
  #reader: Receiver<readonly Part[]> | undefined
  /** The failure that ended the stream; every later read throws it too. */
  #failure: { readonly error: unknown } | undefined
  #usage: Usage | undefined
  #idle: Watchdog | undefined
  #barren: Watchdog | undefined
  /** Milliseconds of waiting for bytes after the finish. */
  #waitedMs = 0
  /** Time limit of a read after the finish. */
  #rest: { readonly startedMs: number; readonly limit: Watchdog } | undefined

  constructor(
    body: StreamBody,
    decoder: StreamDecoder,
    { framing, idleMs, first, answerBudget = unlimitedAnswerBudget, hidden }: StreamReplyOptions,
  ) {
    this.#body = body
    this.#decoder = decoder
    this.#idleMs = idleMs
    this.#hidden = hidden
    this.#events = framing.reader({ eventBytesMax: decoder.eventBytesMax ?? eventBytesDefault })
    this.#reservation = decoder.eventBytesMax === undefined ? undefined : answerBudget.reservation()
    this.#pending = first
  }

  get model(): string | undefined {
    return this.#decoder.model
  }

  onEnd(listener: EndListener): void {
    this.#streamEnded.onEnd(listener)
  }

  read(): Promise<readonly Part[] | undefined> {
    return readOne<readonly Part[]>((receiver) => this.readTo(receiver))
  }

  readTo(receiver: Receiver<readonly Part[]>): void {
    this.#reader = receiver
    this.#reservation?.release()
    if (this.#isOver) queueMicrotask(() => this.#giveOutcome())
    else if (this.#pending !== undefined) queueMicrotask(() => this.#readOn())
    else this.#readOn()
  }

  cancel(): void {
    this.#isCancelled = true
    if (!this.#isOver) {
      this.#end()
      this.#body.cancel()
    }
    this.#streamEnded.settle(new Cancelled(), this.#usage)
  }

  receive(bytes: Uint8Array | undefined): boolean {
    this.#stopWaiting()
    if (!this.#process(bytes)) return false
    this.#startWaiting()
    return true
  }

  fail(error: unknown): void {
    this.#stopWaiting()
    this.#failWith(error)
    this.#giveOutcome()
  }

  #end(): void {
    this.#isOver = true
    this.#reservation?.release()
    this.#idle?.stop()
    this.#barren?.stop()
  }

  /** Ends a stream that sends nothing: well if only the end of the body is missing, else as a cut. */
  #giveUp(reason: string): void {
    if (!this.#decoder.hasOneChoice || !this.#isAtRest())
      this.#failure = { error: new UpstreamFailure('cut', reason, { status: 200, timedOut: true }) }
    this.#end()
    this.#body.cancel()
  }

  #failWith(error: unknown): void {
    this.#end()
    this.#body.cancel()
    if (this.#failure !== undefined || (this.#isAtRest() && error instanceof TransportError)) return
    this.#failure = { error: this.#hidden(streamFailure(error, this.#hasBegun)) }
  }

  /** Every choice that has started has its finish_reason. */
  #isComplete(): boolean {
    return this.#decoder.holdsEnd?.() ?? (this.#hasFinished && !this.#hasOpenChoice)
  }

  /** Nothing is expected but usage and the end, so that the answer is whole without them. */
  #isAtRest(): boolean {
    return this.#isComplete() && !this.#finishesEarly
  }

  /** Limits a read of more of a complete answer: usage, the end marker. */
  #limitRest(): void {
    const limit = watchdog(
      Math.max(0, afterFinishMs - this.#waitedMs),
      () => this.#giveUp('no end'),
      () => this.#body.hasPendingBytes(),
    )
    this.#rest = { startedMs: performance.now(), limit }
  }

  /** Stops the timers of a read. */
  #stopWaiting(): void {
    this.#idle?.pause()
    if (this.#rest === undefined) return
    this.#rest.limit.stop()
    this.#waitedMs += performance.now() - this.#rest.startedMs
    this.#rest = undefined
  }

  #markMeaningful(): void {
    if (this.#hasBegun) {
      this.#barren?.touch()
      return
    }
    this.#hasBegun = true
    this.#idle = watchdog(
      this.#idleMs,
      () => this.#giveUp(`silent for ${this.#idleMs / 1000} s`),
      () => this.#body.hasPendingBytes(),
    )
    this.#idle.pause()
    this.#barren = watchdog(barrenMs, () => this.#giveUp(`no content for ${barrenMs / 1000} s`))
  }

  /** Decodes events, up to the one that ends the stream. */
  #decode(received: readonly ServerSentEvent[]): readonly Part[] {
    const [first] = received
    // The usual case: one event at a time.
    if (first !== undefined && received.length === 1) return this.#decodeNext(first)
    const parts: Part[] = []
    for (const event of received) {
      parts.push(...this.#decodeNext(event))
      if (this.#isOver) break
    }
    return parts
  }

  /** Decodes one event. */
  #decodeNext(event: ServerSentEvent): readonly Part[] {
    if (event.event !== 'error' && (isBlank(event.data) || isKeepAlive(event))) return []
    try {
      const isBehind = this.#isComplete()
      const decoded = this.#decoder.decode(event)
      return decoded === 'done' ? this.#finish() : this.#noted(decoded, isBehind)
    } catch (error) {
      // The answer is complete; the event that was cut off is an end marker or the usage.
      if (this.#hasEnded && this.#isAtRest() && error instanceof MalformedAnswer) return []
      // Parts before the error still go to the client.
      this.#failWith(error instanceof MalformedAnswer ? malformedEvent(error) : error)
      return []
    }
  }

  /** @param isBehind the parts came after the finish */
  #noted(parts: readonly Part[], isBehind: boolean): readonly Part[] {
    for (const part of parts) {
      if (isBehind && (part.text !== '' || part.isBeyondText)) this.#finishesEarly = true
      if (part.finishReason !== undefined) this.#hasFinished = true
      this.#hasOpenChoice = part.hasOpenChoice
      this.#usage = part.usage ?? this.#usage
      if (part.isMeaningful) this.#markMeaningful()
    }
    return parts
  }

  /** Ends the stream after the upstream's end marker. */
  #finish(): readonly Part[] {
    if (!this.#hasBegun && !this.#isComplete()) throw emptyStream()
    const parts = this.#isComplete() ? [] : this.#noted(this.#decoder.finish(), false)
    this.#end()
    drain(this.#body)
    return parts
  }

  /** The last parts of a complete stream, once. */
  #lastParts(): readonly Part[] | undefined {
    if (this.#hasAskedForEnd || this.#decoder.end === undefined) return undefined
    this.#hasAskedForEnd = true
    const parts = this.#decoder.end()
    for (const part of parts) this.#usage = part.usage ?? this.#usage
    return parts.length === 0 ? undefined : parts
  }

  /** The events that these bytes complete; undefined: the body has ended. Counts the bytes of an event that goes on. */
  #eventsWith(bytes: Uint8Array | undefined): readonly ServerSentEvent[] {
    if (bytes === undefined) return this.#events.end()
    const complete = this.#events.push(bytes)
    if (complete.length === 0 && this.#reservation?.reserve(bytes.length) === false) throw outOfResources()
    return complete
  }

  /** Processes what is left of the last read, or reads more. */
  #readOn(): void {
    const bytes = this.#pending
    this.#pending = undefined
    if (bytes !== undefined && !this.#process(bytes)) return
    this.#startWaiting()
    readTo(this.#body, this)
  }

  #startWaiting(): void {
    this.#idle?.touch()
    if (this.#decoder.hasOneChoice && this.#isAtRest()) this.#limitRest()
  }

  /** Processes bytes; `undefined` at the end of the body. @returns whether more are needed now */
  #process(bytes: Uint8Array | undefined): boolean {
    if (bytes === undefined || bytes.length <= readBytesMax) return this.#processBytes(bytes)
    // Large reads are processed in slices, so that other requests are not delayed.
    this.#pending = bytes.subarray(readBytesMax)
    setImmediate(() => {
      if (this.#processBytes(bytes.subarray(0, readBytesMax))) this.#readOn()
    })
    return false
  }

  #processBytes(bytes: Uint8Array | undefined): boolean {
    const parts = this.#isOver ? noParts : this.#partsWith(bytes)
    if (parts.length > 0 && !this.#give(parts)) return false
    if (!this.#isOver) return true
    this.#giveOutcome()
    return false
  }

  #partsWith(bytes: Uint8Array | undefined): readonly Part[] {
    try {
      this.#hasEnded = bytes === undefined
      const parts = this.#decode(this.#eventsWith(bytes))
      if (this.#hasEnded && !this.#isOver) this.#atEndOfBody()
      return parts
    } catch (error) {
      this.#failWith(error)
      return noParts
    }
  }

  /** Gives parts, or the end, to the reader. @returns whether it takes more */
  #give(parts: readonly Part[] | undefined): boolean {
    const receiver = this.#reader
    this.#reader = undefined
    if (receiver?.receive(parts) !== true) return false
    this.#reservation?.release()
    this.#reader = receiver
    return true
  }

  /** Gives the reader the outcome of a stream that is over. */
  #giveOutcome(): void {
    let parts: readonly Part[] | undefined
    try {
      parts = this.#outcome()
    } catch (error) {
      return this.#reader?.fail(error)
    }
    if (this.#give(parts)) this.#giveOutcome()
  }

  /** The last parts of a stream that is over, or its failure. */
  #outcome(): readonly Part[] | undefined {
    if (this.#isCancelled) return undefined
    if (this.#failure !== undefined) {
      this.#streamEnded.settle(this.#failure.error, this.#usage)
      throw this.#failure.error
    }
    try {
      const parts = this.#lastParts()
      if (parts === undefined) this.#streamEnded.settle(undefined, this.#usage)
      return parts
    } catch (error) {
      // Only the end shows that the answer failed, by a finish that is an error.
      this.#failWith(error instanceof MalformedAnswer ? malformedEvent(error) : error)
      return this.#outcome()
    }
  }

  /** Ends the stream at the end of its body: well if complete, else as a cut. */
  #atEndOfBody(): void {
    if (this.#isComplete()) this.#end()
    else
      this.#failWith(
        this.#hasBegun ? new UpstreamFailure('cut', 'the stream ended early', { status: 200 }) : emptyStream(),
      )
  }
}

/** Whether data has only white space. Some upstreams keep the connection open with such events. */
function isBlank(data: Uint8Array): boolean {
  return (data[0] ?? 0) <= 0x20 && data.every((byte) => byte <= 0x20)
}

const keepAlive = /^(?::|["']?(?:keep[-_ ]?alive|ping|pong|heart[-_ ]?beat)\b)/i
const keepAliveBytesMax = 64

/** Whether an event other than JSON only keeps the connection open: by its name, or by data such as `: keepalive`. */
function isKeepAlive({ event, data }: ServerSentEvent): boolean {
  if (data[0] === 0x7b || data[0] === 0x5b || data.length > keepAliveBytesMax) return false
  return keepAlive.test(event) || keepAlive.test(utf8(data))
}

function malformedEvent(cause: MalformedAnswer | MalformedFrame): UpstreamFailure {
  return new UpstreamFailure('malformed', 'an event is malformed', { status: 200, cause })
}

function emptyStream(): UpstreamFailure {
  return new UpstreamFailure('empty', 'the stream has no content', { status: 200 })
}

function streamFailure(error: unknown, hasBegun: boolean): unknown {
  if (error instanceof EventTooLarge)
    return new UpstreamFailure('too_large', 'an event is too large', { status: 200, cause: error })
  if (error instanceof MalformedFrame) return malformedEvent(error)
  if (hasBegun && error instanceof TransportError)
    return new UpstreamFailure('cut', 'the connection was lost during the stream', { status: 200, cause: error })
  return bodyFailure(error)
}

/** Waits briefly for the end of a body after the end marker. Cancels a body that continues (failover.md row 37). */
function drain(body: Pick<UpstreamBody, 'read' | 'cancel'>): void {
  const timer = setTimeout(() => body.cancel(), afterDoneMs)
  body
    .read()
    .then(
      (bytes) => {
        if (bytes !== undefined) body.cancel()
      },
      () => undefined,
    )
    .finally(() => clearTimeout(timer))
}
