import { RingPlace } from './ring.ts'

/** A timer of {@link SharedTimers}. */
export interface SharedTimer {
  /** It never expires. May be called more than once, and after it has expired. */
  stop(): void
}

/** Timers that nearly always stop before they expire, such as the time limits of requests. */
export interface SharedTimers {
  /**
   * Starts a timer that calls `expire` once, after `ms` milliseconds and never early. Sockets are read once more before
   * it expires: after the process was suspended (SIGSTOP, a sleeping machine), timers run before sockets.
   *
   * @param ms one of a few durations, since each has a list. Not one that a caller chooses
   */
  start(ms: number, expire: () => void): SharedTimer
}

/**
 * Makes timers that share one timer of the runtime for each duration. To start and to stop one costs a tenth of the
 * runtime's own. They do not keep the process alive.
 */
export function sharedTimers(): SharedTimers {
  const lists = new Map<number, TimerList>()
  return {
    start(ms, expire) {
      let list = lists.get(ms)
      if (list === undefined) {
        list = new TimerList(ms)
        lists.set(ms, list)
      }
      return list.start(expire)
    },
  }
}

/** Timers of the same kind that share nothing: for rare requests, and for durations that callers choose. */
export const ownTimers: SharedTimers = { start: (ms, expire) => new OwnTimer(ms, expire) }

class OwnTimer implements SharedTimer {
  #timer: Timer

  constructor(ms: number, expire: () => void) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(expire, 0)
    }, ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

class ListedTimer extends RingPlace implements SharedTimer {
  readonly dueMs: number
  readonly expire: () => void

  constructor(dueMs: number, expire: () => void) {
    super()
    this.dueMs = dueMs
    this.expire = expire
  }

  stop(): void {
    this.leave()
  }
}

/** The timers of one duration, in the order of their starts and so of their ends. */
class TimerList {
  readonly #ms: number
  /** The place between the last timer and the first one. */
  readonly #end = new RingPlace()
  #timer: Timer | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  start(expire: () => void): SharedTimer {
    const started = new ListedTimer(performance.now() + this.#ms, expire)
    started.joinBefore(this.#end)
    if (this.#timer === undefined) this.#wake(this.#ms, this.#look)
    return started
  }

  get #first(): ListedTimer | undefined {
    return this.#end.next instanceof ListedTimer ? this.#end.next : undefined
  }

  #wake(ms: number, call: () => void): void {
    this.#timer = setTimeout(call, ms)
    this.#timer.unref()
  }

  readonly #look = (): void => {
    this.#timer = undefined
    const first = this.#first
    if (first === undefined) return
    const remainingMs = first.dueMs - performance.now()
    if (remainingMs > 0) this.#wake(Math.ceil(remainingMs), this.#look)
    else this.#wake(0, this.#expireDue)
  }

  readonly #expireDue = (): void => {
    try {
      for (let first = this.#first; first !== undefined && first.dueMs <= performance.now(); first = this.#first) {
        first.stop()
        first.expire()
      }
    } finally {
      this.#look()
    }
  }
}
