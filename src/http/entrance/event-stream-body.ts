import type { WireError } from '../../formats/error.ts'
import type { StreamOutput } from '../../formats/format.ts'
import type { Part } from '../../formats/part.ts'
import { readTo, type Receiver } from '../../formats/receiver.ts'
import { deliveredParts, type PartStream } from '../../formats/reply.ts'
import { answerBytes } from '../../formats/size.ts'
import type { Usage } from '../../formats/usage.ts'
import { watchdog, type Watchdog } from '../../service/watchdog.ts'
import { withinMs } from '../../service/within.ts'

/** Outcome of a stream to a client. */
export interface StreamOutcome {
  /** The error event that ended it; absent when it was complete or the client left. */
  readonly error?: WireError
  /** The error behind the error event, for the log; absent when the stream was complete or the client left. */
  readonly cause?: unknown
  readonly hasClientLeft: boolean
  /** The last counts of the provider. */
  readonly usage: Usage | undefined
  /** The answer ended before the provider had counted it. */
  readonly isCut: boolean
  /** Of the text that was sent. */
  readonly answerBytes: number
}

export interface EventStreamOptions {
  /** The reply; a promise if the headers were sent before there was one. */
  readonly reply: PartStream | Promise<PartStream>
  /** Writes parts, keep-alives and the end. */
  readonly format: StreamOutput
  /** Milliseconds between keep-alives while there is no reply. Absent: the format's. */
  readonly heartbeatMs?: number | undefined
  /** Milliseconds in which a client must read the written bytes. */
  readonly stallMs: number
  /** Maps an error to the error event of the client. */
  readonly describe: (error: unknown) => WireError
  /** Ends the work for this request, in every phase. */
  readonly abort: () => void
  readonly onEnd: (outcome: StreamOutcome) => void
}

/** The side of a response to which the runtime connects a client's socket: the controller of a `direct` stream. */
export interface EventStreamSink {
  /** Writes bytes. @returns a promise if the client does not read fast enough; it resolves when more can be written */
  write(bytes: Uint8Array): unknown
  /** Ends the response after the bytes that are not read yet. */
  end(): unknown
}

/** A stream to a client. */
export interface EventStreamBody {
  /** Writes the whole stream. Resolves when it has ended, and never if the client has left. Called once at most. */
  send(sink: EventStreamSink): Promise<void>
  /** Ends the stream with the error event for `reason`: its time is up, or the service must stop. */
  fail(reason: unknown): void
  /** Ends the stream because the client no longer reads it. */
  leave(): void
}

/**
 * Writes server-sent events to a client: parts as they arrive, the format's end after a complete stream, and an error
 * event without that end after any other (failover.md rule 4). The reply is read at the client's pace.
 */
export function eventStreamBody(options: EventStreamOptions): EventStreamBody {
  return new StreamBody(options)
}

class StreamBody implements EventStreamBody {
  readonly #onEnd: (outcome: StreamOutcome) => void
  readonly #abort: () => void
  readonly #format: StreamOutput
  readonly #stallMs: number
  readonly #heartbeatMs: number
  readonly #reply: PartStream | Promise<PartStream>
  readonly #describe: (error: unknown) => WireError
  #decided: PartStream | undefined
  #usage: Usage | undefined
  /** The last resume of the reply when `usage` was read. */
  #resuming: Promise<unknown> | undefined
  readonly #delivered = deliveredParts()
  #textBytes = 0
  #isFinished = false
  #isOver = false
  /** Written bytes are not read yet. */
  #isBlocked = false
  #forced: { readonly reason: unknown } | undefined
  #sink: EventStreamSink | undefined
  /** The last bytes of the stream. */
  #ending: Uint8Array | undefined
  #stall: Watchdog | undefined
  /** Sends keep-alives while parts of the reply wait. */
  #heartbeat: Watchdog | undefined
  readonly #ended = Promise.withResolvers<void>()
  readonly #parts: Receiver<readonly Part[]>

