import { WireError } from '../../formats/error.ts'
import type { SharedTimers } from '../../service/shared-timers.ts'
import { keptAnswer, type KeptAnswer, type KeptTimes } from './kept-answer.ts'

/** Limits of answers that are kept, in one process. */
export interface KeptLimits extends KeptTimes {
  readonly answers: number
  readonly answersOfOne: number
  /** Bytes of one answer. */
  readonly bytesOfOne: number
  readonly bytes: number
}

const mebibyte = 1024 * 1024

/** The limits of answers to the page. */
export const keptLimits: KeptLimits = {
  unreadMs: 60_000,
  endedMs: 60_000,
  answers: 256,
  answersOfOne: 16,
  bytesOfOne: 8 * mebibyte,
  bytes: 64 * mebibyte,
}

/** Names an answer: its owner, and the id that the page chose. */
export interface AnswerName {
  /** The user; empty without sign-in. */
  readonly owner: string
  readonly id: string
}

/** Answers that other processes may read and stop. */
export type SharedAnswers = Pick<KeptAnswers, 'find' | 'stop'>

/** The answers that are kept in this process. */
export interface KeptAnswers {
  /**
   * Begins to keep an answer.
   *
   * @param abort ends the work for it
   * @returns `undefined`: a limit of their number is reached
   * @throws {WireError} 409 for a name that is in use, 499 if the answer was stopped before
   */
  begin(name: AnswerName, abort: () => void): KeptAnswer | undefined
  find(name: AnswerName): KeptAnswer | undefined
  /** Stops an answer. One that is not there yet is refused when it begins. @returns whether it was there */
  stop(name: AnswerName): boolean
  /** Ends all answers without a reader. */
  stopUnread(): void
}

/** Names of answers that were stopped before they began. The oldest are dropped. */
const stoppedMax = 256

/** Keeps the answers to the page (docs/using.md). @param isClosing whether the service shuts down */
export function keptAnswers(timers: SharedTimers, isClosing: () => boolean, limits = keptLimits): KeptAnswers {
  return new AnswersInMemory(timers, isClosing, limits)
}

class AnswersInMemory implements KeptAnswers {
  readonly #limits: KeptLimits
  readonly #timers: SharedTimers
  readonly #isClosing: () => boolean
  /** In the order of their beginning. */
  readonly #entries = new Map<string, { readonly owner: string; readonly answer: KeptAnswer }>()
  readonly #stopped = new Set<string>()
  #bytesKept = 0
  readonly #budget: { hasSpace(bytes: number): boolean; add(bytes: number): void }

  constructor(timers: SharedTimers, isClosing: () => boolean, limits = keptLimits) {
    this.#limits = limits
    this.#timers = timers
    this.#isClosing = isClosing
    this.#budget = {
      hasSpace: (bytes: number): boolean => {
        while (this.#bytesKept + bytes > this.#limits.bytes) if (!this.#removeEnded()) return false
        return true
      },
      add: (bytes: number): void => {
        this.#bytesKept += bytes
      },
    }
  }

  begin(name: AnswerName, abort: () => void): KeptAnswer | undefined {
    const key = keyOf(name)
    if (this.#stopped.delete(key)) throw new WireError(499, 'invalid_request_error', 'client_left', 'It was stopped')
    if (this.#entries.has(key))
      throw new WireError(409, 'invalid_request_error', 'answer_exists', 'There is an answer with this request id')
    const { owner } = name
    if (this.#countOf(owner) >= this.#limits.answersOfOne && !this.#removeEnded(owner)) return undefined
    if (this.#entries.size >= this.#limits.answers && !this.#removeEnded()) return undefined
    const answer = keptAnswer({
      abort,
      onForget: () => this.#entries.delete(key),
      budget: this.#budget,
      bytesMax: this.#limits.bytesOfOne,
      times: this.#limits,
      timers: this.#timers,
      isClosing: this.#isClosing,
    })
    this.#entries.set(key, { owner, answer })
    return answer
  }

  find(name: AnswerName): KeptAnswer | undefined {
    return this.#entries.get(keyOf(name))?.answer
  }

  stop(name: AnswerName): boolean {
    const key = keyOf(name)
    const found = this.#entries.get(key)
    found?.answer.stop()
    if (found !== undefined) return true
    this.#stopped.add(key)
    for (const oldest of this.#stopped) if (this.#stopped.size > stoppedMax) this.#stopped.delete(oldest)
    return false
  }

  stopUnread(): void {
    for (const { answer } of [...this.#entries.values()]) if (!answer.hasReaders) answer.abandon()
  }

  /** Removes the oldest ended answer that has no reader. @returns whether there was one */
  #removeEnded(owner?: string): boolean {
    for (const entry of this.#entries.values()) {
      const { isOver, hasReaders } = entry.answer
      if (!isOver || hasReaders || (owner !== undefined && entry.owner !== owner)) continue
      entry.answer.forget()
      return true
    }
    return false
  }

  #countOf(owner: string): number {
    let count = 0
    for (const entry of this.#entries.values()) if (entry.owner === owner) count++
    return count
  }
}

/** Ids contain no space. */
function keyOf({ owner, id }: AnswerName): string {
  return `${id} ${owner}`
}
