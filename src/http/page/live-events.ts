import { keepAliveEvent } from '../../bytes/event-stream.ts'
import { watchdog } from '../../service/watchdog.ts'
import { withinMs } from '../../service/within.ts'

export interface LiveEventsOptions {
  /**
   * Makes an event of everything new since the last call; `undefined`: nothing is new. Called after a notification,
   * when the reader is ready, and never twice at once.
   */
  readonly take: () => Promise<Uint8Array | undefined>
  /** Calls `listener` after possible changes. @returns unsubscribes */
  readonly subscribe: (listener: () => void) => () => void
  /** Milliseconds of silence before a comment. */
  readonly heartbeatMs: number
  /** Milliseconds a reader may take to read an event. */
  readonly stallMs: number
  /** Milliseconds after which the stream ends in any case. */
  readonly lifeMs: number
  /** Called once at the end. `hasClientLeft`: the reader left or stalled. */
  readonly onEnd: (outcome: { readonly hasClientLeft: boolean }) => void
}

/** A stream of events without an end of its own. */
export interface LiveEvents {
  readonly body: ReadableStream<Uint8Array>
  /** Completes the stream. */
  end(): void
  /** Aborts the stream, since its reader has left. */
  leave(): void
}

/**
 * Server-sent events about something that changes. There is no queue: an event is made when the reader is ready, of all
 * changes until then. A slow reader gets fewer and larger events, and a stalled one costs a single event.
 */
export function liveEvents({ take, subscribe, heartbeatMs, stallMs, lifeMs, onEnd }: LiveEventsOptions): LiveEvents {
  let hasChanges = true
  let isOver = false
  let wake = (): void => undefined
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const stall = watchdog(stallMs, leave)
  const life = setTimeout(end, lifeMs)
  const unsubscribe = subscribe(() => {
    hasChanges = true
    wake()
  })

  function finish(hasClientLeft: boolean): void {
    isOver = true
    clearTimeout(life)
    stall.stop()
    unsubscribe()
    wake()
    onEnd({ hasClientLeft })
  }

  function end(): void {
    if (isOver) return
    finish(false)
    sink?.close()
  }

  function leave(): void {
    if (isOver) return
    finish(true)
    sink?.error(new Error('the client does not read'))
  }

  /** The next event, or a comment after `heartbeatMs` without one; `undefined`: the stream has ended. */
  async function next(): Promise<Uint8Array | undefined> {
    const silentUntil = performance.now() + heartbeatMs
    while (!isOver) {
      const mayBeNew = hasChanges
      // Reset before the call, so that changes during it count for the next event.
      hasChanges = false
      const event = mayBeNew ? await take() : undefined
      if (event !== undefined) return event
      const remainingMs = silentUntil - performance.now()
      if (remainingMs <= 0) return keepAliveEvent
      if (hasChanges || isOver) continue
      const woken = new Promise<true>((resolve) => {
        wake = () => resolve(true)
      })
      if ((await withinMs(woken, remainingMs)) === undefined) return keepAliveEvent
    }
    return undefined
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    stall.pause()
    try {
      const event = await next()
      if (isOver || event === undefined) return
      controller.enqueue(event)
      stall.touch()
    } catch (error) {
      leave()
      throw error
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
  return { body, end, leave }
}
