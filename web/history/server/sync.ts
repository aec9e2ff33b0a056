import type { HistoryAnswer, HistoryEntry } from '../../../src/http/page/page-api.ts'
import { ApiError, Unreachable } from '../../api/client.ts'
import { createStore, type Store } from '../../store.ts'
import type { Conversation } from '../conversation.ts'
import type { HistoryBackend } from '../history-backend.ts'
import { parseConversation } from '../parse-conversation.ts'
import { idsAtOnce, type HistoryClient } from './history-client.ts'
import { commonOf, isSame, mergeConversations } from './merge-conversations.ts'
import type { SyncRecord, SyncRecords, SyncState } from './sync-records.ts'

/** How far this browser and the service are. */
export interface SyncStatus {
  readonly kind:
    | 'working'
    /** Everything is sent. */
    | 'done'
    /** The service was not reached, or cannot store conversations now. */
    | 'away'
    /** The service does not store conversations any more, or the session has ended. */
    | 'off'
  /** Changes that are not sent yet. */
  readonly unsent: number
  /** Conversations that the service refuses as too large. */
  readonly refused: number
  /** Conversations from before, of which the person has not decided whether they are uploaded. */
  readonly undecided: number
  /** Conversations from before that the person keeps in this browser. They can be uploaded later. */
  readonly kept: number
  /** Conversations at the service that cannot be read; 0 after {@link Synchronizer.hideUnreadable}. */
  readonly unreadable: number
  /** The conversations of the service were fetched at least once. */
  readonly isFetched: boolean
  /** Days without a change after which the service deletes conversations; `undefined`: never, or not known yet. */
  readonly days: number | undefined
}

export interface SyncOptions {
  /** The copy in this browser. */
  readonly local: HistoryBackend
  readonly records: SyncRecords
  readonly client: HistoryClient
  /** Called when the copy was changed. @param id of the conversation; empty: several */
  readonly onChange: (id: string) => void
  /** Runs one change of copy and records at a time, over all tabs. */
  readonly exclusively: Exclusively
}

/** Runs works of one name one after the other. */
export type Exclusively = <Result>(name: 'change' | 'sync', work: () => Promise<Result>) => Promise<Result>

/** Sends and fetches conversations. */
export interface Synchronizer {
  readonly status: Store<SyncStatus>
  /** Finds conversations that were changed without records, such as those from before. Called once, first. */
  prepare(): Promise<void>
  /** Fetches what others changed, and sends what changed here. Never rejects. @returns whether everything is sent */
  run(): Promise<boolean>
  /** Uploads the conversations from before, or keeps them in this browser. */
  decide(isUploaded: boolean): Promise<void>
  /** Leaves out the conversations that cannot be read from the status, until there are more. */
  hideUnreadable(): Promise<void>
}

/** A conversation that changes at the service again and again is sent at the next run. */
const roundsMax = 5

