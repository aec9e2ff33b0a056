import type { PartStream } from '../../formats/reply.ts'
import { watchdog } from '../../service/watchdog.ts'

export interface ByteBodyOptions {
  readonly reply: PartStream
  /** Milliseconds in which a client must take the bytes of one read. */
  readonly stallMs: number
  /** Called once. `undefined`: the client has all bytes. */
  readonly onEnd: (end: ByteBodyEnd | undefined) => void
}

/** Why the bytes are not complete. */
export type ByteBodyEnd = { readonly kind: 'left' } | { readonly kind: 'failed'; readonly error: unknown }

/** A body of bytes that are sent as they arrive. */
export interface ByteBody {
  readonly body: ReadableStream<Uint8Array>
  /** Aborts the body, so that the client sees an incomplete answer. */
  fail(error: unknown): void
  /** Ends the body because the client no longer reads it. */
  leave(): void
}

/**
 * Sends the bytes of a stream at the pace of its client. Nothing in them can tell of a failure, so the connection is
 * closed without the end of the body.
 */
export function byteBody({ reply, stallMs, onEnd }: ByteBodyOptions): ByteBody {
  let isOver = false
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const stall = watchdog(stallMs, leave)
  stall.pause()

  function end(why: ByteBodyEnd | undefined): boolean {
    if (isOver) return false
    isOver = true
    stall.stop()
    if (why !== undefined) reply.cancel()
    onEnd(why)
    return true
  }

  function fail(error: unknown): void {
    if (end({ kind: 'failed', error })) sink?.error(new Error('it was cut'))
  }

  function leave(): void {
    if (end({ kind: 'left' })) sink?.error(new Error('the client left'))
  }

  return {
    fail,
    leave,
    body: new ReadableStream<Uint8Array>(
      {
        start(controller) {
          sink = controller
        },
        async pull(controller) {
          stall.pause()
          try {
            const parts = await reply.read()
            if (isOver) return
            for (const { data } of parts ?? []) controller.enqueue(data)
            if (parts !== undefined) stall.touch()
            else if (end(undefined)) controller.close()
          } catch (error) {
            fail(error)
          }
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    ),
  }
}
