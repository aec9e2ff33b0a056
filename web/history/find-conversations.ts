import type { IDBPObjectStore } from 'idb'
import { isRecord } from '../../src/base/json-value.ts'
import type { ConversationHead, SearchHit } from './conversation.ts'
import type { HistoryDatabase, HistorySchema } from './database.ts'
import { fold } from './fold.ts'
import { byTime } from './heads.ts'
import { hitIn, type Searched } from './search-hit.ts'
import { hasAll } from './search.ts'
import { openSegment, type OpenSegment } from './word-index.ts'

/** Words of conversations read at once, so that other reads do not wait long. */
const readChunk = 50

export interface FindOptions {
  readonly database: HistoryDatabase
  readonly heads: readonly ConversationHead[]
  /** Segments of the index that were read before, by their keys. */
  readonly segments: Map<number, OpenSegment | undefined>
  /** From `wordsOf`. */
  readonly words: readonly string[]
  readonly limit: number
}

/** Searches a database: the index of words, the words that are not in it yet, and the bodies of matches only. */
export async function findAll({ database, heads, segments, words, limit }: FindOptions): Promise<readonly SearchHit[]> {
  const ids = await matching(database, new Map(heads.map((head) => [head.id, foldedTitle(head)])), segments, words)
  const shown = heads
    .filter(({ id }) => ids.has(id))
    .toSorted(byTime)
    .slice(0, limit)
  const bodies = database.transaction('bodies').store
  return await Promise.all(
    shown.map(async (head) => hitIn(head, searchedOf(head.title, await bodies.get(head.id)), words)),
  )
}

const titles = new WeakMap<ConversationHead, string>()

function foldedTitle(head: ConversationHead): string {
  const known = titles.get(head) ?? fold(head.title)
  titles.set(head, known)
  return known
}

async function matching(
  database: HistoryDatabase,
  titleOf: ReadonlyMap<string, string>,
  segments: FindOptions['segments'],
  wanted: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>(),
    seen = new Set<string>(),
    indexed = new Set<string>()
  // One transaction: words may be moving into a segment.
  const transaction = database.transaction(['words', 'segments'])
  await readSegments(transaction.objectStore('segments'), segments)
  let range: IDBKeyRange | undefined
  for (;;) {
    const records = await transaction.objectStore('words').getAll(range, readChunk)
    for (const { id, words: text } of records) {
      seen.add(id)
      if (hasAll(titleOf.get(id) ?? '', typeof text === 'string' ? text : '', wanted)) found.add(id)
    }
    const last = records.at(-1)
    if (last === undefined || records.length < readChunk) break
    range = IDBKeyRange.lowerBound(last.id, true)
  }
  for (const segment of segments.values()) {
    const marks = wanted.map((word) => ({ word, places: segment?.find(word) }))
    segment?.ids.forEach((id, place) => {
      indexed.add(id)
      const title = titleOf.get(id)
      if (title === undefined || seen.has(id)) return
      if (marks.every(({ word, places }) => places?.[place] === 1 || title.includes(word))) found.add(id)
    })
  }
  const lost = [...titleOf.keys()].filter((id) => !seen.has(id) && !indexed.has(id))
  for (const id of lost) if (await isFoundInBody(database, id, titleOf.get(id) ?? '', wanted)) found.add(id)
  return found
}

/** Whether a conversation has the words, for one whose segment is damaged or lost. */
async function isFoundInBody(
  database: HistoryDatabase,
  id: string,
  title: string,
  wanted: readonly string[],
): Promise<boolean> {
  if (hasAll(title, '', wanted)) return true
  const { messages } = searchedOf('', await database.get('bodies', id))
  return hasAll(title, messages.map(({ text }) => fold(text)).join('\n'), wanted)
}

/** Reads the segments that are new, and drops those that are gone. */
async function readSegments(
  store: IDBPObjectStore<HistorySchema, ('words' | 'segments')[], 'segments'>,
  segments: FindOptions['segments'],
): Promise<void> {
  const keys = await store.getAllKeys()
  for (const key of [...segments.keys()]) if (!keys.includes(key)) segments.delete(key)
  await Promise.all(
    keys.filter((key) => !segments.has(key)).map(async (key) => segments.set(key, openSegment(await store.get(key)))),
  )
}

function searchedOf(title: string, body: unknown): Searched {
  const messages: readonly unknown[] = isRecord(body) && Array.isArray(body['messages']) ? body['messages'] : []
  return {
    title,
    messages: messages.flatMap((message) =>
      isRecord(message) && typeof message['id'] === 'string' && typeof message['text'] === 'string'
        ? [{ id: message['id'], text: message['text'] }]
        : [],
    ),
  }
}
