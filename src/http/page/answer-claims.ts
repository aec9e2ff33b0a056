import type { AnswerName } from './kept-answers.ts'

/** Claims that are remembered. Without its own, a request may be asked for at two processes. */
const claimsMax = 16_384

/** Which of several processes answers a request that is sent to more than one (`answer-once.ts`). */
export class AnswerClaims<Process> {
  /** The oldest first. */
  readonly #claims = new Map<string, Process>()

  /** @returns whether this process shall answer, since no other one does */
  claim(name: AnswerName, process: Process): boolean {
    const key = keyOf(name)
    const holder = this.#claims.get(key) ?? process
    this.#claims.set(key, holder)
    const [oldest] = this.#claims.keys()
    if (this.#claims.size > claimsMax && oldest !== undefined) this.#claims.delete(oldest)
    return holder === process
  }

  /** The process does not keep the answer. */
  release(name: AnswerName, process: Process): void {
    const key = keyOf(name)
    if (this.#claims.get(key) === process) this.#claims.delete(key)
  }

  /** The process has ended, and its answers with it. */
  left(process: Process): void {
    for (const [key, holder] of this.#claims) if (holder === process) this.#claims.delete(key)
  }
}

function keyOf({ owner, id }: AnswerName): string {
  return `${id} ${owner}`
}
