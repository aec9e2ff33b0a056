import type { IDBPTransaction } from 'idb'
import { isRecord } from '../../src/base/json-value.ts'
import type { Amendment, Conversation, ConversationHead, Draft } from './conversation.ts'
import type { Connection, HistoryDatabase, HistorySchema } from './database.ts'
import { headRecords } from './head-packs.ts'
import { headOf, inOrder } from './heads.ts'
import type { HistoryBackend } from './history-backend.ts'
import { ConversationRemoved } from './history-error.ts'
import { parseConversation, parseDraft, parseHead, plainHead, type Parsed } from './parse-conversation.ts'
import { keysOf, readPictures, withPictures, withoutData, writePictures } from './pictures.ts'
import { wordFolder } from './search.ts'
import type { OpenSegment } from './word-index.ts'

/** Conversations read at once, so that other reads do not wait long. */
const readChunk = 50

type Bodies = IDBPTransaction<HistorySchema, ('bodies' | 'pictures')[]>

const everything = ['heads', 'headPacks', 'changedHeads', 'bodies', 'words', 'segments', 'pictures', 'drafts'] as const

/**
 * A backend in a user's database. Heads are separate from bodies, for a fast list; images are separate, so they are
 * written once; searched words are separate, so a search reads only them. Damaged records are left out.
 */
export function databaseBackend({ use, close }: Connection): HistoryBackend {
  const folded = wordFolder(),
    known = knownHeads(),
    segments = new Map<number, OpenSegment | undefined>()
  const headAt = async (database: HistoryDatabase, id: string): Promise<ConversationHead | undefined> =>
    valueOf(parseHead(await database.get('heads', id)))
  return {
    heads: () => use((database) => known.readAll(() => readHeads(database))),
    head: (id) => use((database) => headAt(database, id)),
    get: (id) => use((database) => readBody(database.transaction(['bodies', 'pictures']), id)),
    async put(conversation, mustExist) {
      await use((database) => write(database, conversation, folded(conversation), mustExist))
      known.set(conversation.id, headOf(conversation))
    },
    amend: (id, changes) =>
      use(async (database) => {
        await amend(database, id, changes)
        known.set(id, await headAt(database, id))
      }),
    async remove(id) {
      await use((database) => erase(database, id))
      known.set(id, undefined)
    },
    async clear() {
      await use(async (database) => {
        const transaction = database.transaction(everything, 'readwrite')
        await Promise.all([...everything.map((name) => transaction.objectStore(name).clear()), transaction.done])
      })
      known.forget()
    },
    changed(id) {
      if (id === '') known.forget()
      else void use(async (database) => known.set(id, await headAt(database, id))).catch(known.forget)
    },
    async search(words, limit) {
      const { findAll } = await import('./find-conversations.ts')
      return await use(async (database) =>
        findAll({ database, heads: await known.all(() => readHeads(database)), segments, words, limit }),
      )
    },
    all: () => use(readAll),
    draft: (id) => use((database) => readDraft(database, id)),
    putDraft: (id, draft) => use((database) => writeDraft(database, id, draft)),
    close,
  }
}

function valueOf<Value>(parsed: Parsed<Value>): Value | undefined {
  return parsed.kind === 'ok' ? parsed.value : undefined
}

async function readHeads(database: HistoryDatabase): Promise<readonly ConversationHead[]> {
  const heads: ConversationHead[] = [],
    damaged: string[] = []
  for (const record of await headRecords(database)) {
    const head = plainHead(record) ?? valueOf(parseHead(record))
    if (head === undefined) damaged.push(record.id)
    else heads.push(head)
  }
  const derived = await Promise.all(damaged.map((id) => headFromBody(database, id)))
  return [...heads, ...derived.filter((head) => head !== undefined)].toSorted(inOrder)
}

/** Derives a head from the body, when the stored head is damaged. */
async function headFromBody(database: HistoryDatabase, id: string): Promise<ConversationHead | undefined> {
  const conversation = await readBody(database.transaction(['bodies', 'pictures']), id)
  return conversation && headOf(conversation)
}

async function readBody(transaction: Bodies, id: string): Promise<Conversation | undefined> {
  const body: unknown = await transaction.objectStore('bodies').get(id)
  if (!isRecord(body) || !Array.isArray(body['messages'])) return undefined
  const messages: readonly unknown[] = body['messages']
  const hasPictures = messages.some(
    (message) => isRecord(message) && Array.isArray(message['images']) && message['images'].length > 0,
  )
  const urls = hasPictures ? await readPictures(transaction.objectStore('pictures'), id) : new Map<string, unknown>()
  return valueOf(
    parseConversation({
      ...body,
      messages: messages.map((message) =>
        isRecord(message) ? { ...message, images: withPictures(message['images'], urls) } : message,
      ),
    }),
  )
}

