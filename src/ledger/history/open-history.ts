import { dirname, join } from 'node:path'
import type { Person } from '../../people/person.ts'
import type { LedgerPlace } from '../ledger-place.ts'
import { LedgerRefused, LedgerUnavailable } from '../ledger.ts'
import { openFileHistory } from './file-history.ts'
import { importKey, newKeyBytes, type OwnerKey, type OwnerKeys } from './history-key.ts'
import {
  conversationBytesMax,
  HistoryKeyWrong,
  type History,
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
export async function openHistory({
  place,
  keys,
  isService,
  mayBeNewer = false,
  onRotated = () => undefined,
  bounds = personBounds,
  now = Date.now,
}: HistoryOptions): Promise<History> {
  const database = await openHistoryDatabase(place, mayBeNewer)
  let checked: Promise<void> | undefined

  /** Checks the keys once. A failure is not kept: the server may come back. */
  async function ready(): Promise<void> {
    checked ??= rotate(database, keys).then((people) => {
      if (people > 0) onRotated(people)
    })
    try {
      await checked
    } catch (error) {
      checked = undefined
      throw error
    }
  }

  /** @throws {LedgerUnavailable} a process with another key has stored the person meanwhile */
  function dataKey(person: OwnerRow): Promise<CryptoKey> {
    return dataKeyOf(person, keys)
  }

  async function personFor(person: Person): Promise<OwnerRow> {
    await ready()
    const known = await database.read(() => findOwner(person.id))
    if (known === undefined) return await addedPerson(person)
    const { name } = person
    const account = accountOf(person)
    if (known.name !== name || known.account !== account)
      await database.write(() => renamePerson(known, { name, account }))
    return known
  }

  async function addedPerson(person: Person): Promise<OwnerRow> {
    const sealedKey = await seal(keys.current.key, newKeyBytes(), keyContext(person.id))
    await database.write(() => addPerson({ ...person, account: accountOf(person), keyId: keys.current.id, sealedKey }))
    const added = await database.read(() => findOwner(person.id))
    if (added === undefined) throw forgottenMeanwhile()
    return added
  }

  async function write(person: Person, { id, base, text }: WrittenConversation): Promise<WriteOutcome> {
    const owner = await personFor(person)
    const content = await sealText(await dataKey(owner), text, conversationContext(owner, id))
    const size = Buffer.byteLength(text)
    const sealed = { id, base, size, content, written: now() }
    const outcome = await database.write(() => writeConversation(owner.number, sealed, bounds))
    if (outcome.kind === 'gone') throw forgottenMeanwhile()
    return outcome
  }

  /** One that cannot be read, also for want of its person's key, stays, and the sweep goes on. */
  async function mayBeRemoved({ owner, id }: StaleConversation, isPinned: PinReader): Promise<boolean> {
    const sealed = await database.read(() => readConversations(owner.number, [id]))
    try {
      const [found] = await opened(owner, await dataKey(owner), sealed)
      if (found === undefined || found.fault !== undefined) return false
      return !(await isPinned(found.text))
    } catch {
      return false
    }
  }

  async function sweep(before: number, isPinned: PinReader): Promise<number> {
    await ready()
    let removed = 0
    for (;;) {
      const stale = await database.read(() => staleConversations(before))
      if (stale.length === 0) return removed
      for (const each of stale) {
        if (!(await mayBeRemoved(each, isPinned)))
          await database.write(() => spareConversation(each, Math.max(before, now())))
        else {
          const { owner, id, version: base } = each
          const { kind } = await database.write(() => removeConversation(owner.number, { id, base }, bounds))
          if (kind === 'written') removed += 1
        }
      }
    }
  }

  try {
    await ready()
  } catch (error) {
    const isAway = error instanceof LedgerUnavailable && !(error instanceof LedgerRefused) && place.kind === 'server'
    if (!isService || !isAway) {
      await database.close()
      throw error
    }
  }
  return {
    async changes(person, options) {
      await ready()
      return await database.read(() => listChanges(person, options))
    },
    async read(person, ids) {
      await ready()
      const owner = await database.read(() => findOwner(person))
      if (owner === undefined) return []
      const found = await database.read(() => readConversations(owner.number, ids))
      return await opened(owner, await dataKey(owner), found)
    },
    write,
    async remove(person, id, base) {
      await ready()
      const owner = await database.read(() => findOwner(person))
      if (owner === undefined) return { kind: 'written', version: 0 }
      return await database.write(() => removeConversation(owner.number, { id, base }, bounds))
    },
    async clear(person, until) {
      await ready()
      const owner = await database.read(() => findOwner(person))
      if (owner !== undefined) await database.write(() => clearConversations(owner.number, until))
    },
    sweep,
    lastWritten: () => database.read(lastWritten),
    close: () => database.close(),
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
