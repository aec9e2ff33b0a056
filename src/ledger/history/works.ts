import type { Person } from '../../people/person.ts'
import { numberInRow, statement, type Work, type WorkRow } from '../work.ts'
import { answerBytesMax, type ChangesOptions, type HistoryChanges, type WriteOutcome } from './history.ts'

/** A database of conversations. */
export interface HistoryDatabase {
  /** For messages. */
  readonly name: string
  /** @throws {LedgerUnavailable} */
  write<Value>(work: () => Work<Value>): Promise<Value>
  /** @throws {LedgerUnavailable} */
  read<Value>(work: () => Work<Value>): Promise<Value>
  /** Overwrites the bytes of deleted rows. @throws {LedgerUnavailable} */
  erase(): Promise<void>
  close(): Promise<void>
}

/** Bounds of what a person stores. */
export interface PersonBounds {
  readonly conversations: number
  /** Stored bytes. */
  readonly bytes: number
  /** Removed conversations that are remembered. */
  readonly removed: number
}

/** The bounds of every person. */
export const personBounds: PersonBounds = { conversations: 20_000, bytes: 512 * 1024 * 1024, removed: 10_000 }

const entriesMax = 2_000

/** A person with their sealed key. */
export interface OwnerRow extends Pick<Person, 'id' | 'name'> {
  readonly number: number
  /** User id, or the user name of a person without one. */
  readonly account: string
  readonly keyId: string
  readonly sealedKey: Uint8Array
}

const personColumns = 'number, person, subject, name, key_id, sealed_key'

/** Finds a person by their permanent id. */
export function* findOwner(id: string): Work<OwnerRow | undefined> {
  const [row] = yield statement(`SELECT ${personColumns} FROM history_person WHERE person = $1`, [id])
  return row === undefined ? undefined : personOf(row)
}

/** Finds people by a user name; or by their permanent id, or user id. */
export function* findPeople(by: 'name' | 'id', text: string): Work<readonly OwnerRow[]> {
  const condition = by === 'name' ? 'name = $1' : '(person = $1 OR subject = $1)'
  const rows = yield statement(`SELECT ${personColumns} FROM history_person WHERE ${condition} ORDER BY number`, [text])
  return rows.map(personOf)
}

/** People with larger numbers whose keys are not sealed with this one. */
export function* peopleBeyondKey(keyId: string, after: number): Work<readonly OwnerRow[]> {
  const rows = yield statement(
    `SELECT ${personColumns} FROM history_person WHERE key_id <> $1 AND number > $2 ORDER BY number LIMIT 500`,
    [keyId, after],
  )
  return rows.map(personOf)
}

/** Stores a key that was sealed anew, unless another process has done so. */
export function* storeSealedKey({ number, keyId }: OwnerRow, fresh: Pick<OwnerRow, 'keyId' | 'sealedKey'>): Work<void> {
  yield statement('UPDATE history_person SET key_id = $1, sealed_key = $2 WHERE number = $3 AND key_id = $4', [
    ...[fresh.keyId, fresh.sealedKey, number, keyId],
  ])
}

/** Adds a person, unless another request has done so. */
export function* addPerson({ id, account, name, keyId, sealedKey }: Omit<OwnerRow, 'number'>): Work<void> {
  yield statement(
    `INSERT INTO history_person (person, subject, name, key_id, sealed_key, pruned, conversations, removed, bytes)
     VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0) ON CONFLICT (person) DO NOTHING`,
    [id, account, name, keyId, sealedKey],
  )
}

/** Notes that a person was renamed. */
export function* renamePerson({ number }: OwnerRow, { account, name }: Pick<OwnerRow, 'account' | 'name'>): Work<void> {
  yield statement('UPDATE history_person SET subject = $1, name = $2 WHERE number = $3', [account, name, number])
}

/** {@link History.changes} */
export function* listChanges(person: string, { after, isWhole }: ChangesOptions): Work<HistoryChanges> {
  const [head] = yield statement('SELECT change, database FROM history_head', [])
  const [found] = yield statement('SELECT number, pruned FROM history_person WHERE person = $1', [person])
  const number = numberInRow(found, 'number')
  const isTooOld = !isWhole && after < numberInRow(found, 'pruned')
  const rows = isTooOld
    ? []
    : yield statement(
        `SELECT id, change, CASE WHEN content IS NULL THEN 1 ELSE 0 END AS is_removed
         FROM history_conversation
         WHERE person = $1 AND change > $2 ${isWhole ? 'AND content IS NOT NULL' : ''}
         ORDER BY change LIMIT ${entriesMax + 1}`,
        [number, after],
      )
  return {
    database: String(head?.['database']),
    person: number,
    last: numberInRow(head, 'change'),
    isTooOld,
    isCut: rows.length > entriesMax,
    entries: rows.slice(0, entriesMax).map((row) => ({
      id: String(row['id']),
      version: numberInRow(row, 'change'),
      isRemoved: numberInRow(row, 'is_removed') === 1,
    })),
  }
}

