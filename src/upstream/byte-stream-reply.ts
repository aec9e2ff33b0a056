import type { Part } from '../formats/part.ts'
import { Cancelled, streamEnd, type StreamReply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { watchdog, type Watchdog } from '../service/watchdog.ts'
import { TransportError, type UpstreamBody } from '../transport/transport.ts'
import { bodyFailure } from './transport-failure.ts'

export interface ByteStreamOptions {
  readonly contentType: string
  /** Limit of all bytes. */
  readonly bytesMax: number
  /** Milliseconds of silence that end a stream. Time without a reader does not count. */
  readonly idleMs: number
  /** Redacts a failure. */
  readonly hidden: (error: unknown) => unknown
}

/** Passes a body on as it arrives, such as audio. It is meaningful from its first byte on. */
export function byteStreamReply(
  body: Pick<UpstreamBody, 'read' | 'cancel' | 'hasPendingBytes'>,
  { contentType, bytesMax, idleMs, hidden }: ByteStreamOptions,
): StreamReply {
  const streamEnded = streamEnd()
  let length = 0
  let isCancelled = false
  let failure: unknown
  let idle: Watchdog | undefined

  function fail(error: unknown): void {
    failure ??= error
    body.cancel()
  }

  async function nextBytes(): Promise<Uint8Array | undefined> {
    if (length > 0)
      idle ??= watchdog(
        idleMs,
        () => fail(new UpstreamFailure('cut', `silent for ${idleMs / 1000} s`, { status: 200, timedOut: true })),
        () => body.hasPendingBytes(),
      )
    idle?.touch()
    const bytes = await body.read()
    idle?.pause()
    return bytes
  }

  /** @throws a failure of the stream */
  function take(bytes: Uint8Array | undefined): readonly Part[] | undefined {
    if (bytes === undefined && length === 0) throw new UpstreamFailure('empty', 'the answer is empty', { status: 200 })
    length += bytes?.length ?? 0
    if (length > bytesMax) throw new UpstreamFailure('too_large', 'the answer is too large', { status: 200 })
    return bytes && [partOf(bytes)]
  }

  return {
    kind: 'stream',
    contentType,
    isEmpty: false,
    onEnd: streamEnded.onEnd,
    async read() {
      try {
        if (failure !== undefined) throw failure
        const parts = take(await nextBytes())
        if (failure !== undefined) throw failure
        if (parts !== undefined) return parts
        idle?.stop()
        streamEnded.settle(isCancelled ? new Cancelled() : undefined, undefined)
        return undefined
      } catch (error) {
        idle?.stop()
        if (isCancelled) return undefined
        fail(hidden(streamFailure(error, length > 0)))
        streamEnded.settle(failure, undefined)
        throw failure
      }
    },
    cancel() {
      isCancelled = true
      idle?.stop()
      body.cancel()
      streamEnded.settle(new Cancelled(), undefined)
    },
  }
}

function streamFailure(error: unknown, hasBegun: boolean): unknown {
  return hasBegun && error instanceof TransportError && error.kind !== 'resources'
    ? new UpstreamFailure('cut', 'the connection was lost during the answer', { status: 200, cause: error })
    : bodyFailure(error)
}

function partOf(data: Uint8Array): Part {
  return {
    kind: 'part',
    data,
    isMeaningful: true,
    text: '',
    isBeyondText: true,
    finishReason: undefined,
    hasOpenChoice: true,
    usage: undefined,
  }
}
