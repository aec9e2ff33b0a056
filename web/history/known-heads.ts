import type { ConversationHead } from './conversation.ts'

type ReadHeads = () => Promise<readonly ConversationHead[]>

/** Heads in memory, so that a search need not read them. */
export interface KnownHeads {
  /** Reads all heads, and keeps them. */
  readAll(read: ReadHeads): Promise<readonly ConversationHead[]>
  /** Returns all heads, in any order. Reads them if they are not known. */
  all(read: ReadHeads): Promise<readonly ConversationHead[]>
  /** Replaces a head. @param head absent: it was removed */
  set(id: string, head: ConversationHead | undefined): void
  forget(): void
}

/** Creates an empty set. */
export function knownHeads(): KnownHeads {
  let known: Map<string, ConversationHead> | undefined
  /** A read that began before a change is not kept. */
  let changes = 0

  async function readAll(read: ReadHeads): Promise<readonly ConversationHead[]> {
    const before = changes
    const heads = await read()
    if (changes === before) known = new Map(heads.map((head) => [head.id, head]))
    return heads
  }

  return {
    readAll,
    all: async (read) => (known === undefined ? await readAll(read) : [...known.values()]),
    set(id, head) {
      changes++
      if (head === undefined) known?.delete(id)
      else known?.set(id, head)
    },
    forget() {
      changes++
      known = undefined
    },
  }
}