async function readAll(database: HistoryDatabase): Promise<readonly Conversation[]> {
  const ids = await database.getAllKeys('bodies')
  const found: Conversation[] = []
  for (let from = 0; from < ids.length; from += readChunk) {
    const transaction = database.transaction(['bodies', 'pictures'])
    const read = await Promise.all(ids.slice(from, from + readChunk).map((id) => readBody(transaction, id)))
    found.push(...read.filter((each) => each !== undefined))
  }
  return found
}

async function write(
  database: HistoryDatabase,
  conversation: Conversation,
  words: string,
  mustExist: boolean,
): Promise<void> {
  const { id, messages } = conversation
  const transaction = database.transaction(['heads', 'changedHeads', 'bodies', 'words', 'pictures'], 'readwrite')
  const heads = transaction.objectStore('heads')
  async function writeEach(): Promise<void> {
    if (mustExist && (await heads.getKey(id)) === undefined) throw new ConversationRemoved(id)
    const body = {
      ...conversation,
      messages: messages.map((message) =>
        message.role === 'user' ? { ...message, images: message.images.map(withoutData) } : message,
      ),
    }
    await Promise.all([
      heads.put(headOf(conversation)),
      transaction.objectStore('changedHeads').put(true, id),
      transaction.objectStore('bodies').put(body),
      transaction.objectStore('words').put({ id, words }),
      writePictures(
        transaction.objectStore('pictures'),
        id,
        messages.flatMap((message) => (message.role === 'user' ? message.images : [])),
      ),
    ])
  }
  await Promise.all([writeEach(), transaction.done])
}

/** Changes the head and the body. Damaged ones stay as they are. */
async function amend(database: HistoryDatabase, id: string, changes: Amendment): Promise<void> {
  const transaction = database.transaction(['heads', 'changedHeads', 'bodies'], 'readwrite')
  await Promise.all([
    ...(['heads', 'bodies'] as const).map(async (name) => {
      const store = transaction.objectStore(name)
      const record = await store.get(id)
      if (record !== undefined) await store.put({ ...record, ...(name === 'heads' ? headChanges(changes) : changes) })
    }),
    transaction.objectStore('changedHeads').put(true, id),
    transaction.done,
  ])
}

function headChanges({ isTitled: _, ...changes }: Amendment): Amendment {
  return changes
}

async function erase(database: HistoryDatabase, id: string): Promise<void> {
  const transaction = database.transaction(everything, 'readwrite')
  const pictures = transaction.objectStore('pictures')
  await Promise.all([
    ...(['heads', 'bodies', 'drafts'] as const).map((name) => transaction.objectStore(name).delete(id)),
    transaction.objectStore('changedHeads').put(true, id),
    transaction.objectStore('words').put({ id, words: '', isGone: true }),
    pictures.delete(keysOf(id)),
    pictures.delete(keysOf(draftOwner(id))),
    transaction.done,
  ])
}

/** Ids of conversations contain no slash. */
function draftOwner(id: string): string {
  return `draft/${id}`
}

async function readDraft(database: HistoryDatabase, id: string): Promise<Draft | undefined> {
  const transaction = database.transaction(['drafts', 'pictures'])
  const draft: unknown = await transaction.objectStore('drafts').get(id)
  if (!isRecord(draft)) return undefined
  const urls = await readPictures(transaction.objectStore('pictures'), draftOwner(id))
  return valueOf(parseDraft({ ...draft, images: withPictures(draft['images'], urls) }))
}

async function writeDraft(database: HistoryDatabase, id: string, draft: Draft | undefined): Promise<void> {
  const transaction = database.transaction(['drafts', 'pictures'], 'readwrite')
  const drafts = transaction.objectStore('drafts')
  await Promise.all([
    draft === undefined ? drafts.delete(id) : drafts.put({ ...draft, images: draft.images.map(withoutData) }, id),
    writePictures(transaction.objectStore('pictures'), draftOwner(id), draft?.images ?? []),
    transaction.done,
  ])
}

type ReadHeads = () => Promise<readonly ConversationHead[]>

/** Heads in memory, so that a search need not read them. */
interface KnownHeads {
  /** Reads all heads, and keeps them. */
  readAll(read: ReadHeads): Promise<readonly ConversationHead[]>
  /** Returns all heads, in any order. Reads them if they are not known. */
  all(read: ReadHeads): Promise<readonly ConversationHead[]>
  /** Replaces a head. @param head absent: it was removed */
  set(id: string, head: ConversationHead | undefined): void
  forget(): void
}

/** Creates an empty set. */
function knownHeads(): KnownHeads {
  let known: Map<string, ConversationHead> | undefined
  /** A read that began before a change is not kept. */
  let changes = 0

  async function readAll(read: ReadHeads): Promise<readonly ConversationHead[]> {
    const before = changes
    const heads = await read()
    if (changes === before) known = new Map(heads.map((head) => [head.id, head]))
    return heads
  }

  return {
    readAll,
    all: async (read) => (known === undefined ? await readAll(read) : [...known.values()]),
    set(id, head) {
      changes++
      if (head === undefined) known?.delete(id)
      else known?.set(id, head)
    },
    forget() {
      changes++
      known = undefined
    },
  }
}