/** A sealed conversation. */
export interface SealedConversation {
  readonly id: string
  readonly version: number
  readonly content: Uint8Array
}

/** Reads conversations until {@link answerBytesMax} in the clear, at least one. */
export function* readConversations(person: number, ids: readonly string[]): Work<readonly SealedConversation[]> {
  if (ids.length === 0) return []
  const places = ids.map((_, index) => `$${index + 2}`).join(', ')
  const condition = `person = $1 AND content IS NOT NULL AND id IN (${places})`
  const sizes = yield statement(`SELECT id, size FROM history_conversation WHERE ${condition}`, [person, ...ids])
  const bySize = new Map(sizes.map((row) => [String(row['id']), numberInRow(row, 'size')]))
  const found: SealedConversation[] = []
  let bytes = 0
  for (const id of ids) {
    const size = bySize.get(id)
    if (size === undefined || (found.length > 0 && bytes + size > answerBytesMax)) continue
    const [row] = yield statement('SELECT change, content FROM history_conversation WHERE person = $1 AND id = $2', [
      ...[person, id],
    ])
    bytes += size
    const content = row?.['content']
    if (content instanceof Uint8Array) found.push({ id, version: numberInRow(row, 'change'), content })
  }
  return found
}

/** Ids of all conversations of a person. */
export function* conversationIds(person: number): Work<readonly string[]> {
  const rows = yield statement(
    'SELECT id FROM history_conversation WHERE person = $1 AND content IS NOT NULL ORDER BY change',
    [person],
  )
  return rows.map((row) => String(row['id']))
}

/** A conversation that was not changed for long. */
export interface StaleConversation {
  readonly owner: OwnerRow
  readonly id: string
  readonly version: number
}

const staleMax = 100

/** Conversations whose last change was before a time, the oldest first, at most 100. */
export function* staleConversations(before: number): Work<readonly StaleConversation[]> {
  const columns = personColumns
    .split(', ')
    .map((name) => `owner.${name}`)
    .join(', ')
  const rows = yield statement(
    `SELECT ${columns}, stale.id, stale.change
     FROM history_conversation AS stale JOIN history_person AS owner ON owner.number = stale.person
     WHERE stale.content IS NOT NULL AND stale.written < $1 ORDER BY stale.written LIMIT ${staleMax}`,
    [before],
  )
  return rows.map((row) => ({ owner: personOf(row), id: String(row['id']), version: numberInRow(row, 'change') }))
}

/** {@link History.lastWritten} */
export function* lastWritten(): Work<number | undefined> {
  const [row] = yield statement(
    'SELECT written FROM history_conversation WHERE content IS NOT NULL ORDER BY written DESC LIMIT 1',
    [],
  )
  return row === undefined ? undefined : numberInRow(row, 'written')
}

/** Counts the time without a change of a conversation anew. */
export function* spareConversation({ owner, id, version }: StaleConversation, now: number): Work<void> {
  yield statement('UPDATE history_conversation SET written = $1 WHERE person = $2 AND id = $3 AND change = $4', [
    ...[now, owner.number, id, version],
  ])
}

/** A conversation to be stored, sealed. */
export interface SealedWrite {
  readonly id: string
  readonly base: number
  /** Bytes of the text. */
  readonly size: number
  readonly content: Uint8Array
  /** Unix milliseconds. */
  readonly written: number
}

/** Stores a conversation. `gone`: the person was forgotten meanwhile. */
export function* writeConversation(
  person: number,
  { id, base, size, content, written }: SealedWrite,
  bounds: PersonBounds,
): Work<WriteOutcome | { readonly kind: 'gone' }> {
  const change = yield* nextChange()
  const owner = yield* usage(person)
  if (owner === undefined) return { kind: 'gone' }
  const before = yield* stored(person, id)
  if (before.version !== base) return { kind: 'conflict', version: before.version }
  const bytes = owner.bytes + content.length - before.bytes
  const conversations = owner.conversations + (before.isLive ? 0 : 1)
  if (content.length > before.bytes && bytes > bounds.bytes) return { kind: 'full' }
  if (!before.isLive && conversations > bounds.conversations) return { kind: 'full' }
  yield statement(
    `INSERT INTO history_conversation (person, id, change, size, content, written) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (person, id) DO UPDATE
     SET change = excluded.change, size = excluded.size, content = excluded.content, written = excluded.written`,
    [person, id, change, size, content, written],
  )
  yield statement('UPDATE history_person SET conversations = $1, removed = $2, bytes = $3 WHERE number = $4', [
    ...[conversations, owner.removed - (before.isRemoved ? 1 : 0), bytes, person],
  ])
  return { kind: 'written', version: change }
}

