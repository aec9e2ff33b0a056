import type { KeyTable } from '../../ledger/ledger.ts'
import { isFileLine } from './file-key.ts'
import type { KnownKey } from './key-book.ts'

const intervalMs = 60_000

/** Stores when keys were used, once a minute. */
export interface UseNotes {
  note(key: KnownKey, minute: number): void
  /** Stores the rest. */
  close(): Promise<void>
}

/** Times are kept while the ledger cannot be used. Lines of keys in access.json get their names with the first use. */
export function useNotes(keys: Pick<KeyTable, 'noteUses' | 'nameLine'>): UseNotes {
  let noted = new Map<number, number>()
  const named = new Map<number, Promise<void>>()
  const timer = setInterval(() => void store(), intervalMs)
  timer.unref()

  function nameLine(line: number, name: string): void {
    if (named.has(line)) return
    named.set(
      line,
      // Tried again with the next use. The ledger reports its trouble itself.
      keys.nameLine(line, name).catch(() => void named.delete(line)),
    )
  }

  async function store(): Promise<void> {
    const uses = noted
    if (uses.size === 0) return
    noted = new Map()
    try {
      await Promise.all(named.values())
      await keys.noteUses(uses)
    } catch {
      // Tried again with the next ones. The ledger reports its trouble itself.
      noted = new Map([...uses, ...noted])
    }
  }

  return {
    note({ id, caller }, minute) {
      if (isFileLine(id)) nameLine(id, caller.keyFacts?.name ?? '')
      noted.set(id, minute)
    },
    async close() {
      clearInterval(timer)
      await store()
    },
  }
}
