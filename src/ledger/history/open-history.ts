import { dirname, join } from 'node:path'
import type { Person } from '../../people/person.ts'
import type { LedgerPlace } from '../ledger-place.ts'
import { LedgerRefused, LedgerUnavailable } from '../ledger.ts'
import { openFileHistory } from './file-history.ts'
import { importKey, newKeyBytes, type OwnerKey, type OwnerKeys } from './history-key.ts'
import {
  conversationBytesMax,
  HistoryKeyWrong,
  type ChangesOptions,
  type History,
  type HistoryChanges,
  type PinReader,
  type StoredConversation,
  type WriteOutcome,
  type WrittenConversation,
} from './history.ts'
import { seal, sealText, unseal, unsealText } from './seal.ts'
import {
  addPerson,
  clearConversations,
  findOwner,
  lastWritten,
  spareConversation,
  listChanges,
  peopleBeyondKey,
  personBounds,
  readConversations,
  removeConversation,
  renamePerson,
  staleConversations,
  storeSealedKey,
  writeConversation,
  type HistoryDatabase,
  type PersonBounds,
  type OwnerRow,
  type SealedConversation,
  type StaleConversation,
} from './works.ts'

export interface HistoryOptions {
  readonly place: LedgerPlace
  readonly keys: OwnerKeys
  /** For a service: a server may be away at the start. */
  readonly isService: boolean
  /** A server with a newer schema is used, too. */
  readonly mayBeNewer?: boolean
  /** The keys of this number of people were sealed with the current key, instead of the one before. */
  readonly onRotated?: (people: number) => void
  /** For tests. */
  readonly bounds?: PersonBounds
  /** Unix milliseconds. For tests. */
  readonly now?: () => number
}

/** Opens the database of conversations, without a key. @throws {LedgerUnavailable} @throws {LedgerTooNew} */
export async function openHistoryDatabase(place: LedgerPlace, mayBeNewer = false): Promise<HistoryDatabase> {
  if (place.kind === 'file') return await openFileHistory(historyPath(place.path))
  const { serverHistory } = await import('./server-history.ts')
  return serverHistory({ url: place.url, mayBeNewer })
}

/** Path of history.db. @param ledgerPath of svc.db */
export function historyPath(ledgerPath: string): string {
  return join(dirname(ledgerPath), 'history.db')
}