/** Removes a conversation; the removal is remembered. */
export function* removeConversation(
  person: number,
  { id, base }: { readonly id: string; readonly base: number },
  bounds: PersonBounds,
): Work<WriteOutcome> {
  const change = yield* nextChange()
  const owner = yield* usage(person)
  const before = yield* stored(person, id)
  if (!before.isLive) return { kind: 'written', version: 0 }
  if (owner === undefined || before.version !== base) return { kind: 'conflict', version: before.version }
  yield statement(
    'UPDATE history_conversation SET change = $1, size = 0, content = NULL WHERE person = $2 AND id = $3',
    [change, person, id],
  )
  yield statement('UPDATE history_person SET conversations = $1, removed = $2, bytes = $3 WHERE number = $4', [
    ...[owner.conversations - 1, owner.removed + 1, owner.bytes - before.bytes, person],
  ])
  if (owner.removed + 1 > bounds.removed) yield* forgetRemovals(person, Math.ceil(bounds.removed / 10))
  return { kind: 'written', version: change }
}

/** Forgets the oldest removals: pages that do not know them yet must compare the whole list. */
function* forgetRemovals(person: number, count: number): Work<void> {
  const rows = yield statement(
    'SELECT change FROM history_conversation WHERE person = $1 AND content IS NULL ORDER BY change LIMIT $2',
    [person, count],
  )
  const last = numberInRow(rows.at(-1), 'change')
  yield statement('DELETE FROM history_conversation WHERE person = $1 AND content IS NULL AND change <= $2', [
    person,
    last,
  ])
  yield statement('UPDATE history_person SET pruned = $1, removed = removed - $2 WHERE number = $3', [
    ...[last, rows.length, person],
  ])
}

/** {@link History.clear} */
export function* clearConversations(person: number, until: number): Work<void> {
  const change = yield* nextChange()
  yield statement('DELETE FROM history_conversation WHERE person = $1 AND change <= $2', [person, until])
  yield statement(
    `UPDATE history_person SET pruned = $1,
       conversations = (SELECT count(*) FROM history_conversation WHERE person = number AND content IS NOT NULL),
       removed = (SELECT count(*) FROM history_conversation WHERE person = number AND content IS NULL),
       bytes = (SELECT coalesce(sum(length(content)), 0) FROM history_conversation WHERE person = number)
     WHERE number = $2`,
    [change, person],
  )
}

/** Deletes a person with their key and their conversations. */
export function* deletePerson(person: number): Work<void> {
  yield* nextChange()
  yield statement('DELETE FROM history_conversation WHERE person = $1', [person])
  yield statement('DELETE FROM history_person WHERE number = $1', [person])
}

/** Takes the next number. Other writes wait for the end of this transaction, so that a reader misses none. */
function* nextChange(): Work<number> {
  const [row] = yield statement('UPDATE history_head SET change = change + 1 RETURNING change', [])
  return numberInRow(row, 'change')
}

interface PersonUsage {
  readonly bytes: number
  readonly conversations: number
  readonly removed: number
}

function* usage(person: number): Work<PersonUsage | undefined> {
  const [row] = yield statement('SELECT bytes, conversations, removed FROM history_person WHERE number = $1', [person])
  if (row === undefined) return undefined
  return {
    bytes: numberInRow(row, 'bytes'),
    conversations: numberInRow(row, 'conversations'),
    removed: numberInRow(row, 'removed'),
  }
}

interface StoredState {
  /** 0: there is none, or it was removed. */
  readonly version: number
  readonly bytes: number
  readonly isRemoved: boolean
  readonly isLive: boolean
}

function* stored(person: number, id: string): Work<StoredState> {
  const [row] = yield statement(
    `SELECT change, coalesce(length(content), 0) AS bytes, CASE WHEN content IS NULL THEN 1 ELSE 0 END AS is_removed
     FROM history_conversation WHERE person = $1 AND id = $2`,
    [person, id],
  )
  const isRemoved = numberInRow(row, 'is_removed') === 1
  return {
    version: isRemoved ? 0 : numberInRow(row, 'change'),
    bytes: numberInRow(row, 'bytes'),
    isRemoved,
    isLive: row !== undefined && !isRemoved,
  }
}

function personOf(row: WorkRow): OwnerRow {
  const sealedKey = row['sealed_key']
  return {
    number: numberInRow(row, 'number'),
    id: String(row['person']),
    account: String(row['subject']),
    name: String(row['name']),
    keyId: String(row['key_id']),
    sealedKey: sealedKey instanceof Uint8Array ? sealedKey : new Uint8Array(),
  }
}
