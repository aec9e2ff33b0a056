import type { WireError } from '../../formats/error.ts'
import { answerQuarters, estimatedUsage } from '../../formats/estimate-tokens.ts'
import type { StreamFormat } from '../../formats/format.ts'
import type { Part } from '../../formats/part.ts'
import type { StreamReply } from '../../formats/reply.ts'
import type { Usage } from '../../formats/usage.ts'
import { watchdog } from '../../service/watchdog.ts'
import { withinMs } from '../../service/within.ts'

/** How a stream ended. */
export interface StreamOutcome {
  /** The error event that ended it; absent for a complete stream, or if the client left. */
  readonly error?: WireError
  /** The thrown error, for the log; absent for a complete stream, or if the client left. */
  readonly cause?: unknown
  readonly hasClientLeft: boolean
  /** As reported by the provider; an estimate if the answer ended before the report. */
  readonly usage: Usage | undefined
}

/** Options of {@link eventStreamBody}. */
export interface EventStreamOptions {
  /** The reply; a promise if the headers were sent before the reply is known. */
  readonly reply: StreamReply | Promise<StreamReply>
  /** Writes parts, keep-alives and the end. */
  readonly format: StreamFormat
  /** Milliseconds between keep-alive comments while the reply is not known. */
  readonly heartbeatMs: number
  /** Milliseconds a client may take to read available bytes. */
  readonly stallMs: number
  /** Estimated tokens of the request. Absent: an answer that ends early has no estimate. */
  readonly promptTokens?: number
  /** Maps an error to the client's error. */
  readonly describe: (error: unknown) => WireError
  /** Aborts the request, in every phase. */
  readonly abort: () => void
  readonly onEnd: (outcome: StreamOutcome) => void
}

/** A stream that is sent to a client. */
export interface EventStreamBody {
  readonly body: ReadableStream<Uint8Array>
  /**
   * Aborts the request, and ends the stream with an error event for `reason`. The event is written once the pending
   * read has ended, so it includes all attempts.
   */
  fail(reason: unknown): void
  /** Ends the stream because the client does not read. */
  leave(): void
}

/**
 * Sends a reply as server-sent events: parts as they arrive, `data: [DONE]` after a complete stream, an error event
 * without `[DONE]` otherwise (failover.md rule 4). Reads the upstream at the pace of the client.
 */
export function eventStreamBody({
  reply,
  format,
  heartbeatMs,
  stallMs,
  promptTokens,
  describe,
  abort,
  onEnd,
}: EventStreamOptions): EventStreamBody {
  let decided = reply instanceof Promise ? undefined : reply
  // A rejection is handled by the reader; without a reader it is not an uncaught error.
  if (reply instanceof Promise) reply.catch(() => undefined)
  let usage: Usage | undefined
  let quarters = 0
  let isFinished = false
  let hasWaited = false
  let isOver = false
  let isPulling = false
  let forced: { readonly reason: unknown } | undefined
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const stall = watchdog(stallMs, leave)
  stall.pause()

  function finish(outcome: StreamOutcome): void {
    isOver = true
    stall.stop()
    onEnd(outcome)
  }

  /** The client has left, or does not read. */
  function leave(): void {
    if (isOver) return
    finish({ hasClientLeft: true, usage: usageSoFar() })
    abort()
    sink?.error(new Error('the client does not read'))
  }

  /** Waits for the reply; `undefined` when a comment is due. */
  async function decide(): Promise<StreamReply | undefined> {
    // The first comment is sent at once, since it sends the headers.
    decided = await withinMs(Promise.resolve(reply), hasWaited ? heartbeatMs : 0)
    hasWaited = true
    return decided
  }

  /** Counts the parts and returns their bytes; empty if all of them are for the record only. */
  function frame(parts: readonly Part[]): Uint8Array {
    for (const part of parts) {
      if (part.usage !== undefined) usage = part.usage
      if (part.finishReason !== undefined) isFinished = true
      quarters += answerQuarters(part)
    }
    return format.frame(parts)
  }

  /** Usage of an answer that was stopped or cut. */
  function usageSoFar(): Usage | undefined {
    if (decided === undefined || promptTokens === undefined || (isFinished && usage !== undefined)) return usage
    return estimatedUsage(usage, promptTokens, quarters)
  }

  function end(controller: ReadableStreamDefaultController<Uint8Array>, error?: WireError, cause?: unknown): void {
    finish({ hasClientLeft: false, ...(error === undefined ? { usage } : { usage: usageSoFar(), error, cause }) })
    controller.enqueue(error === undefined ? format.end : format.error(error))
    controller.close()
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    stall.pause()
    isPulling = true
    try {
      let bytes: Uint8Array | undefined = format.keepAlive
      const source = decided ?? (await decide())
      if (source !== undefined) {
        do {
          const parts = await source.read()
          bytes = parts === undefined ? undefined : frame(parts)
        } while (bytes?.length === 0)
      }
      if (isOver) return
      if (forced !== undefined) end(controller, describe(forced.reason))
      else if (bytes === undefined) end(controller)
      else {
        controller.enqueue(bytes)
        stall.touch()
      }
    } catch (error) {
      if (!isOver) end(controller, describe(forced === undefined ? error : forced.reason), error)
      abort()
    } finally {
      isPulling = false
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        sink = controller
      },
      pull,
      cancel: leave,
    },
    { highWaterMark: 0 },
  )

  return {
    body,
    leave,
    fail(reason) {
      if (isOver || forced !== undefined) return
      forced = { reason }
      abort()
      if (!isPulling && sink !== undefined) end(sink, describe(reason))
    },
  }
}
