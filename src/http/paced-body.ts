import { watchdog } from '../service/watchdog.ts'

/** What is handed on at once. */
const pieceBytes = 64 * 1024
const nothing = new Uint8Array()

/** What {@link pacedBody} needs. */
export interface PacedBodyOptions {
  readonly bytes: Uint8Array
  /** Milliseconds a client may take to read a piece. */
  readonly stallMs: number
  /** Told once. `true`: it was read to its end; `false`: its client has left, or does not read, or it was cut. */
  readonly onEnd: (isWhole: boolean) => void
}

/** A body on its way to a client. */
export interface PacedBody {
  readonly body: ReadableStream<Uint8Array>
  /** Breaks it off, visibly. */
  cut(): void
}

/**
 * A large body for a client who reads at a pace of its own: a piece of 64 KiB at a time, none before the last was
 * taken, so that one knows when it is read, and who does not read it.
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
