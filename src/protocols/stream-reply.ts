import { UpstreamFailure } from '../service/failure.ts'
import { watchdog, type Watchdog } from '../service/watchdog.ts'
import { TransportError, type UpstreamBody } from '../transport/transport.ts'
import { sliceBytes } from '../transport/turns.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import { EventTooLarge, eventStreamReader, type ServerSentEvent } from '../wire/event-stream.ts'
import { MalformedAnswer } from '../wire/malformed-answer.ts'
import type { StreamDecoder, StreamReply } from './protocol.ts'
import { bodyFailure } from './transport-failure.ts'

const eventBytesMax = 1024 * 1024
/** After `[DONE]`, the end of the body is waited for this long, so that the connection can be used again. */
const afterDoneMs = 250
const barrenMs = 300_000
const malformedEventsMost = 3

/** What is read as a stream. */
export type StreamBody = Pick<UpstreamBody, 'read' | 'cancel' | 'hasArrived'>

/** What {@link streamReply} needs beside a body and its decoder. */
export interface StreamReplyOptions {
  /** Milliseconds of silence. */
  readonly idleMs: number
  /** What was already read of the body. */
  readonly first?: Uint8Array
  /** No other choice can follow one that has its finish_reason. */
  readonly hasOneChoice: boolean
  /** A failure as it may be told. */
  readonly hidden: (error: unknown) => unknown
}

/**
 * Reads a stream: bytes → events → chunks, with the rules of failover.md rows 29 and 32 to 38. Once it has begun,
 * silence of `idleMs`, or 300 s without anything meaningful, is a cut; time in which nobody reads does not count.
 */
export function streamReply(
  body: StreamBody,
  decoder: StreamDecoder,
  { idleMs, first, hasOneChoice, hidden }: StreamReplyOptions,
): StreamReply {
  const events = eventStreamReader({ eventBytesMax })
  let pending = first
  let isOver = false
  let isCancelled = false
  let hasBegun = false
  let hasFinished = false
  let hasOpenChoice = false
  let malformed = 0
  /** Why the stream ended, where it did not end well; told to every later read as well. */
  let failure: { readonly error: unknown } | undefined
  let idle: Watchdog | undefined
  let barren: Watchdog | undefined

  function end(): void {
    isOver = true
    idle?.stop()
    barren?.stop()
  }

  /** It is silent, or says nothing: in the middle, or where only the end of the body is missing. */
  function giveUp(reason: string): void {
    if (!hasOneChoice || !isComplete())
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

  /** Every choice that has begun has its finish_reason. */
  function isComplete(): boolean {
    return hasFinished && !hasOpenChoice
  }

  function markMeaningful(): void {
    if (hasBegun) {
      barren?.touch()
      return
    }
    hasBegun = true
    idle = watchdog(idleMs, () => giveUp(`silent for ${idleMs / 1000} s`), body.hasArrived)
    idle.pause()
    barren = watchdog(barrenMs, () => giveUp(`no content for ${barrenMs / 1000} s`))
  }

  function decodeOne(event: ServerSentEvent): readonly ChatChunk[] | 'done' {
    try {
      return decoder.decode(event)
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error
      malformed += 1
      if (hasBegun && malformed <= malformedEventsMost) return []
      throw new UpstreamFailure('malformed', 'an event that is not a chunk', { status: 200, cause: error })
    }
  }

  /** The chunks of these events, up to the first that ends the stream. */
  function decode(received: readonly ServerSentEvent[]): readonly ChatChunk[] {
    const [first] = received
    // Mostly one event comes at a time.
    if (first !== undefined && received.length === 1) return decodeNext(first) ?? []
    const chunks: ChatChunk[] = []
    for (const event of received) {
      const decoded = decodeNext(event)
      if (decoded === undefined) break
      chunks.push(...decoded)
    }
    return chunks
  }

  /** The chunks of one event; `undefined`: the stream is over. */
  function decodeNext(event: ServerSentEvent): readonly ChatChunk[] | undefined {
    let decoded: readonly ChatChunk[] | 'done'
    try {
      decoded = decodeOne(event)
    } catch (error) {
      // What came before the error is the client's all the same.
      fail(error)
      return undefined
    }
    if (decoded === 'done') {
      finish()
      return undefined
    }
    for (const chunk of decoded) {
      if (chunk.finishReason !== undefined) hasFinished = true
      hasOpenChoice = chunk.hasOpenChoice
      if (chunk.isMeaningful) markMeaningful()
    }
    return decoded
  }

  /** The upstream says that it is done. */
  function finish(): void {
    if (!hasBegun) return fail(emptyStream())
    end()
    drain(body)
  }

  async function read(): Promise<readonly ChatChunk[] | undefined> {
    while (!isOver) {
      try {
        let bytes = pending
        pending = undefined
        if (bytes === undefined) {
          idle?.touch()
          bytes = await body.read()
          idle?.pause()
        }
        if (bytes !== undefined && bytes.length > sliceBytes) {
          // Decompressed, or read before it was known for events: others have their turn between its slices.
          pending = bytes.subarray(sliceBytes)
          bytes = bytes.subarray(0, sliceBytes)
          await new Promise((resolve) => setImmediate(resolve))
          if (isOver) break
        }
        const chunks = decode(bytes === undefined ? events.end() : events.push(bytes))
        if (bytes === undefined && !isOver) atEndOfBody()
        if (chunks.length > 0) return chunks
      } catch (error) {
        fail(error)
      }
    }
    if (failure !== undefined && !isCancelled) throw failure.error
    return undefined
  }

  /** As it should be, or in the middle. */
  function atEndOfBody(): void {
    if (isComplete()) end()
    else fail(hasBegun ? new UpstreamFailure('cut', 'the stream ended in the middle', { status: 200 }) : emptyStream())
  }

  return {
    kind: 'stream',
    isEmpty: false,
    read,
    cancel() {
      isCancelled = true
      if (isOver) return
      end()
      body.cancel()
    },
  }
}

function emptyStream(): UpstreamFailure {
  return new UpstreamFailure('empty', 'a stream without content', { status: 200 })
}

function streamFailure(error: unknown, hasBegun: boolean): unknown {
  if (error instanceof EventTooLarge)
    return new UpstreamFailure('too_large', 'an event that is too large', { status: 200, cause: error })
  if (hasBegun && error instanceof TransportError)
    return new UpstreamFailure('cut', 'the stream broke off', { status: 200, cause: error })
  return bodyFailure(error)
}

/** Waits a moment for the end of a body that has nothing more to say; ends it where it goes on (failover.md row 37). */
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
