import { isRecord } from '../../src/base/json-value.ts'
import type { ConversationHead, SearchHit } from './conversation.ts'
import { readChunk, type HistoryDatabase } from './database.ts'
import { fold } from './fold.ts'
import { byTime } from './heads.ts'
import { hitIn, type Searched } from './search-hit.ts'
import { hasAll } from './search.ts'

/** Searches a database. Reads the words of all conversations in chunks, and the bodies of matches only. */
export async function findAll(
  database: HistoryDatabase,
  readHeads: (database: HistoryDatabase) => Promise<readonly ConversationHead[]>,
  words: readonly string[],
  limit: number,
): Promise<readonly SearchHit[]> {
  const heads = await readHeads(database)
  const ids = await matching(database, new Map(heads.map(({ id, title }) => [id, fold(title)])), words)
  const shown = heads
    .filter(({ id }) => ids.has(id))
    .toSorted(byTime)
    .slice(0, limit)
  const bodies = database.transaction('bodies').store
  return await Promise.all(
    shown.map(async (head) => hitIn(head, searchedOf(head.title, await bodies.get(head.id)), words)),
  )
}

async function matching(
  database: HistoryDatabase,
  titles: ReadonlyMap<string, string>,
  wanted: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let range: IDBKeyRange | undefined
  for (;;) {
    const records = await database.getAll('words', range, readChunk)
    for (const { id, words: text } of records)
      if (hasAll(titles.get(id) ?? '', typeof text === 'string' ? text : '', wanted)) found.add(id)
    const last = records.at(-1)
    if (last === undefined || records.length < readChunk) return found
    range = IDBKeyRange.lowerBound(last.id, true)
  }
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
