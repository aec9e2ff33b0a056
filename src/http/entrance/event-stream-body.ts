import { deliveredParts } from '../../formats/delivered.ts'
import type { WireError } from '../../formats/error.ts'
import type { StreamOutput } from '../../formats/format.ts'
import type { Part } from '../../formats/part.ts'
import { readTo, type Receiver } from '../../formats/receiver.ts'
import type { PartStream } from '../../formats/reply.ts'
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
export function eventStreamBody({
  reply,
  format,
  heartbeatMs = format.keepAlive?.everyMs ?? 0,
  stallMs,
  describe,
  abort,
  onEnd,
}: EventStreamOptions): EventStreamBody {
  let decided = reply instanceof Promise ? undefined : reply
  // A rejection is reported where the reply is awaited, which is never if the client leaves early.
  if (reply instanceof Promise) reply.catch(() => undefined)
  let usage: Usage | undefined
  /** The last resume of the reply when `usage` was read. */
  let resuming: Promise<unknown> | undefined
  const delivered = deliveredParts()
  let textBytes = 0
  let isFinished = false
  let isOver = false
  /** Written bytes are not read yet. */
  let isBlocked = false
  let forced: { readonly reason: unknown } | undefined
  let sink: EventStreamSink | undefined
  /** The last bytes of the stream. */
  let ending: Uint8Array | undefined
  let stall: Watchdog | undefined
  const ended = Promise.withResolvers<void>()

  function finish(outcome: Pick<StreamOutcome, 'error' | 'cause' | 'hasClientLeft'>): void {
    isOver = true
    stall?.stop()
    const isWhole = !outcome.hasClientLeft && outcome.error === undefined
    const isCut = !isWhole && !(isFinished && usage !== undefined)
    onEnd({ ...outcome, usage, isCut, answerBytes: textBytes })
  }

  function leave(): void {
    if (isOver) return
    isOver = true
    // First: the end of the work may book a cost, which belongs into the record.
    abort()
    finish({ hasClientLeft: true })
  }

  /** Ends the stream, with an error event if there was an error. */
  function end(error?: WireError, cause?: unknown): void {
    finish({ hasClientLeft: false, ...(error === undefined ? {} : { error, cause }) })
    ending = error === undefined ? format.end : format.error(error, delivered.soFar())
    if (sink === undefined) return
    close(sink, ending)
    ended.resolve()
  }

  /** Returns the bytes of these parts; empty if all of them are for the record only. */
  function frame(parts: readonly Part[]): Uint8Array {
    // The provider before has counted another answer.
    if (decided?.resuming !== resuming) [resuming, usage] = [decided?.resuming, undefined]
    for (const part of parts) {
      delivered.add(part)
      if (part.usage !== undefined) usage = part.usage
      if (part.finishReason !== undefined) isFinished = true
      textBytes += answerBytes(part)
    }
    return format.frame(parts)
  }

  /** Waits until the client has read. A client that does not read in time has left. */
  async function untilRead(written: Promise<unknown>): Promise<void> {
    stall ??= watchdog(stallMs, leave)
    stall.touch()
    isBlocked = true
    await written
    isBlocked = false
    stall.pause()
  }

  /** Sends keep-alives until there is a reply. The first is sent at once: the headers go with it. */
  async function decide(to: EventStreamSink): Promise<PartStream | undefined> {
    for (let waitMs = 0; !isOver && forced === undefined; waitMs = heartbeatMs) {
      decided = await withinMs(Promise.resolve(reply), waitMs)
      if (decided !== undefined) return decided
      if (isOver || forced !== undefined) break
      const written = format.keepAlive && to.write(format.keepAlive.bytes)
      if (written instanceof Promise) await untilRead(written)
    }
    return undefined
  }

  /** Reads parts while the client takes them, unless the stream is over. */
  function readOn(): void {
    if (isOver) return
    if (forced !== undefined) return end(describe(forced.reason))
    if (decided !== undefined) readTo(decided, parts)
  }

  /** Writes parts. @returns whether the client takes more now */
  function write(received: readonly Part[] | undefined): boolean {
    const bytes = forced === undefined ? received && frame(received) : undefined
    if (isOver) return false
    if (bytes === undefined) {
      if (forced === undefined) end()
      else end(describe(forced.reason))
      return false
    }
    const written = bytes.length === 0 ? undefined : sink?.write(bytes)
    if (!(written instanceof Promise)) return true
    untilRead(written).then(readOn, fail)
    return false
  }

  function fail(error: unknown): void {
    const wasOver = isOver
    isOver = true
    // First, as in `leave`.
    abort()
    if (!wasOver) end(describe(forced === undefined ? error : forced.reason), error)
  }

  const parts: Receiver<readonly Part[]> = {
    receive(received) {
      try {
        return write(received)
      } catch (error) {
        fail(error)
        return false
      }
    },
    fail,
  }

  return {
    leave,
    async send(to) {
      sink = to
      if (ending !== undefined) return close(to, ending)
      if (decided === undefined) await decide(to).catch(fail)
      readOn()
      // The runtime ends the response when this promise resolves, as if it were complete.
      return ended.promise
    },
    fail(reason) {
      if (isOver || forced !== undefined) return
      forced = { reason }
      abort()
      if (sink === undefined || isBlocked) end(describe(reason))
    },
  }
}

function close(sink: EventStreamSink, ending: Uint8Array): void {
  if (ending.length > 0) sink.write(ending)
  sink.end()
}
