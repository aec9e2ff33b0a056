import { watchdog } from '../../service/watchdog.ts'

const pieceBytes = 64 * 1024
const nothing = new Uint8Array()

export interface PacedBodyOptions {
  readonly bytes: Uint8Array
  /** Milliseconds a client may take to read a piece. */
  readonly stallMs: number
  /** Called once. `true`: the client read all bytes; `false`: the client left or stalled, or the body was cut. */
  readonly onEnd: (isWhole: boolean) => void
}

/** A body that is sent at the pace of its client. */
export interface PacedBody {
  readonly body: ReadableStream<Uint8Array>
  /** Aborts the body, so that the client sees an incomplete answer. */
  cut(): void
}

/**
 * Sends a large body in pieces of 64 KiB, each after the client has taken the last. This shows when the body has been
 * read, and whether its client has stalled.
 */
export function pacedBody({ bytes, stallMs, onEnd }: PacedBodyOptions): PacedBody {
  let rest = bytes
  let isOver = false
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const stall = watchdog(stallMs, cut)

  function end(isWhole: boolean): boolean {
    if (isOver) return false
    isOver = true
    rest = nothing
    stall.stop()
    onEnd(isWhole)
    return true
  }

  function cut(): void {
    if (end(false)) sink?.error(new Error('it was cut'))
  }

  return {
    cut,
    body: new ReadableStream<Uint8Array>(
      {
        start(controller) {
          sink = controller
        },
        pull(controller) {
          if (rest.length === 0) {
            if (end(true)) controller.close()
            return
          }
          stall.touch()
          controller.enqueue(rest.subarray(0, pieceBytes))
          rest = rest.subarray(pieceBytes)
        },
        cancel: () => void end(false),
      },
      { highWaterMark: 0 },
    ),
  }
}
