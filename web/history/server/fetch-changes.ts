import type { HistoryAnswer, HistoryEntry } from '../../../src/http/page/page-api.ts'
import { idsAtOnce, type HistoryClient } from './history-client.ts'
import type { SyncState } from './sync-records.ts'
import { withoutVersion, type SyncedCopy } from './synced-copy.ts'

/** Fetches the conversations that others changed. */
export class ChangeFetcher {
  readonly #copy: SyncedCopy
  readonly #client: HistoryClient
  /** Days without a change after which the service deletes conversations; `undefined`: never, or not known yet. */
  days: number | undefined
  /** The changes were never fetched. Then those that could not be read are read again: a key may be right now. */
  isFirst = true

  constructor(copy: SyncedCopy, client: HistoryClient) {
    this.#copy = copy
    this.#client = client
  }

  async run(): Promise<void> {
    const { records } = this.#copy
    const before = await records.state()
    const first = await this.#client.changes(before.cursor, before.cursor === 0)
    this.days = first.days
    const isWhole = (await this.#isAnew(before, first)) || first.isTooOld || before.cursor === 0
    const { database, person, last } = first
    const entries = await this.#allEntries(
      isWhole && before.cursor !== 0 ? await this.#client.changes(0, true) : first,
      isWhole,
    )
    const known = new Map((await records.all()).map((record) => [record.id, record]))
    const there = new Set(entries.flatMap(({ id, isRemoved }) => (isRemoved ? [] : [id])))
    const gone = isWhole ? [...known.keys()] : entries.map(({ id }) => id)
    for (const id of gone) if (!there.has(id) && (known.get(id)?.version ?? 0) > 0) await this.#copy.remove(id)
    const wanted = entries.filter(({ id, version }) => there.has(id) && known.get(id)?.version !== version)
    const again = this.isFirst ? [...known.values()].flatMap(({ id, isUnreadable }) => (isUnreadable ? [id] : [])) : []
    // The newest first: they are at the top of the list.
    await this.#fetchAll([...wanted.map(({ id }) => id).toReversed(), ...again])
    this.isFirst = false
    await this.#copy.changeState((state) => ({ ...state, database, person, cursor: last }))
  }

  /** Whether the service has another database or person than before, so that versions mean nothing any more. */
  async #isAnew(before: SyncState, { database, last, person }: HistoryAnswer): Promise<boolean> {
    if (database !== before.database || last < before.cursor) {
      // Everything is sent again.
      if (before.database !== '')
        await this.#copy.changeAll((record) => {
          if (record.isRemoved === true) return undefined
          return record.isLocal === true ? record : { ...withoutVersion(record), unsent: record.unsent + 1 }
        })
      return true
    }
    if (before.person === 0 || before.person === person) return false
    // The person was forgotten at the service.
    for (const { id, version } of await this.#copy.records.all()) if (version > 0) await this.#copy.remove(id)
    return true
  }

  async #allEntries(first: HistoryAnswer, isWhole: boolean): Promise<readonly HistoryEntry[]> {
    const entries = [...first.entries]
    for (let isCut = first.isCut; isCut;) {
      const next = await this.#client.changes(entries.at(-1)?.version ?? 0, isWhole)
      entries.push(...next.entries)
      isCut = next.isCut
    }
    return entries
  }

  async #fetchAll(ids: readonly string[]): Promise<void> {
    const left = new Set(ids)
    while (left.size > 0) {
      const asked = [...left].slice(0, idsAtOnce)
      const found = await this.#client.read(asked)
      for (const { id, version, conversation } of found) {
        left.delete(id)
        await this.#copy.merge(id, version, conversation)
      }
      // None of them is there any more.
      if (found.length === 0) for (const id of asked) left.delete(id)
    }
  }
}
