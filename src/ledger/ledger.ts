import type { Person } from '../people/person.ts'
import type { Store, StoreOptions } from '../stores/store.ts'
import type { Statement, Work, WorkRow } from './work.ts'

/*
 * The database of a service: facts that outlive it. `open-ledger.ts` opens `svc.db`, or `postgres/` a database for
 * several machines. Keys and their changes are written by the process that changes them, and reach others by a stamp in
 * shared memory (`change-stamp.ts`). Use is written by one thread: a record becomes charges (`use/charges.ts`), waits
 * in a queue (`use/use-recorder.ts`), and the thread adds sums, which are the truth, and rows, which may be lost
 * (`use/use-store.ts`). `use/search-requests.ts` finds rows, `use/read-use.ts` reads sums. `people/` exports and
 * forgets a person, `content/` keeps content of requests, `history/` conversations. Migrations are numbered steps; a
 * released one never changes.
 */

/** The database of a service: facts that outlive it (docs/decisions/0017-keys-and-the-ledger.md). */
export interface Ledger {
  /** Changes through it are recorded as made on the command line. */
  readonly keys: KeyTable
  /** The same keys; their changes are recorded as made by this way. @param onEntry called after each change */
  keysVia(via: ChangeVia, onEntry: (entry: AuditMark) => void): KeyTable
  readonly audit: AuditTable
  /** Records a change of something that is not in the database. @throws {LedgerUnavailable} */
  record(change: NewEntry): Promise<AuditMark>
  /** Opens a store of values that outlive the service. */
  readonly lasting: OpenLastingStore
  /** Opens the people, for a command. */
  people(): Promise<PersonDatabase>
  close(): Promise<void>
}

/**
 * Opens a store in the database, whose values outlive the service. The same name opens the same store.
 *
 * @param now Unix milliseconds
 */
export type OpenLastingStore = <Value>(name: string, options: StoreOptions<Value>, now: () => number) => Store<Value>

/** A key as it is stored. Times are Unix milliseconds. */
export interface StoredKey {
  /** From 1, in the order of making. */
  readonly id: number
  /** The id of the first key of its line: a key and its successors by rotation. */
  readonly line: number
  /** SHA-256 in base64. */
  readonly hash: string
  /** The beginning and the end of the key. */
  readonly hint: string
  readonly name: string
  readonly kind: string
  readonly made: number
  /** Name of the user, or `command line`. */
  readonly madeBy: string
  /** From then on it is refused. */
  readonly expires?: number
  /** It was ended by hand. */
  readonly ended?: number
  readonly endedBy?: string
  /** Its last use, to the minute. */
  readonly used?: number
  /** JSON. */
  readonly grants: string
  /** Absent: it belongs to no person. */
  readonly person?: KeyPerson
  /** Name of the team that it belongs to. Such a key has no person. */
  readonly team?: string
}

/** Whose keys are listed and counted together: a person, by id, or a team, by name. */
export type KeyOwner = { readonly person: string } | { readonly team: string }

/** The person that made a key for themselves, as they last signed in. */
export interface KeyPerson extends Person {
  /** When the person was last there, signed in; Unix milliseconds. */
  readonly seen: number
}

/** A key to be stored. */
export type NewKey = Omit<StoredKey, 'id' | 'line' | 'ended' | 'endedBy' | 'used'>

/** A state of the table: a file, and the number of its last change. */
export interface KeyMark {
  readonly file: number
  readonly version: number
}

/** The keys that changed between two states of the table. */
export interface KeyChanges {
  readonly mark: KeyMark
  /** These are all keys of the table: the file was replaced, or there was no earlier state. */
  readonly isWhole: boolean
  readonly keys: readonly StoredKey[]
}

/** When and by whom. */
export interface Ending {
  readonly at: number
  readonly by: string
}

/**
 * Why a key gets no successor: there is no such key; it has ended or expired; it has a successor already; it belongs to
 * a person, and only they make keys that act as them.
 */
export type NoSuccessor = 'unknown' | 'over' | 'replaced' | 'personal'

