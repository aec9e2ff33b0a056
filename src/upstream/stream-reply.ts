import { EventTooLarge, type ServerSentEvent } from '../bytes/event-stream.ts'
import { MalformedFrame, type Framing } from '../bytes/framing.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { Part } from '../formats/part.ts'
import { promised, readTo, type Receiver } from '../formats/receiver.ts'
import type { StreamReply } from '../formats/reply.ts'
import { Cancelled, streamEnd } from '../formats/stream-end.ts'
import type { Usage } from '../formats/usage.ts'
import type { StreamDecoder } from '../protocols/protocol.ts'
import { unlimitedAnswerBudget, type AnswerBudget } from '../service/answer-budget.ts'
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

/** Options of {@link streamReply}. */
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
 * choice the stream ends within 5 s, also if the upstream goes on with comments or pings. Time without a reader does
 * not count.
 */
export function streamReply(
  body: StreamBody,
  decoder: StreamDecoder,
  { framing, idleMs, first, answerBudget = unlimitedAnswerBudget, hidden }: StreamReplyOptions,
): StreamReply {
  const events = framing.reader({ eventBytesMax: decoder.eventBytesMax ?? eventBytesDefault })
  /** The bytes of an event, until it was taken. Its first MiB does not count, so small events need none. */
  const reservation = decoder.eventBytesMax === undefined ? undefined : answerBudget.reservation()
  let pending = first
  let isOver = false
  let isCancelled = false
  let hasBegun = false
  let hasFinished = false
  let hasOpenChoice = false
  /** The whole body was read. */
  let hasEnded = false
  /** The decoder was asked for its last parts. */
  let hasAskedForEnd = false
  let reader: Receiver<readonly Part[]> | undefined
  /** The failure that ended the stream; every later read throws it too. */
  let failure: { readonly error: unknown } | undefined
  const streamEnded = streamEnd()
  let usage: Usage | undefined
  let idle: Watchdog | undefined
  let barren: Watchdog | undefined
  /** Milliseconds of waiting for bytes after the finish. */
  let waitedMs = 0
  /** Time limit of a read after the finish. */
  let rest: { readonly startedMs: number; readonly limit: Watchdog } | undefined

  function isBehind(): boolean {
    return body.hasPendingBytes()
  }

  function end(): void {
    isOver = true
    reservation?.release()
    idle?.stop()
    barren?.stop()
  }

  /** Ends a stream that sends nothing: well if only the end of the body is missing, else as a cut. */
  function giveUp(reason: string): void {
    if (!decoder.hasOneChoice || !isComplete())
      failure = { error: new UpstreamFailure('cut', reason, { status: 200, timedOut: true }) }
    end()
    body.cancel()
  }

  function fail(error: unknown): void {
    end()
    body.cancel()
    if (failure !== undefined || (isComplete() && error instanceof TransportError)) return
    failure = { error: hidden(streamFailure(error, hasBegun)) }
  }

  /** Every choice that has started has its finish_reason. */
  function isComplete(): boolean {
    return hasFinished && !hasOpenChoice
  }

  /** Limits a read of more of a complete answer: usage, the end marker. */
  function limitRest(): void {
    const limit = watchdog(Math.max(0, afterFinishMs - waitedMs), () => giveUp('no end'), isBehind)
    rest = { startedMs: performance.now(), limit }
  }

  /** Stops the timers of a read. */
  function stopWaiting(): void {
    idle?.pause()
    if (rest === undefined) return
    rest.limit.stop()
    waitedMs += performance.now() - rest.startedMs
    rest = undefined
  }

  function markMeaningful(): void {
    if (hasBegun) {
      barren?.touch()
      return
    }
    hasBegun = true
    idle = watchdog(idleMs, () => giveUp(`silent for ${idleMs / 1000} s`), isBehind)
    idle.pause()
    barren = watchdog(barrenMs, () => giveUp(`no content for ${barrenMs / 1000} s`))
  }

  /** Decodes events, up to the one that ends the stream. */
  function decode(received: readonly ServerSentEvent[]): readonly Part[] {
    const [first] = received
    // The usual case: one event at a time.
    if (first !== undefined && received.length === 1) return decodeNext(first)
    const parts: Part[] = []
    for (const event of received) {
      parts.push(...decodeNext(event))
      if (isOver) break
    }
    return parts
  }

  /** Decodes one event. */
  function decodeNext(event: ServerSentEvent): readonly Part[] {
    if (event.event !== 'error' && isBlank(event.data)) return []
    try {
      const decoded = decoder.decode(event)
      return decoded === 'done' ? finish() : noted(decoded)
    } catch (error) {
      // The answer is complete; the event that was cut off is an end marker or the usage.
      if (hasEnded && isComplete() && error instanceof MalformedAnswer) return []
      // Parts before the error still go to the client.
      fail(error instanceof MalformedAnswer ? malformedEvent(error) : error)
      return []
    }
  }

  function noted(parts: readonly Part[]): readonly Part[] {
    for (const part of parts) {
      if (part.finishReason !== undefined) hasFinished = true
      hasOpenChoice = part.hasOpenChoice
      usage = part.usage ?? usage
      if (part.isMeaningful) markMeaningful()
    }
    return parts
  }

  /** Ends the stream after the upstream's end marker. */
  function finish(): readonly Part[] {
    if (!hasBegun) throw emptyStream()
    const parts = isComplete() ? [] : noted(decoder.finish())
    end()
    drain(body)
    return parts
  }

  /** The last parts of a complete stream, once. */
  function lastParts(): readonly Part[] | undefined {
    if (hasAskedForEnd || decoder.end === undefined) return undefined
    hasAskedForEnd = true
    const parts = decoder.end()
    for (const part of parts) usage = part.usage ?? usage
    return parts.length === 0 ? undefined : parts
  }

  /** The events that these bytes complete; undefined: the body has ended. Counts the bytes of an event that goes on. */
  function eventsWith(bytes: Uint8Array | undefined): readonly ServerSentEvent[] {
    if (bytes === undefined) return events.end()
    const complete = events.push(bytes)
    if (complete.length === 0 && reservation?.reserve(bytes.length) === false) throw outOfResources()
    return complete
  }

  function readParts(receiver: Receiver<readonly Part[]>): void {
    reader = receiver
    reservation?.release()
    if (isOver) queueMicrotask(giveOutcome)
    else if (pending !== undefined) queueMicrotask(readOn)
    else readOn()
  }

  /** Processes what is left of the last read, or reads more. */
  function readOn(): void {
    const bytes = pending
    pending = undefined
    if (bytes !== undefined && !receive(bytes)) return
    startWaiting()
    readTo(body, bodyReceiver)
  }

  function startWaiting(): void {
    idle?.touch()
    if (decoder.hasOneChoice && isComplete()) limitRest()
  }

  const bodyReceiver: Receiver<Uint8Array> = {
    receive(bytes) {
      stopWaiting()
      if (!receive(bytes)) return false
      startWaiting()
      return true
    },
    fail(error) {
      stopWaiting()
      fail(error)
      giveOutcome()
    },
  }

  /** Processes bytes; `undefined` at the end of the body. @returns whether more are needed now */
  function receive(bytes: Uint8Array | undefined): boolean {
    if (bytes === undefined || bytes.length <= readBytesMax) return processBytes(bytes)
    // Large reads are processed in slices, so that other requests are not delayed.
    pending = bytes.subarray(readBytesMax)
    setImmediate(() => {
      if (processBytes(bytes.subarray(0, readBytesMax))) readOn()
    })
    return false
  }

  function processBytes(bytes: Uint8Array | undefined): boolean {
    const parts = isOver ? noParts : partsWith(bytes)
    if (parts.length > 0 && !give(parts)) return false
    if (!isOver) return true
    giveOutcome()
    return false
  }

  function partsWith(bytes: Uint8Array | undefined): readonly Part[] {
    try {
      hasEnded = bytes === undefined
      const parts = decode(eventsWith(bytes))
      if (hasEnded && !isOver) atEndOfBody()
      return parts
    } catch (error) {
      fail(error)
      return noParts
    }
  }

  /** Gives parts, or the end, to the reader. @returns whether it takes more */
  function give(parts: readonly Part[] | undefined): boolean {
    const receiver = reader
    reader = undefined
    if (receiver?.receive(parts) !== true) return false
    reservation?.release()
    reader = receiver
    return true
  }

  /** Gives the reader the outcome of a stream that is over. */
  function giveOutcome(): void {
    let parts: readonly Part[] | undefined
    try {
      parts = outcome()
    } catch (error) {
      return reader?.fail(error)
    }
    if (give(parts)) giveOutcome()
  }

  /** The last parts of a stream that is over, or its failure. */
  function outcome(): readonly Part[] | undefined {
    if (isCancelled) return undefined
    if (failure !== undefined) {
      streamEnded.settle(failure.error, usage)
      throw failure.error
    }
    const parts = lastParts()
    if (parts === undefined) streamEnded.settle(undefined, usage)
    return parts
  }

  /** Ends the stream at the end of its body: well if complete, else as a cut. */
  function atEndOfBody(): void {
    if (isComplete()) end()
    else fail(hasBegun ? new UpstreamFailure('cut', 'the stream ended early', { status: 200 }) : emptyStream())
  }

  return {
    kind: 'stream',
    isEmpty: false,
    onEnd: streamEnded.onEnd,
    read: promised(readParts),
    readTo: readParts,
    cancel() {
      isCancelled = true
      if (!isOver) {
        end()
        body.cancel()
      }
      streamEnded.settle(new Cancelled(), usage)
    },
  }
}

/** Whether data has only white space. Some upstreams keep the connection open with such events. */
function isBlank(data: Uint8Array): boolean {
  return (data[0] ?? 0) <= 0x20 && data.every((byte) => byte <= 0x20)
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