/** Creates a synchronizer (docs/decisions/0031-history-on-the-server.md). */
export function synchronizer({ local, records, client, onChange, exclusively }: SyncOptions): Synchronizer {
  const status = createStore<SyncStatus>({
    kind: 'working',
    unsent: 0,
    refused: 0,
    undecided: 0,
    kept: 0,
    unreadable: 0,
    isFetched: true,
    days: undefined,
  })
  let days: number | undefined
  /** Conversations that could not be read are read again once, since the owner may have set the right key. */
  let isFirstPull = true

  async function show(kind: SyncStatus['kind']): Promise<void> {
    const [all, { isKeptHere, cursor, unreadableHidden = 0 }] = await Promise.all([records.all(), records.state()])
    const unreadable = all.filter(({ isUnreadable }) => isUnreadable === true).length
    const local = all.filter(({ isLocal }) => isLocal === true).length
    status.set({
      kind,
      unsent: all.filter((record) => isToSend(record)).length,
      refused: all.filter(({ isRefused }) => isRefused === true).length,
      undecided: isKeptHere === true ? 0 : local,
      kept: isKeptHere === true ? local : 0,
      unreadable: unreadable > unreadableHidden ? unreadable : 0,
      isFetched: cursor > 0 || !isFirstPull,
      days,
    })
  }

  // Fetching.

  async function pull(): Promise<void> {
    const before = await records.state()
    const first = await client.changes(before.cursor, before.cursor === 0)
    days = first.days
    const isWhole = (await isAnew(before, first)) || first.isTooOld || before.cursor === 0
    const { database, person, last } = first
    const entries = await allEntries(isWhole && before.cursor !== 0 ? await client.changes(0, true) : first, isWhole)
    const known = new Map((await records.all()).map((record) => [record.id, record]))
    const there = new Set(entries.flatMap(({ id, isRemoved }) => (isRemoved ? [] : [id])))
    const gone = isWhole ? [...known.keys()] : entries.map(({ id }) => id)
    for (const id of gone) if (!there.has(id) && (known.get(id)?.version ?? 0) > 0) await applyRemoval(id)
    const wanted = entries.filter(({ id, version }) => there.has(id) && known.get(id)?.version !== version)
    const again = isFirstPull ? [...known.values()].flatMap(({ id, isUnreadable }) => (isUnreadable ? [id] : [])) : []
    // The newest first: they are at the top of the list.
    await fetchAll([...wanted.map(({ id }) => id).toReversed(), ...again])
    isFirstPull = false
    await exclusively('change', async () => {
      await records.putState({ ...(await records.state()), database, person, cursor: last })
    })
  }

  /** Whether the service has another database or person than before, so that versions mean nothing any more. */
  async function isAnew(before: SyncState, { database, last, person }: HistoryAnswer): Promise<boolean> {
    if (database !== before.database || last < before.cursor) {
      if (before.database !== '') await forgetVersions()
      return true
    }
    if (before.person === 0 || before.person === person) return false
    await removeKnown()
    return true
  }

  async function allEntries(first: HistoryAnswer, isWhole: boolean): Promise<readonly HistoryEntry[]> {
    const entries = [...first.entries]
    for (let isCut = first.isCut; isCut;) {
      const next = await client.changes(entries.at(-1)?.version ?? 0, isWhole)
      entries.push(...next.entries)
      isCut = next.isCut
    }
    return entries
  }

  async function fetchAll(ids: readonly string[]): Promise<void> {
    const left = new Set(ids)
    while (left.size > 0) {
      const asked = [...left].slice(0, idsAtOnce)
      const found = await client.read(asked)
      for (const { id, version, conversation } of found) {
        left.delete(id)
        await apply(id, version, conversation)
      }
      // None of them is there any more.
      if (found.length === 0) for (const id of asked) left.delete(id)
    }
  }

  /** Takes over a state of the service. Of one that cannot be read only the version is noted. */
  async function apply(id: string, version: number, value: unknown): Promise<void> {
    const parsed = parseConversation(value)
    await exclusively('change', async () => {
      const record = await records.get(id)
      if (parsed.kind === 'damaged' || parsed.value.id !== id)
        return await records.put({ ...(record ?? noRecord(id)), version, isUnreadable: true })
      const other = parsed.value
      const mine = await local.get(id)
      const isOurs = mine !== undefined && (record === undefined || record.unsent > 0 || record.isLocal === true)
      const next = isOurs ? mergeConversations(mine, other, record?.common) : other
      if (mine === undefined || !isSame(mine, next)) await local.put(next, false)
      await records.put({
        ...{ id, version, common: commonOf(other), updated: next.updated },
        unsent: isOurs && !isSame(next, other) ? Math.max(1, record?.unsent ?? 0) : 0,
      })
    })
    onChange(id)
  }

  /** Removes a conversation that others have removed, unless it was changed here meanwhile. */
  async function applyRemoval(id: string): Promise<void> {
    await exclusively('change', async () => {
      const record = await records.get(id)
      if (record !== undefined && record.unsent > 0 && record.isRemoved === undefined)
        return await records.put({ ...record, version: 0, common: undefined })
      await local.remove(id)
      await records.remove(id)
    })
    onChange(id)
  }

  /** The service has another database, or an earlier state of it: everything is sent again. */
  async function forgetVersions(): Promise<void> {
    await exclusively('change', async () => {
      for (const record of await records.all())
        if (record.isRemoved === true) await records.remove(record.id)
        else if (record.isLocal === undefined)
          await records.put({ ...record, version: 0, common: undefined, unsent: record.unsent + 1 })
    })
  }

  /** The person was forgotten at the service. */
  async function removeKnown(): Promise<void> {
    for (const { id, version } of await records.all()) if (version > 0) await applyRemoval(id)
  }

  // Sending.

  async function clearThere(): Promise<void> {
    const state = await records.state()
    if (state.clearUntil === undefined) return
    await client.clear(state.clearUntil)
    await exclusively('change', async () => {
      const now = await records.state()
      if (now.clearUntil === state.clearUntil) await records.putState({ ...now, clearUntil: undefined })
    })
  }

  /** @returns whether others have changed something meanwhile */
  async function push(): Promise<boolean> {
    let isBehind = false
    for (const { id } of (await records.all()).filter(isToSend)) {
      const record = await records.get(id)
      if (record !== undefined && isToSend(record)) isBehind = (await send(record)) || isBehind
    }
    return isBehind
  }

  /** @returns whether the service has another version */
  async function send(record: SyncRecord): Promise<boolean> {
    const { id, version, unsent } = record
    if (record.isRemoved === true) {
      const isDone = version === 0 || (await client.remove(id, version))
      await exclusively('change', async () => {
        const now = await records.get(id)
        if (now?.isRemoved === true) await records.remove(id)
        else if (now !== undefined) await records.put({ ...now, version: 0, common: undefined })
      })
      return !isDone
    }
    const mine = await local.get(id)
    const outcome = mine === undefined ? undefined : await client.write(mine, version)
    if (outcome === 'conflict') return await takeOver(id)
    await exclusively('change', async () => {
      const now = await records.get(id)
      if (now === undefined) {
        // Removed here while it was sent.
        if (typeof outcome === 'number')
          await records.put({ ...noRecord(id), version: outcome, unsent: 1, isRemoved: true })
        return
      }
      const isLatest = now.unsent === unsent
      if (mine === undefined) return isLatest && now.isRemoved === undefined ? await records.remove(id) : undefined
      if (outcome === 'refused') return isLatest ? await records.put({ ...now, isRefused: true }) : undefined
      await records.put({
        ...now,
        ...{ version: outcome ?? version, common: commonOf(mine), unsent: isLatest ? 0 : now.unsent },
        isUnreadable: undefined,
      })
    })
    return false
  }

  /** Merges the version of the service. Without one, ours is to be written as a new one. */
  async function takeOver(id: string): Promise<true> {
    const [found] = await client.read([id])
    if (found !== undefined) await apply(id, found.version, found.conversation)
    else
      await exclusively('change', async () => {
        const now = await records.get(id)
        if (now !== undefined) await records.put({ ...now, version: 0, common: undefined })
      })
    return true
  }

  async function runOnce(): Promise<void> {
    await clearThere()
    await pull()
    for (let round = 0; round < roundsMax && (await push()); round++) await pull()
  }

  return {
    status,
    prepare: () =>
      exclusively('change', async () => {
        const known = new Map((await records.all()).map((record) => [record.id, record]))
        const heads = await local.heads()
        const here = new Set(heads.map(({ id }) => id))
        const lost = [...known.values()].filter(
          ({ id, updated, unsent }) => updated > 0 && unsent === 0 && !here.has(id),
        )
        // The browser has deleted its copy: it is fetched again.
        for (const { id } of lost) await records.remove(id)
        if (lost.length > 0) await records.putState({ ...(await records.state()), cursor: 0 })
        for (const { id, updated } of heads) {
          const record = known.get(id)
          if (record === undefined) await records.put({ ...noRecord(id), updated, isLocal: true })
          else if (record.updated !== updated && record.unsent === 0 && record.isLocal === undefined)
            await records.put({ ...record, updated, unsent: 1 })
        }
      }),
    async run() {
      try {
        await exclusively('sync', async () => {
          await show('working')
          await runOnce()
        })
        await show('done')
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof Unreachable))
          console.error('conversations were not exchanged with the service', error)
        await show(error instanceof ApiError && [401, 403, 404].includes(error.status) ? 'off' : 'away')
      }
      const { kind, unsent } = status.get()
      return kind === 'done' && unsent === 0
    },
    async decide(isUploaded) {
      await exclusively('change', async () => {
        await records.putState({ ...(await records.state()), isKeptHere: isUploaded ? undefined : true })
        if (!isUploaded) return
        for (const { isLocal, ...record } of await records.all())
          if (isLocal === true) await records.put({ ...record, unsent: record.unsent + 1 })
      })
      await show(status.get().kind)
    },
    async hideUnreadable() {
      const { unreadable } = status.get()
      await exclusively('change', async () => {
        await records.putState({ ...(await records.state()), unreadableHidden: unreadable })
      })
      await show(status.get().kind)
    },
  }
}

/** The record of a conversation that the service does not have. */
export function noRecord(id: string): SyncRecord {
  return { id, version: 0, updated: 0, unsent: 0 }
}

function isToSend({ unsent, isLocal, isRefused }: SyncRecord): boolean {
  return unsent > 0 && isLocal === undefined && isRefused === undefined
}

/** Whether an answer of it is running. */
export function isStreaming({ messages }: Conversation): boolean {
  return messages.some((message) => message.role === 'assistant' && message.status === 'streaming')
}
