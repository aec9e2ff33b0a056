import type { Host } from '../../extensions/extension.ts'
import type { Ledger, StoredKey } from '../../ledger/ledger.ts'
import type { Person } from '../person.ts'
import type { FileKey } from './file-key.ts'

/** The parts of the service that keys need. */
export interface KeyDependencies {
  /** Opens the database, once for all that ask. @throws if it cannot be used */
  ledger(): Promise<Ledger>
  /**
   * Ceilings of the keys that people make for themselves and their teams; 0 keys: they make none. They change with
   * access.json.
   */
  ownKeys(): OwnKeys
  /** The keys in access.json. They change with the file; the same list is the same array. */
  fileKeys(): readonly FileKey[]
  /** Milliseconds that content of a key's requests is kept; `undefined`: it is not. It changes with access.json. */
  contentKeptMs(key: Pick<StoredKey, 'line' | 'person' | 'team'>): number | undefined
  readonly teams: KeyTeams
  /** Whether a person who has signed in before may sign in now. Reads memory only. */
  mayEnter(person: Person): boolean
}

/** The teams of access.json. They change with the file. */
export interface KeyTeams {
  has(name: string): boolean
  /** The teams whose keys a signed-in user may see, make and end: of a lead those that they lead, of an owner all. */
  managedBy(person: Person): readonly string[]
}

/** Ceilings of the keys that people make. */
export interface OwnKeys {
  /** Keys of one person, or of one team. */
  readonly most: number
  /** Longest life of a key, in days. */
  readonly daysMost: number
}

/** The parts of the service and of the extension's host that keys use. */
export type KeyHost = KeyDependencies & Pick<Host, 'log' | 'now'>
