/** Most bytes of one body that are looked at at a time. */
export const sliceBytes = 8 * 1024

/** Most bytes read of all bodies in one turn of the event loop: a few milliseconds of work, even where events are tiny. */
const turnBytes = 32 * 1024

/** What reading costs, however little is read. */
const readCost = 256

/**
 * Shares the event loop among bodies that arrive faster than they can be worked on, and leaves turns for everything
 * else.
 */
export interface Turns {
  /**
   * Asks for so many bytes to be read.
   *
   * @param grant called once, in one of the next turns of the event loop, where it is too much for this one. Whoever
   *   asked first is called first
   * @returns whether they may be read at once; `grant` is not called then
   */
  take(bytes: number, grant: () => void): boolean
}

/** Turns of one event loop. While little arrives, asking costs an addition: no timer, and nobody waits. */
export function eventLoopTurns(): Turns {
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
    for (let next = waiting[first]; next !== undefined && spent < turnBytes; next = waiting[first]) {
      first++
      spent += next.cost
      next.grant()
    }
    forget()
    if (waiting.length > 0) awaitTurn()
  }

  /** Lets go of those who had their turn, now and then, so that it costs each of them next to nothing. */
  function forget(): void {
    if (first === waiting.length) waiting.length = first = 0
    else if (first >= 1_024) {
      waiting.splice(0, first)
      first = 0
    }
  }

  return {
    take(bytes, grant) {
      const cost = bytes + readCost
      // Counted anew from the next turn on, before anybody has to wait for it.
      if (spent + cost > turnBytes / 2) awaitTurn()
      if (waiting.length === 0 && spent < turnBytes) {
        spent += cost
        return true
      }
      waiting.push({ cost, grant })
      return false
    },
  }
}