/**
 * Opens the conversations of people. Keys of people that are sealed with the owner's key of before are sealed anew.
 *
 * @throws {HistoryKeyWrong} @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { place, keys, isService, mayBeNewer = false, onRotated, bounds = personBounds, now = Date.now } = options
  const database = await openHistoryDatabase(place, mayBeNewer)
  const history = new OpenHistory({ database, keys, onRotated, bounds, now })
  try {
    await history.ready()
  } catch (error) {
    const isAway = error instanceof LedgerUnavailable && !(error instanceof LedgerRefused) && place.kind === 'server'
    if (!isService || !isAway) {
      await database.close()
      throw error
    }
  }
  return history
}

interface OpenHistoryOptions {
  readonly database: HistoryDatabase
  readonly keys: OwnerKeys
  readonly onRotated: HistoryOptions['onRotated'] | undefined
  readonly bounds: PersonBounds
  readonly now: () => number
}

class OpenHistory implements History {
  readonly #database: HistoryDatabase
  readonly #keys: OwnerKeys
  readonly #onRotated: OpenHistoryOptions['onRotated']
  readonly #bounds: PersonBounds
  readonly #now: () => number
  #checked: Promise<void> | undefined

  constructor({ database, keys, onRotated, bounds, now }: OpenHistoryOptions) {
    this.#database = database
    this.#keys = keys
    this.#onRotated = onRotated
    this.#bounds = bounds
    this.#now = now
  }

  /** Checks the keys once. A failure is not kept: the server may come back. */
  async ready(): Promise<void> {
    this.#checked ??= rotate(this.#database, this.#keys).then((people) => {
      if (people > 0) this.#onRotated?.(people)
    })
    try {
      await this.#checked
    } catch (error) {
      this.#checked = undefined
      throw error
    }
  }

  async changes(person: string, options: ChangesOptions): Promise<HistoryChanges> {
    await this.ready()
    return await this.#database.read(() => listChanges(person, options))
  }

  async read(person: string, ids: readonly string[]): Promise<readonly StoredConversation[]> {
    await this.ready()
    const owner = await this.#database.read(() => findOwner(person))
    if (owner === undefined) return []
    const found = await this.#database.read(() => readConversations(owner.number, ids))
    return await opened(owner, await this.#dataKey(owner), found)
  }

  async write(person: Person, { id, base, text }: WrittenConversation): Promise<WriteOutcome> {
    const owner = await this.#personFor(person)
    const content = await sealText(await this.#dataKey(owner), text, conversationContext(owner, id))
    const size = Buffer.byteLength(text)
    const sealed = { id, base, size, content, written: this.#now() }
    const outcome = await this.#database.write(() => writeConversation(owner.number, sealed, this.#bounds))
    if (outcome.kind === 'gone') throw forgottenMeanwhile()
    return outcome
  }

  async remove(person: string, id: string, base: number): Promise<WriteOutcome> {
    await this.ready()
    const owner = await this.#database.read(() => findOwner(person))
    if (owner === undefined) return { kind: 'written', version: 0 }
    return await this.#database.write(() => removeConversation(owner.number, { id, base }, this.#bounds))
  }

  async clear(person: string, until: number): Promise<void> {
    await this.ready()
    const owner = await this.#database.read(() => findOwner(person))
    if (owner !== undefined) await this.#database.write(() => clearConversations(owner.number, until))
  }

  async sweep(before: number, isPinned: PinReader): Promise<number> {
    await this.ready()
    let removed = 0
    for (;;) {
      const stale = await this.#database.read(() => staleConversations(before))
      if (stale.length === 0) return removed
      for (const each of stale) {
        if (!(await this.#mayBeRemoved(each, isPinned)))
          await this.#database.write(() => spareConversation(each, Math.max(before, this.#now())))
        else {
          const { owner, id, version: base } = each
          const { kind } = await this.#database.write(() =>
            removeConversation(owner.number, { id, base }, this.#bounds),
          )
          if (kind === 'written') removed += 1
        }
      }
    }
  }

  lastWritten(): Promise<number | undefined> {
    return this.#database.read(lastWritten)
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** @throws {LedgerUnavailable} a process with another key has stored the person meanwhile */
  #dataKey(person: OwnerRow): Promise<CryptoKey> {
    return dataKeyOf(person, this.#keys)
  }

  async #personFor(person: Person): Promise<OwnerRow> {
    await this.ready()
    const known = await this.#database.read(() => findOwner(person.id))
    if (known === undefined) return await this.#addedPerson(person)
    const { name } = person
    const account = accountOf(person)
    if (known.name !== name || known.account !== account)
      await this.#database.write(() => renamePerson(known, { name, account }))
    return known
  }

  async #addedPerson(person: Person): Promise<OwnerRow> {
    const sealedKey = await seal(this.#keys.current.key, newKeyBytes(), keyContext(person.id))
    await this.#database.write(() =>
      addPerson({ ...person, account: accountOf(person), keyId: this.#keys.current.id, sealedKey }),
    )
    const added = await this.#database.read(() => findOwner(person.id))
    if (added === undefined) throw forgottenMeanwhile()
    return added
  }

  /** One that cannot be read, also for want of its person's key, stays, and the sweep goes on. */
  async #mayBeRemoved({ owner, id }: StaleConversation, isPinned: PinReader): Promise<boolean> {
    const sealed = await this.#database.read(() => readConversations(owner.number, [id]))
    try {
      const [found] = await opened(owner, await this.#dataKey(owner), sealed)
      if (found === undefined || found.fault !== undefined) return false
      return !(await isPinned(found.text))
    } catch {
      return false
    }
  }
}

/** The user id, or the user name of a person without one, by which commands find conversations. */
function accountOf({ accountId, name }: Person): string {
  return (accountId ?? name).slice(0, 128)
}

/** The key of a person's conversations. @throws {HistoryKeyWrong} */
export async function dataKeyOf(person: OwnerRow, { current, previous }: OwnerKeys): Promise<CryptoKey> {
  const key = [current, previous].find((each) => each?.id === person.keyId)
  if (key === undefined) throw wrongKey(person, current)
  return await importKey(Uint8Array.from(await unseal(key.key, person.sealedKey, keyContext(person.id))))
}

/** Decrypts conversations of a person. One that cannot be decrypted keeps the others from nothing. */
export async function opened(
  person: OwnerRow,
  key: CryptoKey,
  sealed: readonly SealedConversation[],
): Promise<readonly StoredConversation[]> {
  const found: StoredConversation[] = []
  for (const { id, version, content } of sealed) {
    const options = { context: conversationContext(person, id), bytesMax: conversationBytesMax }
    try {
      found.push({ id, version, text: await unsealText(key, content, options) })
    } catch (error) {
      found.push({ id, version, text: 'null', fault: error instanceof Error ? error.message : String(error) })
    }
  }
  return found
}

/** @returns the number of keys that were sealed anew @throws {HistoryKeyWrong} */
async function rotate(database: HistoryDatabase, { current, previous }: OwnerKeys): Promise<number> {
  let count = 0
  for (let after = 0; ;) {
    const people = await database.read(() => peopleBeyondKey(current.id, after))
    for (const person of people) {
      if (previous?.id !== person.keyId) throw wrongKey(person, current, database.name)
      const bytes = await unseal(previous.key, person.sealedKey, keyContext(person.id))
      const sealedKey = await seal(current.key, Uint8Array.from(bytes), keyContext(person.id))
      await database.write(() => storeSealedKey(person, { keyId: current.id, sealedKey }))
    }
    const last = people.at(-1)
    if (last === undefined) return count
    count += people.length
    after = last.number
  }
}

function wrongKey({ keyId }: OwnerRow, { id }: OwnerKey, name = 'the database'): HistoryKeyWrong {
  return new HistoryKeyWrong(
    `${name} has conversations under the key with the id ${keyId}, and SVC_HISTORY_KEY has the id ${id}: ` +
      'set the key of before as SVC_HISTORY_KEY, or as SVC_HISTORY_KEY_OLD to change it',
  )
}

function forgottenMeanwhile(): LedgerUnavailable {
  return new LedgerUnavailable('the person was forgotten meanwhile')
}

function keyContext(person: string): readonly string[] {
  return ['key', person]
}

function conversationContext({ id }: OwnerRow, conversation: string): readonly string[] {
  return ['conversation', id, conversation]
}
