import type { ModelCandidate } from './provider.ts'

/** Of one process. */
const sessionsMax = 100_000

/**
 * Sessions whose prompt is in the cache of a provider that took over. Going back at once would write the whole prompt
 * to the cache of the first provider, which costs 12 times as much as reading it. So the session stays while the cache
 * lives, and then returns. It decides the order alone: health and budgets are checked at each candidate's turn.
 */
export class Affinity {
  /** The least recently used first. */
  readonly #sessions = new Map<string, { readonly provider: string; readonly until: number }>()
  readonly #now: () => number

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The candidates, the one with the session's prompt first. */
  order(session: string | undefined, candidates: readonly ModelCandidate[]): readonly ModelCandidate[] {
    const stay = session === undefined ? undefined : this.#sessions.get(session)
    if (session === undefined || stay === undefined) return candidates
    const candidate = candidates.find(({ name }) => name === stay.provider)
    if (candidate !== undefined && stay.until > this.#now())
      return [candidate, ...candidates.filter((each) => each !== candidate)]
    this.#sessions.delete(session)
    return candidates
  }

  /** Keeps which candidate has answered. @param bytes of the request */
  note(session: string | undefined, { name, promptCache }: ModelCandidate, isFirst: boolean, bytes: number): void {
    if (session === undefined) return
    const isKnown = this.#sessions.delete(session)
    if (isFirst || promptCache === undefined) return
    if (!isKnown && bytes < promptCache.bytesMin) return
    const [oldest] = this.#sessions.keys()
    if (oldest !== undefined && this.#sessions.size >= sessionsMax) this.#sessions.delete(oldest)
    this.#sessions.set(session, { provider: name, until: this.#now() + promptCache.ms })
  }
}
