import type { KeyTable } from '../../ledger/ledger.ts'

const intervalMs = 60_000

/** Stores when keys were used, once a minute. */
export interface UseNotes {
  note(id: number, minute: number): void
  /** Stores the rest. */
  close(): Promise<void>
}

/** Times are kept while the ledger cannot be used. */
export function useNotes(keys: Pick<KeyTable, 'noteUses'>): UseNotes {
  let noted = new Map<number, number>()
  const timer = setInterval(() => void store(), intervalMs)
  timer.unref()

  async function store(): Promise<void> {
    const uses = noted
    if (uses.size === 0) return
    noted = new Map()
    try {
      await keys.noteUses(uses)
    } catch {
      // Tried again with the next ones. The ledger reports its trouble itself.
      noted = new Map([...uses, ...noted])
    }
  }

  return {
    note: (id, minute) => void noted.set(id, minute),
    async close() {
      clearInterval(timer)
      await store()
    },
  }
}
