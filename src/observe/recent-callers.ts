import type { RequestRecord } from './record.ts'

/** A caller, as a record names it: a signed-in user, or a key with its person. */
export type RecentCaller = Pick<RequestRecord, 'user' | 'userId' | 'subject' | 'line' | 'person'>

/** Callers by their last request, in memory only. */
export interface RecentCallers {
  note(record: RequestRecord): void
  /** The one that asked last comes first. */
  list(): readonly RecentCaller[]
}

const callersMax = 1_000

/** Remembers the last 1,000 callers with a name. */
export function recentCallers(): RecentCallers {
  /** By the lines of keys, and the ids of users. */
  const callers = new Map<number | string, RecentCaller>()
  return {
    note({ user, userId, subject, line, person }) {
      if (user === undefined && line === undefined) return
      const id = line ?? `${subject ?? userId ?? user}`
      callers.delete(id)
      callers.set(id, { user, userId, subject, line, person })
      if (callers.size <= callersMax) return
      for (const [oldest] of callers) {
        callers.delete(oldest)
        return
      }
    },
    list: () => [...callers.values()].toReversed(),
  }
}
