/** File descriptors of this process. */
export interface DescriptorUse {
  /** Limit of open descriptors. */
  readonly max: number
  /** Open descriptors. */
  readonly open: number
}

export interface FreeDescriptorsOptions {
  /** Counts the descriptors; `undefined` on systems without a count. */
  readonly count: () => DescriptorUse | undefined
  /** Connections to upstreams. Idle ones are closed when descriptors run out. */
  readonly upstreams: { readonly connections: { readonly active: number; readonly idle: number }; dropIdle(): void }
  /** Requests being answered. Each will open a connection to an upstream, if it has none yet. */
  readonly openRequests: { readonly count: number }
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/** Checks that there are file descriptors for more requests. */
export interface FreeDescriptors {
  /** Whether one more request leaves the reserve untouched. To be called once for each request. */
  hasDescriptors(): boolean
  /** Whether the last count found too few. `hasDescriptors` may also be false because a new count costs too much. */
  lacksDescriptors(): boolean
}

/** A count is valid for this time while descriptors remain. Idle connections opened meanwhile are not counted. */
const freshMs = 200
/** Counting takes at most this fraction of the time (1 in 20): a slow count is repeated less often. */
const restFactor = 20
/** Descriptors of one request: its connection from the client and that to an upstream. */
const descriptorsEach = 2

/** Reserve for health checks, files and connections between two counts: a sixteenth of all, from 8 to 64. */
export function reservedDescriptors(max: number): number {
  return Math.min(64, Math.max(8, max >> 4))
}

/** Default limit of concurrent requests in a process with `max` descriptors: two for each request, and the reserve. */
export function requestsWithin(max: number): number {
  return Math.max(1, Math.floor((max - reservedDescriptors(max)) / descriptorsEach))
}

/** Counts the descriptors at most five times a second; when they run out, at every request. */
export function freeDescriptors({ count, upstreams, openRequests, now }: FreeDescriptorsOptions): FreeDescriptors {
  /** Requests that may still start by the last count. */
  let remaining = 0
  let isShort = false
  let freshUntil = Number.NEGATIVE_INFINITY
  let restsUntil = Number.NEGATIVE_INFINITY

  function countAgain(): void {
    const started = now()
    const use = count()
    const ended = now()
    freshUntil = ended + freshMs
    restsUntil = ended + (ended - started) * restFactor
    if (use === undefined) {
      remaining = Number.POSITIVE_INFINITY
      isShort = false
      return
    }
    const { active, idle } = upstreams.connections
    const wanted = Math.max(0, openRequests.count - active)
    let free = use.max - use.open - reservedDescriptors(use.max) - wanted
    if (free < descriptorsEach && idle > 0) {
      upstreams.dropIdle()
      free += idle
    }
    // Of the request that asks, the client's connection is open already: one descriptor is enough for it.
    remaining = free < descriptorsEach ? free : Math.floor(free / descriptorsEach)
    isShort = remaining < 1
  }

  return {
    hasDescriptors() {
      const time = now()
      if (time >= freshUntil || (remaining < 1 && time >= restsUntil)) countAgain()
      if (remaining < 1) return false
      remaining -= 1
      return true
    },
    lacksDescriptors: () => isShort,
  }
}
