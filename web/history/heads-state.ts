import { createStore, type Store } from '../store.ts'
import type { ConversationHead, HistoryFault, HistoryStore } from './conversation.ts'
import { inOrder } from './heads.ts'

/** State of the conversation list. */
export type HeadsState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'ready'; readonly heads: readonly ConversationHead[]; readonly fault: HistoryFault | undefined }

/** A list that follows its history. */
export interface HeadsFollower {
  readonly state: Store<HeadsState>
  /** Loads the list and follows changes. Returns a function that stops. */
  start(): () => void
  /** Loads the list again. */
  refresh(): void
}

/** With more pending changes than this, the whole list is read again. */
const singleReadsMax = 20

/** Creates a list. On a change, it reads only the changed head: a running answer changes one conversation a second. */
export function followHeads(history: HistoryStore): HeadsFollower {
  const state = createStore<HeadsState>({ kind: 'loading' })
  const changed = new Set<string>()
  let isReading = false,
    isStopped = false

  async function readChanges(): Promise<void> {
    if (isReading) return
    isReading = true
    while (changed.size > 0 && !isStopped) {
      const ids = [...changed]
      changed.clear()
      await readThese(ids)
    }
    isReading = false
  }

  async function readThese(ids: readonly string[]): Promise<void> {
    try {
      const before = state.get()
      const heads =
        before.kind === 'ready' && !ids.includes('') && ids.length <= singleReadsMax
          ? await withChanges(before.heads, ids)
          : await history.heads()
      if (!isStopped) state.set({ kind: 'ready', heads, fault: history.fault })
    } catch (error) {
      if (!isStopped) state.set({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  async function withChanges(
    heads: readonly ConversationHead[],
    ids: readonly string[],
  ): Promise<readonly ConversationHead[]> {
    const now = (await Promise.all(ids.map((id) => history.head(id)))).filter((head) => head !== undefined)
    return [...heads.filter(({ id }) => !ids.includes(id)), ...now].toSorted(inOrder)
  }

  function look(id: string): void {
    changed.add(id)
    void readChanges()
  }

  return {
    state,
    start() {
      isStopped = false
      const unsubscribe = history.subscribe(look)
      look('')
      return () => {
        isStopped = true
        unsubscribe()
      }
    },
    refresh: () => look(''),
  }
}
