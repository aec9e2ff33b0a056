import type { IDBPDatabase, openDB } from 'idb'
import { isRecord } from '../../../src/base/json-value.ts'
import { parseCommon, type Common } from './merge-conversations.ts'

/** What the page knows of a conversation at the service. */
export interface SyncRecord {
  readonly id: string
  /** The version at the service that this browser has merged; 0: none. */
  readonly version: number
  /** What both had then; not in {@link SyncRecords.all}. */
  readonly common?: Common | undefined
  /** `updated` of the conversation here, as far as it is known to be sent or noted. */
  readonly updated: number
  /** Number of changes here since the service had the same state; 0: none. */
  readonly unsent: number
  /** Removed here, which the service does not know yet. */
  readonly isRemoved?: true | undefined
  /** It is in this browser only, until its person uploads it. */
  readonly isLocal?: true | undefined
  /** The service has refused it as too large, until it changes. */
  readonly isRefused?: true | undefined
  /** The service cannot decrypt this version, or the page cannot read it. */
  readonly isUnreadable?: true | undefined
}

/** What the page knows of the service. */
export interface SyncState {
  readonly database: string
  readonly person: number
  /** Changes until this number are known. */
  readonly cursor: number
  /** All conversations until this change are to be removed at the service. */
  readonly clearUntil?: number | undefined
  /** The person wants conversations that were here before to stay in this browser. */
  readonly isKeptHere?: true | undefined
  /** Number of conversations that cannot be read of which the person knows. */
  readonly unreadableHidden?: number | undefined
}

/** The state of a page that has never asked. */
export const noState: SyncState = { database: '', person: 0, cursor: 0 }

/** Records of a user, shared by the tabs. */
export interface SyncRecords {
  state(): Promise<SyncState>
  putState(state: SyncState): Promise<void>
  get(id: string): Promise<SyncRecord | undefined>
  put(record: SyncRecord): Promise<void>
  remove(id: string): Promise<void>
  /** All of them, without what both had: there may be thousands. */
  all(): Promise<readonly SyncRecord[]>
  clear(): Promise<void>
  close(): void
}

/** Records in memory, where the browser stores nothing. */
export function memoryRecords(): SyncRecords {
  const records = new Map<string, SyncRecord>()
  let state = noState
  return {
    state: async () => state,
    async putState(next) {
      state = next
    },
    get: async (id) => records.get(id),
    async put(record) {
      records.set(record.id, record)
    },
    async remove(id) {
      records.delete(id)
    },
    all: async () => [...records.values()].map(({ common: _, ...record }) => record),
    async clear() {
      records.clear()
    },
    close() {},
  }
}

const stateKey = 'state'

/** Opens the records of a user, in a database of their own. Falls back to memory. */
export async function openRecords(userId: string, open: typeof openDB): Promise<SyncRecords> {
  try {
    return recordsIn(
      await open(`svc-sync-${userId}`, 1, {
        upgrade(database) {
          database.createObjectStore('records', { keyPath: 'id' })
          database.createObjectStore('common')
          database.createObjectStore('state')
        },
      }),
    )
  } catch {
    return memoryRecords()
  }
}

const both = ['records', 'common'] as const

function recordsIn(database: IDBPDatabase): SyncRecords {
  return {
    async state() {
      return parseState(await database.get('state', stateKey))
    },
    async putState(state) {
      await database.put('state', state, stateKey)
    },
    async get(id) {
      const transaction = database.transaction(both)
      const [value, common] = await Promise.all(both.map((name): unknown => transaction.objectStore(name).get(id)))
      const record = parseRecord(value)
      return record && { ...record, common: parseCommon(common) }
    },
    async put({ common, ...record }) {
      const transaction = database.transaction(both, 'readwrite')
      const commons = transaction.objectStore('common')
      await Promise.all([
        transaction.objectStore('records').put(record),
        common === undefined ? commons.delete(record.id) : commons.put(common, record.id),
        transaction.done,
      ])
    },
    async remove(id) {
      const transaction = database.transaction(both, 'readwrite')
      await Promise.all([...both.map((name) => transaction.objectStore(name).delete(id)), transaction.done])
    },
    async all() {
      return (await database.getAll('records')).flatMap((value) => parseRecord(value) ?? [])
    },
    async clear() {
      const transaction = database.transaction(both, 'readwrite')
      await Promise.all([...both.map((name) => transaction.objectStore(name).clear()), transaction.done])
    },
    close: () => database.close(),
  }
}

function parseState(value: unknown): SyncState {
  if (!isRecord(value) || typeof value['database'] !== 'string') return noState
  const clearUntil = value['clearUntil']
  return {
    database: value['database'],
    person: count(value['person']),
    cursor: count(value['cursor']),
    ...(typeof clearUntil === 'number' ? { clearUntil } : {}),
    ...(value['isKeptHere'] === true ? { isKeptHere: true } : {}),
    ...(count(value['unreadableHidden']) > 0 ? { unreadableHidden: count(value['unreadableHidden']) } : {}),
  }
}

function parseRecord(value: unknown): SyncRecord | undefined {
  if (!isRecord(value) || typeof value['id'] !== 'string') return undefined
  const flag = (name: 'isRemoved' | 'isLocal' | 'isRefused' | 'isUnreadable') =>
    value[name] === true ? { [name]: true } : {}
  return {
    id: value['id'],
    version: count(value['version']),
    updated: count(value['updated']),
    unsent: count(value['unsent']),
    ...flag('isRemoved'),
    ...flag('isLocal'),
    ...flag('isRefused'),
    ...flag('isUnreadable'),
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
