import type { FoundPerson, WantedPerson } from '../people/find-person.ts'
import { shortened } from '../use/shortened.ts'
import type { OwnerKeys } from './history-key.ts'
import { dataKeyOf, opened } from './open-history.ts'
import {
  conversationIds,
  deletePerson,
  findPeople,
  readConversations,
  type HistoryDatabase,
  type OwnerRow,
} from './works.ts'

/** Conversations of a person, as commands see them. */
export interface HistoryOwner {
  readonly person: OwnerRow
  readonly conversations: readonly string[]
}

const idsAtOnce = 20

/**
 * Finds a person among those with conversations. A user name may have been that of several people, and two identity
 * providers may give the same user id: then `known` decides, by user id and names.
 *
 * @param known the person in the ledger. Default: it does not know them
 */
export async function findHistoryOwners(
  database: HistoryDatabase,
  { by, text }: WantedPerson,
  known?: FoundPerson,
): Promise<readonly HistoryOwner[]> {
  const subject = known?.personId
  const wanted = by === 'id' ? shortened(text) : text
  const found = await database.read(() => (subject === undefined ? findPeople(by, wanted) : findPeople('id', subject)))
  const exact = found.filter(({ id }) => id === subject || (by === 'id' && id === text))
  const named = by === 'id' ? [] : found.filter(({ name }) => name === text || known?.names.includes(name) === true)
  const people = [exact, named].find(({ length }) => length > 0) ?? found
  return await Promise.all(
    people.map(async (person) => ({
      person,
      conversations: await database.read(() => conversationIds(person.number)),
    })),
  )
}

/**
 * All conversations of people as JSON texts, decrypted; of one that cannot be, its id and why. @throws
 * {HistoryKeyWrong} @throws {LedgerUnavailable}
 */
export async function* exportConversations(
  database: HistoryDatabase,
  owners: readonly HistoryOwner[],
  keys: OwnerKeys,
): AsyncGenerator<string> {
  for (const { person, conversations } of owners) {
    const key = await dataKeyOf(person, keys)
    const left = new Set(conversations)
    while (left.size > 0) {
      const ids = [...left].slice(0, idsAtOnce)
      const sealed = await database.read(() => readConversations(person.number, ids))
      // Conversations beyond the size of one answer follow with the next question, deleted ones do not.
      const read = new Set(sealed.map(({ id }) => id))
      for (const id of ids) if (read.has(id) || sealed.length === 0) left.delete(id)
      for (const { id, text, fault } of await opened(person, key, sealed))
        yield fault === undefined ? text : JSON.stringify({ id, fault })
    }
  }
}

/** Deletes people with their keys and conversations, and overwrites the bytes. @throws {LedgerUnavailable} */
export async function forgetConversations(database: HistoryDatabase, owners: readonly HistoryOwner[]): Promise<void> {
  for (const { person } of owners) await database.write(() => deletePerson(person.number))
  if (owners.length > 0) await database.erase()
}
