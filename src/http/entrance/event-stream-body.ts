import type { WireError } from '../../formats/error.ts'
import { answerQuarters, estimatedUsage } from '../../formats/estimate-tokens.ts'
import type { StreamFormat } from '../../formats/format.ts'
import type { Part } from '../../formats/part.ts'
import type { StreamReply } from '../../formats/reply.ts'
import type { Usage } from '../../formats/usage.ts'
import { watchdog } from '../../service/watchdog.ts'
import { withinMs } from '../../service/within.ts'

/** What came of a stream. */
export interface StreamOutcome {
  /** The error event that ended it; absent when it ended well or the client left. */
  readonly error?: WireError
  /** What was thrown, for the log; absent when it ended well or the client left. */
  readonly cause?: unknown
  readonly hasClientLeft: boolean
  /** As the provider counts; an estimate where the answer had begun and ended before the provider counted it. */
  readonly usage: Usage | undefined
}

/** What {@link eventStreamBody} needs. */
export interface EventStreamOptions {
  /** The reply; a promise where the headers had to go before it was decided. */
  readonly reply: StreamReply | Promise<StreamReply>
  /** How parts, keep-alives and the end are written. */
  readonly format: StreamFormat
  /** Milliseconds between keep-alive comments while the reply is undecided. */
  readonly heartbeatMs: number
  /** Milliseconds a client may take to read what is there. */
  readonly stallMs: number
  /** Of the request, estimated. Absent: an answer that ends early is not estimated. */
  readonly promptTokens?: number
  /** What the client is told of an error. */
  readonly describe: (error: unknown) => WireError
  /** Ends the work for this request, in every phase. */
  readonly abort: () => void
  readonly onEnd: (outcome: StreamOutcome) => void
}

/** A stream to a client. */
export interface EventStreamBody {
  readonly body: ReadableStream<Uint8Array>
  /**
   * Ends it with an error event: time is up, or the service must stop. What is told of the reason is asked when the
   * work has ended, and what came of it is known.
   */
  fail(reason: unknown): void
  /** Ends it because nobody reads it any more. */
  leave(): void
}

/**
 * Server-sent events for a client: chunks as they come, `data: [DONE]` after a proper end, an error event and no
 * `[DONE]` after any other (failover.md rule 4). The client's reading pace is the upstream's.
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
  // Whoever reads hears of it; that may be nobody.
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

  /** The client has left, or does not read any more. */
  function leave(): void {
    if (isOver) return
    finish({ hasClientLeft: true, usage: usageSoFar() })
    abort()
    sink?.error(new Error('the client does not read'))
  }

  /** The reply, or `undefined` when it is time for a comment. */
  async function decide(): Promise<StreamReply | undefined> {
    // The first comment goes at once: it takes the headers with it.
    decided = await withinMs(Promise.resolve(reply), hasWaited ? heartbeatMs : 0)
    hasWaited = true
    return decided
  }

  /** The bytes of these chunks; none where all of them are for the record only. */
  function frame(chunks: readonly Part[]): Uint8Array {
    for (const chunk of chunks) {
      if (chunk.usage !== undefined) usage = chunk.usage
      if (chunk.finishReason !== undefined) isFinished = true
      quarters += answerQuarters(chunk)
    }
    return format.frame(chunks)
  }

  /** The usage of an answer that was stopped or cut. */
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
          const chunks = await source.read()
          bytes = chunks === undefined ? undefined : frame(chunks)
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
