import { watchdog } from '../service/watchdog.ts'
import { withinMs } from '../service/within.ts'
import { keepAliveEvent } from '../wire/event-stream.ts'

/** What {@link liveEvents} needs. */
export interface LiveEventsOptions {
  /**
   * The event that tells what is new since it was last asked; `undefined`: nothing is. Asked when there is something to
   * tell and the reader takes it, and not again before it has answered.
   */
  readonly take: () => Promise<Uint8Array | undefined>
  /** Calls back whenever something may be new. @returns ends it */
  readonly subscribe: (listener: () => void) => () => void
  /** Milliseconds of silence before a comment. */
  readonly heartbeatMs: number
  /** Milliseconds a reader may take to read what is there. */
  readonly stallMs: number
  /** Milliseconds until it ends in any case. */
  readonly lifeMs: number
  /** Called once, when it has ended: well, or because nobody reads. */
  readonly onEnd: (outcome: { readonly hasClientLeft: boolean }) => void
}

/** Events that go on until somebody ends them. */
export interface LiveEvents {
  readonly body: ReadableStream<Uint8Array>
  /** Ends them well. */
  end(): void
  /** Ends them because nobody reads them any more. */
  leave(): void
}

/**
 * Server-sent events that follow something as it changes. Nothing is queued: what is new is looked at when the reader
 * is ready for it, so that one who reads slowly gets fewer and larger events, and one who does not read costs one
 * event.
 */
export function liveEvents({ take, subscribe, heartbeatMs, stallMs, lifeMs, onEnd }: LiveEventsOptions): LiveEvents {
  let hasNews = true
  let isOver = false
  let wake = (): void => undefined
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const stall = watchdog(stallMs, leave)
  const life = setTimeout(end, lifeMs)
  const unsubscribe = subscribe(() => {
    hasNews = true
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

  /** The next event, or a comment when there is none for so long; `undefined`: it is over. */
  async function next(): Promise<Uint8Array | undefined> {
    const silentUntil = performance.now() + heartbeatMs
    while (!isOver) {
      const isTold = hasNews
      // Set before it is asked: what comes while the answer is on its way is news again.
      hasNews = false
      const event = isTold ? await take() : undefined
      if (event !== undefined) return event
      const remainingMs = silentUntil - performance.now()
      if (remainingMs <= 0) return keepAliveEvent
      if (hasNews || isOver) continue
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
