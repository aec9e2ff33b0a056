/** Expires when it was not touched for so long. */
export interface Watchdog {
  /** Something happened, or the wait for it begins: start counting anew. Costs a clock reading, no timer. */
  touch(): void
  /** Nothing is being waited for: do not count until the next `touch`. */
  pause(): void
  /** For good. */
  stop(): void
}

/**
 * Calls `expire` once, when nothing touched it for `limitMs` (to within a timer's precision, late rather than early).
 * One timer, set anew only when it fires. What had arrived by then is read first: after this process stood still
 * (SIGSTOP, a machine that slept), timers come before sockets.
 *
 * @param isBehind whether something has happened that this process has not come to yet: then it counts as happening
 *   now. Default: never
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
