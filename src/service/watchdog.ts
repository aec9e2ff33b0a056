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
  return new LimitWatchdog(limitMs, expire, isBehind)
}

/** A class, since every stream has two: closures would take more memory. */
class LimitWatchdog implements Watchdog {
  readonly #limitMs: number
  readonly #expire: () => void
  readonly #isBehind: () => boolean
  #touched = performance.now()
  #timer: Timer

  constructor(limitMs: number, expire: () => void, isBehind: () => boolean) {
    this.#limitMs = limitMs
    this.#expire = expire
    this.#isBehind = isBehind
    this.#timer = setTimeout(look, limitMs, this)
  }

  touch(): void {
    this.#touched = performance.now()
  }

  pause(): void {
    this.#touched = Infinity
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  look(): void {
    const remainingMs = this.#touched + this.#limitMs - performance.now()
    this.#timer =
      remainingMs <= 0
        ? setTimeout(lookAgain, 0, this)
        : setTimeout(look, Math.min(Math.ceil(remainingMs), this.#limitMs), this)
  }

  lookAgain(): void {
    if (this.#isBehind()) this.#touched = performance.now()
    if (this.#touched + this.#limitMs <= performance.now()) this.#expire()
    else this.look()
  }
}

function look(dog: LimitWatchdog): void {
  dog.look()
}

function lookAgain(dog: LimitWatchdog): void {
  dog.lookAgain()
}
