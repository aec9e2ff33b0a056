import type { Conversation } from '../conversation.ts'
import type { HistoryBackend } from '../history-backend.ts'
import { parseConversation } from '../parse-conversation.ts'
import { commonOf, isSame, mergeConversations } from './merge-conversations.ts'
import type { SyncRecord, SyncRecords, SyncState } from './sync-records.ts'

/** Runs works of one name one after the other. */
export type Exclusively = <Result>(name: 'change' | 'sync', work: () => Promise<Result>) => Promise<Result>

export interface SyncedCopyOptions {
  /** The conversations in this browser. */
  readonly local: HistoryBackend
  readonly records: SyncRecords
  /** Called when the copy was changed. @param id of the conversation; empty: several */
  readonly onChange: (id: string) => void
  /** Runs one change of copy and records at a time, over all tabs. */
  readonly exclusively: Exclusively
}

/** The conversations in this browser with their records, as the exchange with the service changes them. */
export class SyncedCopy {
  readonly local: HistoryBackend
  readonly records: SyncRecords
  readonly exclusively: Exclusively
  readonly #onChange: (id: string) => void

  constructor({ local, records, exclusively, onChange }: SyncedCopyOptions) {
    this.local = local
    this.records = records
    this.exclusively = exclusively
    this.#onChange = onChange
  }

  /** Changes a record. @param change returns the next one; `undefined`: there is none any more */
  async change(id: string, change: (record: SyncRecord | undefined) => SyncRecord | undefined): Promise<void> {
    await this.exclusively('change', async () => {
      const before = await this.records.get(id)
      await this.#write(id, before, change(before))
    })
  }

  /** Changes all records. They are given without what both had, so a changed record has none. */
  async changeAll(change: (record: SyncRecord) => SyncRecord | undefined): Promise<void> {
    await this.exclusively('change', async () => {
      for (const record of await this.records.all()) await this.#write(record.id, record, change(record))
    })
  }

  async #write(id: string, before: SyncRecord | undefined, next: SyncRecord | undefined): Promise<void> {
    if (next === before) return
    if (next === undefined) await this.records.remove(id)
    else await this.records.put(next)
  }

  async changeState(change: (state: SyncState) => SyncState): Promise<void> {
    await this.exclusively('change', async () => {
      await this.records.putState(change(await this.records.state()))
    })
  }

  /** Merges a version of the service. Of one that cannot be read only the version is noted. */
  async merge(id: string, version: number, value: unknown): Promise<void> {
    const parsed = parseConversation(value)
    await this.exclusively('change', async () => {
      const record = await this.records.get(id)
      if (parsed.kind === 'damaged' || parsed.value.id !== id)
        return await this.records.put({ ...(record ?? noRecord(id)), version, isUnreadable: true })
      const other = parsed.value
      const mine = await this.local.get(id)
      const isOurs = mine !== undefined && (record === undefined || record.unsent > 0 || record.isLocal === true)
      const next = isOurs ? mergeConversations(mine, other, record?.common) : other
      if (mine === undefined || !isSame(mine, next)) await this.local.put(next, false)
      await this.records.put({
        ...{ id, version, common: commonOf(other), updated: next.updated },
        unsent: isOurs && !isSame(next, other) ? Math.max(1, record?.unsent ?? 0) : 0,
      })
    })
    this.#onChange(id)
  }

  /** Removes a conversation that others have removed, unless it was changed here meanwhile. */
  async remove(id: string): Promise<void> {
    await this.exclusively('change', async () => {
      const record = await this.records.get(id)
      if (record !== undefined && record.unsent > 0 && record.isRemoved === undefined)
        return await this.records.put(withoutVersion(record))
      await this.local.remove(id)
      await this.records.remove(id)
    })
    this.#onChange(id)
  }

  /** Finds conversations that were changed without records, such as those from before. */
  async findUnrecorded(): Promise<void> {
    const { local, records } = this
    await this.exclusively('change', async () => {
      const known = new Map((await records.all()).map((record) => [record.id, record]))
      const heads = await local.heads()
      const here = new Set(heads.map(({ id }) => id))
      const lost = [...known.values()].filter(({ id, updated, unsent }) => updated > 0 && unsent === 0 && !here.has(id))
      // The browser has deleted its copy: it is fetched again.
      for (const { id } of lost) await records.remove(id)
      if (lost.length > 0) await records.putState({ ...(await records.state()), cursor: 0 })
      for (const { id, updated } of heads) {
        const record = known.get(id)
        if (record === undefined) await records.put({ ...noRecord(id), updated, isLocal: true })
        else if (record.updated !== updated && record.unsent === 0 && record.isLocal === undefined)
          await records.put({ ...record, updated, unsent: 1 })
      }
    })
  }
}

/** The record of a conversation that the service does not have. */
export function noRecord(id: string): SyncRecord {
  return { id, version: 0, updated: 0, unsent: 0 }
}

/** The record of a conversation that is to be written as a new one. */
export function withoutVersion(record: SyncRecord): SyncRecord {
  return { ...record, version: 0, common: undefined }
}

/** Whether an answer of it is running. */
export function isStreaming({ messages }: Conversation): boolean {
  return messages.some((message) => message.role === 'assistant' && message.status === 'streaming')
}
