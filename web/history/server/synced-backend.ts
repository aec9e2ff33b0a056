import type { Conversation } from '../conversation.ts'
import type { HistoryBackend } from '../history-backend.ts'
import { commonOf, isSame, mergeConversations, type Common } from './merge-conversations.ts'
import type { SyncRecords } from './sync-records.ts'
import { isStreaming, noRecord, type Exclusively } from './synced-copy.ts'

export interface SyncedBackendOptions {
  /** The copy in this browser. */
  readonly local: HistoryBackend
  readonly records: SyncRecords
  readonly exclusively: Exclusively
  /** Something is to be sent. @param isRunning an answer is running: more follows soon */
  readonly onUnsent: (isRunning: boolean) => void
  /** A conversation was merged while it was written: its writer must read it again. */
  readonly onMerged: (id: string) => void
}

/** Number of conversations whose messages this tab remembers as seen. */
const seenMax = 200

/** A backend in this browser, whose changes are noted for the service. */
export function syncedBackend({
  local,
  records,
  exclusively,
  onUnsent,
  onMerged,
}: SyncedBackendOptions): HistoryBackend {
  /** What this tab has read or written last, by conversation. */
  const seen = new Map<string, Common>()
  /** Conversations that others have changed since this tab has read or written them. */
  const foreign = new Set<string>()

  function see(conversation: Conversation): void {
    const { id } = conversation
    foreign.delete(id)
    seen.delete(id)
    seen.set(id, commonOf(conversation))
    for (const oldest of seen.keys()) {
      if (seen.size <= seenMax) break
      seen.delete(oldest)
    }
  }

  /** Keeps the changes of others that the writer has not seen: it did not undo them. */
  async function withUnseen(conversation: Conversation): Promise<Conversation> {
    const { id } = conversation
    const known = seen.get(id)
    if (!foreign.has(id) || known === undefined) return conversation
    const stored = await local.get(id)
    if (stored === undefined) return conversation
    const merged = mergeConversations(conversation, stored, known)
    return isSame(merged, conversation) ? conversation : merged
  }

  /** Notes a change, unless the conversation stays in this browser. */
  async function noteUnsent(id: string, updated?: number): Promise<void> {
    const { isRemoved: _, isRefused: __, ...record } = (await records.get(id)) ?? noRecord(id)
    await records.put({
      ...record,
      updated: updated ?? record.updated,
      unsent: record.isLocal === true ? 0 : record.unsent + 1,
    })
  }

  return {
    heads: () => local.heads(),
    head: (id) => local.head(id),
    async get(id) {
      const found = await local.get(id)
      if (found !== undefined) see(found)
      return found
    },
    async put(conversation, mustExist) {
      const written = await exclusively('change', async () => {
        const whole = await withUnseen(conversation)
        // Before the write: after a crash between the two, the same content is sent again.
        await noteUnsent(conversation.id, conversation.updated)
        await local.put(whole, mustExist)
        see(conversation)
        return whole
      })
      if (written !== conversation) onMerged(conversation.id)
      onUnsent(isStreaming(conversation))
    },
    async amend(id, changes) {
      await exclusively('change', async () => {
        if ((await local.head(id)) === undefined) return
        await noteUnsent(id)
        await local.amend(id, changes)
      })
      onUnsent(false)
    },
    async remove(id) {
      await exclusively('change', async () => {
        const record = await records.get(id)
        if (record !== undefined && record.version > 0)
          await records.put({ ...record, isRemoved: true, unsent: record.unsent + 1 })
        await local.remove(id)
        if (record?.version === 0) await records.remove(id)
      })
      onUnsent(false)
    },
    async clear() {
      await exclusively('change', async () => {
        const [state, all] = await Promise.all([records.state(), records.all()])
        const clearUntil = all.reduce((last, { version }) => Math.max(last, version), state.cursor)
        await records.putState({ ...state, clearUntil })
        await local.clear()
        await records.clear()
      })
      onUnsent(false)
    },
    search: (words, limit) => local.search(words, limit),
    all: () => local.all(),
    draft: (id) => local.draft(id),
    putDraft: (id, draft) => local.putDraft(id, draft),
    close: () => local.close(),
    changed(id) {
      for (const each of id === '' ? seen.keys() : [id]) foreign.add(each)
      local.changed?.(id)
    },
  }
}
