/** Most bytes of one body that are processed at a time. */
export const readBytesMax = 8 * 1024

/** Most bytes processed in one turn of the event loop: a few milliseconds of work, even with tiny events. */
const turnBytesMax = 32 * 1024

/** Fixed cost of each read, in bytes. */
const readCostBytes = 256

/** Shares the event loop between bodies that arrive faster than they can be processed, and all other work. */
export interface ReadScheduler {
  /**
   * Requests to process `bytes` bytes.
   *
   * @param grant called once in a later turn of the event loop, in the order of the requests, unless this call returns
   *   true
   * @returns whether the bytes may be processed at once
   */
  take(bytes: number, grant: () => void): boolean
}

/** Makes the scheduler of an event loop. While little arrives, no request waits and no timer is set. */
export function readScheduler(): ReadScheduler {
  const waiting: { readonly cost: number; readonly grant: () => void }[] = []
  let first = 0
  let spent = 0
  let isTurnAwaited = false

  function awaitTurn(): void {
    if (isTurnAwaited) return
    isTurnAwaited = true
    setImmediate(nextTurn)
  }

  function nextTurn(): void {
    isTurnAwaited = false
    spent = 0
    for (let next = waiting[first]; next !== undefined && spent < turnBytesMax; next = waiting[first]) {
      first++
      spent += next.cost
      next.grant()
    }
    forget()
    if (waiting.length > 0) awaitTurn()
  }

  /** Removes granted requests, many at a time to keep the cost of each low. */
  function forget(): void {
    if (first === waiting.length) waiting.length = first = 0
    else if (first >= 1_024) {
      waiting.splice(0, first)
      first = 0
    }
  }

  return {
    take(bytes, grant) {
      const cost = bytes + readCostBytes
      // Starts the next turn, which resets `spent`, before any request has to wait.
      if (spent + cost > turnBytesMax / 2) awaitTurn()
      if (waiting.length === 0 && spent < turnBytesMax) {
        spent += cost
        return true
      }
      waiting.push({ cost, grant })
      return false
    },
  }
}