  constructor({
    reply,
    format,
    heartbeatMs = format.keepAlive?.everyMs ?? 0,
    stallMs,
    describe,
    abort,
    onEnd,
  }: EventStreamOptions) {
    this.#onEnd = onEnd
    this.#abort = abort
    this.#format = format
    this.#stallMs = stallMs
    this.#heartbeatMs = heartbeatMs
    this.#reply = reply
    this.#describe = describe
    this.#decided = reply instanceof Promise ? undefined : reply
    // A rejection is reported where the reply is awaited, which is never if the client leaves early.
    if (reply instanceof Promise) reply.catch(() => undefined)
    this.#parts = {
      receive: (received) => {
        try {
          return this.#write(received)
        } catch (error) {
          this.#fail(error)
          return false
        }
      },
      fail: (error) => this.#fail(error),
    }
  }

  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    // First: the end of the work may book a cost, which belongs into the record.
    this.#abort()
    this.#finish({ hasClientLeft: true })
  }

  async send(to: EventStreamSink): Promise<void> {
    this.#sink = to
    if (this.#ending !== undefined) return close(to, this.#ending)
    if (this.#decided === undefined) await this.#decide(to).catch((error: unknown) => this.#fail(error))
    this.#keepAlive()
    this.#readOn()
    // The runtime ends the response when this promise resolves, as if it were complete.
    return this.#ended.promise
  }

  fail(reason: unknown): void {
    if (this.#isOver || this.#forced !== undefined) return
    this.#forced = { reason }
    this.#abort()
    if (this.#sink === undefined || this.#isBlocked) this.#end(this.#describe(reason))
  }

  #finish(outcome: Pick<StreamOutcome, 'error' | 'cause' | 'hasClientLeft'>): void {
    this.#isOver = true
    this.#stall?.stop()
    this.#heartbeat?.stop()
    const isWhole = !outcome.hasClientLeft && outcome.error === undefined
    const isCut = !isWhole && !(this.#isFinished && this.#usage !== undefined)
    this.#onEnd({ ...outcome, usage: this.#usage, isCut, answerBytes: this.#textBytes })
  }

  /** Ends the stream, with an error event if there was an error. */
  #end(error?: WireError, cause?: unknown): void {
    this.#finish({ hasClientLeft: false, ...(error === undefined ? {} : { error, cause }) })
    this.#ending = error === undefined ? this.#format.end : this.#format.error(error, this.#delivered.soFar())
    if (this.#sink === undefined) return
    close(this.#sink, this.#ending)
    this.#ended.resolve()
  }

  /** Returns the bytes of these parts; empty if all of them are for the record only. */
  #frame(parts: readonly Part[]): Uint8Array {
    // The provider before has counted another answer.
    if (this.#decided?.resuming !== this.#resuming) [this.#resuming, this.#usage] = [this.#decided?.resuming, undefined]
    for (const part of parts) {
      this.#delivered.add(part)
      if (part.usage !== undefined) this.#usage = part.usage
      if (part.finishReason !== undefined) this.#isFinished = true
      this.#textBytes += answerBytes(part)
    }
    return this.#format.frame(parts)
  }

  /** Waits until the client has read. A client that does not read in time has left. */
  async #untilRead(written: Promise<unknown>): Promise<void> {
    this.#stall ??= watchdog(this.#stallMs, () => this.leave())
    this.#stall.touch()
    this.#isBlocked = true
    await written
    this.#isBlocked = false
    this.#stall.pause()
  }

  /** Sends keep-alives until there is a reply. The first is sent at once: the headers go with it. */
  async #decide(to: EventStreamSink): Promise<PartStream | undefined> {
    for (let waitMs = 0; !this.#isOver && this.#forced === undefined; waitMs = this.#heartbeatMs) {
      this.#decided = await withinMs(Promise.resolve(this.#reply), waitMs)
      if (this.#decided !== undefined) return this.#decided
      if (this.#isOver || this.#forced !== undefined) break
      const written = this.#format.keepAlive && to.write(this.#format.keepAlive.bytes)
      if (written instanceof Promise) await this.#untilRead(written)
    }
    return undefined
  }

  /** Sends a keep-alive after each time in which parts of the reply may wait and none was written. */
  #keepAlive(): void {
    const { keepAlive } = this.#format
    if (keepAlive === undefined || this.#isOver || this.#decided?.mayWait !== true) return
    this.#heartbeat = watchdog(this.#heartbeatMs, () => {
      const written = this.#isBlocked || this.#forced !== undefined ? undefined : this.#sink?.write(keepAlive.bytes)
      if (written instanceof Promise) this.#untilRead(written).catch((error: unknown) => this.#fail(error))
      this.#keepAlive()
    })
  }

  /** Reads parts while the client takes them, unless the stream is over. */
  #readOn(): void {
    if (this.#isOver) return
    if (this.#forced !== undefined) return this.#end(this.#describe(this.#forced.reason))
    if (this.#decided !== undefined) readTo(this.#decided, this.#parts)
  }

  /** Writes parts. @returns whether the client takes more now */
  #write(received: readonly Part[] | undefined): boolean {
    const bytes = this.#forced === undefined ? received && this.#frame(received) : undefined
    if (this.#isOver) return false
    if (bytes === undefined) {
      if (this.#forced === undefined) this.#end()
      else this.#end(this.#describe(this.#forced.reason))
      return false
    }
    const written = bytes.length === 0 ? undefined : this.#sink?.write(bytes)
    this.#heartbeat?.touch()
    if (!(written instanceof Promise)) return true
    this.#untilRead(written).then(
      () => this.#readOn(),
      (error: unknown) => this.#fail(error),
    )
    return false
  }

  #fail(error: unknown): void {
    const wasOver = this.#isOver
    this.#isOver = true
    // First, as in `leave`.
    this.#abort()
    if (!wasOver) this.#end(this.#describe(this.#forced === undefined ? error : this.#forced.reason), error)
  }
}

function close(sink: EventStreamSink, ending: Uint8Array): void {
  if (ending.length > 0) sink.write(ending)
  sink.end()
}
