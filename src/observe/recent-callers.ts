import type { Caller } from '../people/person.ts'
import type { RequestRecord } from './record.ts'

/** Callers by their last request, in memory only. */
export interface RecentCallers {
  note(record: RequestRecord): void
  /** The one that asked last comes first. */
  list(): readonly Caller[]
}

const callersMax = 1_000

/** Remembers the last 1,000 callers with a name. */
export function recentCallers(): RecentCallers {
  /** By the lines of keys, and the ids of users. */
  const callers = new Map<number | string, Caller>()
  return {
    note({ user, person, line }) {
      const id = line ?? person?.id
      if (id === undefined) return
      callers.delete(id)
      callers.set(id, {
        ...(user === undefined ? {} : { name: user }),
        ...(person === undefined ? {} : { person }),
        ...(line === undefined ? {} : { key: { line } }),
      })
      if (callers.size <= callersMax) return
      for (const [oldest] of callers) {
        callers.delete(oldest)
        return
      }
    },
    list: () => [...callers.values()].toReversed(),
  }
}
