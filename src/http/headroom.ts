/** How the descriptors of this process stand. */
export interface DescriptorUse {
  /** Most it may have open. */
  readonly most: number
  /** Those open now. */
  readonly open: number
}

/** What {@link headroom} needs. */
export interface HeadroomOptions {
  /** Looks; `undefined` where this system does not tell. */
  readonly look: () => DescriptorUse | undefined
  /** Connections to upstreams. Idle ones are closed when descriptors run short. */
  readonly upstreams: { readonly connections: { readonly active: number; readonly idle: number }; dropIdle(): void }
  /** Requests under way. Those that have no connection to an upstream yet will want one. */
  readonly underWay: { readonly count: number }
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/** Whether there are descriptors for more requests. */
export interface Headroom {
  /** For one more, beside a reserve. Asked once a request. */
  hasRoom(): boolean
  /** The last look found too few. Without it there may be no room for as long as looking again would take too much time. */
  lacksDescriptors(): boolean
}

/** A look holds for so long while there is room. Connections that ask for nothing are not noticed in between. */
const freshMs = 200
/** Looking takes at most one part in so many of the time: where it is slow, it is done seldom. */
const restFactor = 20
/** What one request may open: its connection to an upstream, and the one it came over. */
const descriptorsEach = 2

/** Descriptors kept for health checks, files and what comes between two looks: a sixteenth of all, from 8 to 64. */
export function reservedDescriptors(most: number): number {
  return Math.min(64, Math.max(8, most >> 4))
}

/**
 * Requests that may be under way in a process with so many descriptors, where nobody has set another limit: two
 * descriptors each, and the reserve.
 */
export function requestsWithin(most: number): number {
  return Math.max(1, Math.floor((most - reservedDescriptors(most)) / descriptorsEach))
}

/** Looks at the system at most five times a second, but when descriptors run short, at each request. */
export function headroom({ look, upstreams, underWay, now }: HeadroomOptions): Headroom {
  /** Requests that can still be let in by the last look. */
  let room = 0
  let isShort = false
  let freshUntil = Number.NEGATIVE_INFINITY
  let restsUntil = Number.NEGATIVE_INFINITY

  function lookAgain(): void {
    const started = now()
    const use = look()
    const ended = now()
    freshUntil = ended + freshMs
    restsUntil = ended + (ended - started) * restFactor
    if (use === undefined) {
      room = Number.POSITIVE_INFINITY
      isShort = false
      return
    }
    const { active, idle } = upstreams.connections
    const wanted = Math.max(0, underWay.count - active)
    let free = use.most - use.open - reservedDescriptors(use.most) - wanted
    if (free < descriptorsEach && idle > 0) {
      upstreams.dropIdle()
      free += idle
    }
    room = free < descriptorsEach ? free : Math.floor(free / descriptorsEach)
    isShort = room < 1
  }

  return {
    hasRoom() {
      const time = now()
      if (time >= freshUntil || (room < 1 && time >= restsUntil)) lookAgain()
      if (room < 1) return false
      room -= 1
      return true
    },
    lacksDescriptors: () => isShort,
  }
}
