/** A timer that expires after a time without a touch. */
export interface Watchdog {
  /** Restarts the time. Costs a reading of the clock, no new timer. */
  touch(): void
  /** Stops the time until the next `touch`. */
  pause(): void
  /** Ends the watchdog: it never expires. */
  stop(): void
}

/**
 * Calls `expire` once, after `limitMs` without a touch; never early. Uses one timer, which is set again only when it
 * fires. Sockets are read once more before it expires: after the process was suspended (SIGSTOP, a sleeping machine),
 * timers run before sockets.
 *
 * @param isBehind whether an event is waiting to be processed. If so, it counts as a touch. Default: never
 */
export function watchdog(limitMs: number, expire: () => void, isBehind: () => boolean = () => false): Watchdog {
  const now = () => performance.now()
  let touched = now()
  let timer = setTimeout(look, limitMs)

  function look(): void {
    const remainingMs = touched + limitMs - now()
    timer = remainingMs <= 0 ? setTimeout(lookAgain, 0) : setTimeout(look, Math.min(Math.ceil(remainingMs), limitMs))
  }

  function lookAgain(): void {
    if (isBehind()) touched = now()
    if (touched + limitMs <= now()) expire()
    else look()
  }

  return {
    touch() {
      touched = now()
    },
    pause() {
      touched = Infinity
    },
    stop() {
      clearTimeout(timer)
    },
  }
}