/** All keys. Methods reject with {@link LedgerUnavailable} when the database cannot be used. */
export interface KeyTable {
  /** The database is a server that may be away at the start: then all keys are refused until it can be read. */
  readonly mayBeAway?: true
  /**
   * Differs after each change that any process of this machine has made. Reads memory, in nanoseconds. A change returns
   * to its caller only when the number differs in all processes. -1: the keys must be read again, which may fail.
   */
  stamp(): number
  /** Keys that changed after a state. @param mark default: none, which gives all keys */
  changes(mark?: KeyMark): Promise<KeyChanges>
  find(id: number): Promise<StoredKey | undefined>
  /** @param after an id. @returns keys with larger ids, in their order; those below 0 are names of lines */
  list(after: number, limit: number): Promise<readonly StoredKey[]>
  /** The newest keys of a person or a team, newest first. */
  listOf(owner: KeyOwner, limit: number): Promise<readonly StoredKey[]>
  /**
   * @param most keys of its person or team that may be in use at a time. Default: no limit
   * @throws {LedgerFull}
   */
  add(key: NewKey, most?: number): Promise<StoredKey>
  /** Notes that a person was there, in all keys of that person that have not ended. */
  notePerson(person: KeyPerson): Promise<void>
  /**
   * Adds a successor in the same line, and lets the key expire.
   *
   * @param expires of the key that is replaced, unless it expires earlier
   * @param most keys of its team that may be in use at a time, with both. Default: no limit
   * @returns the successor, or why there is none
   * @throws {LedgerFull}
   */
  replace(id: number, successor: NewKey, expires: number, most?: number): Promise<StoredKey | NoSuccessor>
  /** Ends a key for good. A repeated end changes nothing. @returns the key; `undefined`: there is none */
  end(id: number, ending: Ending): Promise<StoredKey | undefined>
  /**
   * Stores the name of a line whose keys are in access.json, for lists of use and their filters. It has no key. A
   * repeated call changes nothing.
   *
   * @param line below 0
   */
  nameLine(line: number, name: string): Promise<void>
  /** Times of last use of some ids, of keys or of names of lines; without those that have none. */
  uses(ids: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** Stores times of last use: id → time. */
  noteUses(uses: ReadonlyMap<number, number>): Promise<void>
}

/** The way by which a change was made. */
export type ChangeVia = 'command line' | 'v1/keys' | 'page' | 'file'

/** A change to be recorded. */
export interface NewEntry {
  /** Unix milliseconds. */
  readonly time: number
  /** Name of the user, `command line`, or `file` for an edited file. */
  readonly actor: string
  readonly via: ChangeVia
  readonly action:
    | 'key.made'
    | 'key.rotated'
    | 'key.ended'
    | 'use.repriced'
    | 'person.exported'
    | 'person.forgotten'
    | 'file.changed'
    | 'content.read'
  /**
   * Id of the key; the name of the model whose use was priced anew; number of the person, without use 0; name of the
   * file; id of the request whose content was read.
   */
  readonly object: string
  /** Facts before the change, without secrets and names of people. */
  readonly before?: object
  readonly after?: object
}

/** A recorded change. */
export interface AuditEntry extends Omit<NewEntry, 'actor' | 'via' | 'action' | 'before' | 'after'> {
  /** From 1, without gaps. */
  readonly seq: number
  /** Absent: forgotten. */
  readonly actor?: string
  readonly via: string
  readonly action: string
  /** JSON. */
  readonly before?: string
  /** JSON. */
  readonly after?: string
  /** SHA-256 in hexadecimal of the chain before, and of this entry. */
  readonly chain: string
}

/** A recorded change, with the actor's salted hash. */
export interface ChainedEntry extends AuditEntry {
  readonly actorSalt?: string
  readonly actorHash: string
}

/** Number and chain of an entry. */
export type AuditMark = Pick<AuditEntry, 'seq' | 'chain'>

/** All changes. An entry is written in the transaction of its change. Rejects with {@link LedgerUnavailable}. */
export interface AuditTable {
  /** @returns entries with smaller numbers, newest first */
  list(before: number, limit: number): Promise<readonly ChainedEntry[]>
  /** @returns entries with larger numbers, in their order */
  slice(after: number, limit: number): Promise<readonly ChainedEntry[]>
  /** @returns the largest number that was ever given */
  given(): Promise<number>
  /** Names of keys, which are in no entry. A key whose row is gone has none. */
  keyNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
}

/** A database, as people are found, exported and forgotten in it. Rejects with {@link LedgerUnavailable}. */
export interface PersonDatabase {
  /** Reads keys, changes, names and sums. */
  read(statement: Statement): Promise<readonly WorkRow[]>
  /** Performs a statement on requests, attempts and content. */
  inRequests(statement: Statement): Promise<readonly WorkRow[]>
  /**
   * Performs work and appends the entry that it returns to the audit, in one transaction. Running services have changed
   * keys before it returns, as after other changes of keys.
   */
  change(work: (version: number) => Work<NewEntry>): Promise<void>
  /** Overwrites the bytes of deleted and changed rows. */
  erase(): Promise<void>
  close(): Promise<void>
}

/** The database cannot be used now. The message names the file, the cause and the way out. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
}

/** The server of the database is there, and refuses: a setting is wrong. */
export class LedgerRefused extends LedgerUnavailable {}

/** A newer version of svc has changed the database: this version must not use it. */
export class LedgerTooNew extends Error {
  override readonly name = 'LedgerTooNew'
}

/** The table is at its limit of keys. */
export class LedgerFull extends Error {
  override readonly name = 'LedgerFull'
}
