import { parseNetwork, type Network } from '../../base/ip-address.ts'
import type { Access } from '../../formats/access.ts'
import { LedgerUnavailable, type KeyMark, type KeyPerson, type KeyTable, type StoredKey } from '../../ledger/ledger.ts'
import { callerOfKey, type Caller } from '../person.ts'
import { isFileLine, storedFileKey, type FileKey } from './file-key.ts'
import { parseStoredGrants, type Grants } from './grants.ts'
import { hashOfKey, isWellFormed, type FormedKey, type KeyKind } from './key-form.ts'
import { kindOf } from './manage-keys.ts'

/** A key that is in use. */
export interface KnownKey {
  readonly id: number
  /** Unix milliseconds; infinity: never. */
  readonly expires: number
  /** Addresses of clients; `undefined`: all. */
  readonly networks: readonly Network[] | undefined
  readonly caller: Caller
  /** The person that made it for themselves. */
  readonly person: KeyPerson | undefined
  /** Name of the team that it belongs to. */
  readonly team: string | undefined
  /** The minute of its last use, in Unix milliseconds. */
  usedAt: number
}

/** All keys in use, in memory. */
export interface KeyBook {
  /**
   * Finds a key, well-formed or not. A promise only after a change of the keys, which is read first: an ended key is
   * not found as soon as its end was answered.
   *
   * @throws {LedgerUnavailable} the keys have changed, and the change cannot be read
   */
  find(key: FormedKey): KnownKey | undefined | Promise<KnownKey | undefined>
  /** A key of access.json. */
  inFile(key: FileKey): KnownKey | undefined
  /** A person as the keys have them; `undefined`: no key in use is theirs. @param id of the person */
  person(id: string): KeyPerson | undefined
  /**
   * Names of keys in access.json that the database has, too: there they may have ended, so the database counts.
   *
   * @throws {LedgerUnavailable}
   */
  shadowed(): Promise<readonly string[]>
}

export interface BookOptions {
  readonly table: Pick<KeyTable, 'stamp' | 'changes' | 'mayBeAway'>
  /** The keys in access.json. Another array is read anew. */
  readonly fileKeys: () => readonly FileKey[]
  /** Called for a key whose stored grants cannot be read: it is left out. */
  readonly onFault: (id: number, error: unknown) => void
}

/** Most different grants that are kept for further keys. */
const grantedMax = 10_000

/** Loads the keys of a table. Keys in access.json are found beside them. */
export async function keyBook({ table, fileKeys, onFault }: BookOptions): Promise<KeyBook> {
  const known = new Map<string, KnownKey>()
  /** Hashes of ended keys. */
  const ended = new Set<string>()
  const inFile = new Map<string, KnownKey>()
  let readFileKeys: readonly FileKey[] = []
  /** By their ids. */
  const people = new Map<string, KeyPerson>()
  /** Most keys have the same grants as many others. */
  const granted = new Map<string, Granted>()
  let mark: KeyMark | undefined
  let seen: number | undefined
  let loading: Promise<void> | undefined

  async function load(): Promise<void> {
    // Read first: a change during the load makes the next comparison differ.
    const stamp = table.stamp()
    const changes = await table.changes(mark)
    if (changes.isWhole) for (const all of [known, ended, granted, people]) all.clear()
    for (const key of changes.keys) take(key)
    mark = changes.mark
    seen = stamp
  }

  function take(key: StoredKey): void {
    known.delete(key.hash)
    if (isFileLine(key.line)) return
    if (key.ended !== undefined) {
      ended.add(key.hash)
      return
    }
    if (key.person !== undefined) people.set(key.person.id, key.person)
    try {
      known.set(key.hash, knownKey(key, grantedTo(key)))
    } catch (error) {
      onFault(key.id, error)
    }
  }

  function grantedTo(key: StoredKey): Granted {
    const kind = kindOf(key)
    const id = `${kind} ${key.grants}`
    const found = granted.get(id) ?? compiled(parseStoredGrants(key.grants, kind))
    // Those of ended keys go, too: keys have their own.
    if (granted.size >= grantedMax) granted.clear()
    granted.set(id, found)
    return found
  }

  function found(hash: string, kind: KeyKind): KnownKey | undefined {
    const ofFile = keysInFile()
    return known.get(hash) ?? (kind === 'program' && !ended.has(hash) ? ofFile.get(hash) : undefined)
  }

  function keysInFile(): ReadonlyMap<string, KnownKey> {
    const keys = fileKeys()
    if (keys === readFileKeys) return inFile
    readFileKeys = keys
    inFile.clear()
    for (const key of keys) {
      const stored = storedFileKey(key)
      inFile.set(key.hash, knownKey(stored, grantedTo(stored)))
    }
    return inFile
  }

  async function upToDate(): Promise<void> {
    while (table.stamp() !== seen) {
      loading ??= load().finally(() => {
        loading = undefined
      })
      await loading
    }
  }

  try {
    await upToDate()
  } catch (error) {
    // Until its server can be read, each key is answered with this error.
    if (table.mayBeAway !== true || !(error instanceof LedgerUnavailable)) throw error
  }
  return {
    find(key) {
      const hash = hashOfKey(key)
      if (table.stamp() === seen) return found(hash, key.kind)
      // For a typing error nothing is read.
      return isWellFormed(key) ? upToDate().then(() => found(hash, key.kind)) : undefined
    },
    inFile: ({ hash }) => keysInFile().get(hash),
    person: (id) => people.get(id),
    async shadowed() {
      await upToDate()
      return fileKeys().flatMap(({ hash, name }) => (known.has(hash) || ended.has(hash) ? [name] : []))
    },
  }
}

/** Grants, ready for comparisons. */
interface Granted extends Pick<KnownKey, 'networks'> {
  readonly grants: Grants
  readonly access: Access
}

function compiled(grants: Grants): Granted {
  const networks = grants.networks?.flatMap((network) => parseNetwork(network) ?? [])
  return { networks, grants, access: accessOf(grants) }
}

function knownKey(stored: StoredKey, granted: Granted): KnownKey {
  const { id, name, expires, used = 0, person, team } = stored
  const { networks, access, grants } = granted
  const keyFacts = { id, name, ...(expires === undefined ? {} : { expires }), grants }
  // No person has such a name: a key never counts as the user whose name it was given.
  const caller = { ...callerOfKey(stored), name: `key:${name}`, access, keyFacts }
  return { id, expires: expires ?? Number.POSITIVE_INFINITY, networks, caller, person, team, usedAt: used }
}

function accessOf({ models, providers, scopes }: Grants): Access {
  const mayDo = new Set(scopes)
  const exact = new Set(models?.filter((name) => !name.endsWith('*')).map((name) => name.toLowerCase()))
  const beginnings = models?.flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1).toLowerCase()] : [])) ?? []
  const ids = providers === undefined ? undefined : new Set(providers)
  return {
    mayDo: (scope) => mayDo.has(scope),
    mayUseModel(name) {
      if (models === undefined) return true
      // As in the directory of models, names differ by more than their case.
      const asked = name.toLowerCase()
      return exact.has(asked) || beginnings.some((beginning) => asked.startsWith(beginning))
    },
    mayUseProvider: (id) => ids?.has(id) ?? true,
  }
}
