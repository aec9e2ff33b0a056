import type { LimitAdmission } from './admission.ts'
import type { LimitCounter } from './counter.ts'

/** Requests that wait for one counter; further ones are refused at once. */
const waitersMax = 100
/** Requests that wait in this process. */
const allWaitersMax = 1_000
/** Slots of other processes are freed without a message: the first one asks again after this time. */
const pollMsDefault = 100

/** A request that may wait for a slot. */
export interface SlotWait {
  /** Tries to take what the request needs. */
  attempt(): LimitAdmission | Promise<LimitAdmission>
  /** The admission of a request that is refused without an attempt. */
  refused(): LimitAdmission
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
}

interface Waiter extends SlotWait {
  isOver: boolean
  /** The last refusal. */
  last: LimitAdmission | undefined
  end(admission: LimitAdmission): void
  fail(error: unknown): void
}

interface Queue {
  readonly waiters: Waiter[]
  isAsking: boolean
  /** A slot became free while the first one was asking. */
  mustAskAgain: boolean
  poll: ReturnType<typeof setInterval> | undefined
}

/** Requests that wait for a slot, first come, first served (docs/limits.md). */
export class SlotQueue {
  readonly #pollMs: number
  /** By the keys of counters. */
  readonly #queues = new Map<string, Queue>()
  #size = 0

  /** @param pollMs default 100 */
  constructor(pollMs = pollMsDefault) {
    this.#pollMs = pollMs
  }

  get size(): number {
    return this.#size
  }

  /** Whether requests wait for the counter: later ones wait behind them. */
  isWaitedFor({ spec }: LimitCounter): boolean {
    return this.#queues.has(spec.key)
  }

  /**
   * Waits for a slot of the counter, for `waitMs` of its spec at most. Ends early when the client leaves, or another
   * limit refuses. Without a place in the queue it attempts once.
   */
  async wait(counter: LimitCounter, wait: SlotWait): Promise<LimitAdmission> {
    const count = this.#queues.get(counter.spec.key)?.waiters.length ?? 0
    return count >= waitersMax || this.#size >= allWaitersMax ? wait.attempt() : this.#enter(counter, wait)
  }

  /** A slot of the counter is free again. */
  freed({ spec }: LimitCounter): void {
    if (this.#size === 0) return
    const queue = this.#queues.get(spec.key)
    if (queue !== undefined) void ask(spec.key, queue)
  }

  #enter(counter: LimitCounter, wait: SlotWait): Promise<LimitAdmission> {
    const { key, waitMs = 0 } = counter.spec
    const queue = this.#queueOf(key)
    const { promise, resolve, reject } = Promise.withResolvers<LimitAdmission>()
    const giveUp = (): void => waiter.end(waiter.last ?? wait.refused())
    const timer = setTimeout(giveUp, waitMs)
    const leave = (): void => {
      if (waiter.isOver) return
      clearTimeout(timer)
      wait.signal.removeEventListener('abort', giveUp)
      this.#remove(key, queue, waiter)
    }
    const waiter: Waiter = {
      ...wait,
      isOver: false,
      last: undefined,
      end(admission) {
        leave()
        resolve(admission)
      },
      fail(error) {
        leave()
        reject(error)
      },
    }
    queue.waiters.push(waiter)
    this.#size += 1
    wait.signal.addEventListener('abort', giveUp)
    if (wait.signal.aborted) giveUp()
    return promise
  }

  #queueOf(key: string): Queue {
    const known = this.#queues.get(key)
    if (known !== undefined) return known
    const queue: Queue = { waiters: [], isAsking: false, mustAskAgain: false, poll: undefined }
    queue.poll = setInterval(() => void ask(key, queue), this.#pollMs)
    this.#queues.set(key, queue)
    return queue
  }

  #remove(key: string, queue: Queue, waiter: Waiter): void {
    waiter.isOver = true
    queue.waiters.splice(queue.waiters.indexOf(waiter), 1)
    this.#size -= 1
    if (queue.waiters.length > 0) return
    clearInterval(queue.poll)
    this.#queues.delete(key)
  }
}

/** Lets the first ones try, one after the other, until one finds no slot. */
async function ask(key: string, queue: Queue): Promise<void> {
  queue.mustAskAgain = queue.isAsking
  if (queue.isAsking) return
  queue.isAsking = true
  do {
    queue.mustAskAgain = false
    while (await tryFirst(key, queue.waiters[0]));
  } while (queue.mustAskAgain)
  queue.isAsking = false
}

/** @returns whether the next one may try */
async function tryFirst(key: string, waiter: Waiter | undefined): Promise<boolean> {
  if (waiter === undefined) return false
  try {
    const admission = await waiter.attempt()
    // Its client has left, or its time is over.
    if (waiter.isOver) admission.end(undefined)
    else if (admission.refused?.counter.spec.key === key) {
      waiter.last = admission
      return false
    } else waiter.end(admission)
  } catch (error) {
    waiter.fail(error)
  }
  return true
}
