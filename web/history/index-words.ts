import type { HistoryDatabase } from './database.ts'
import { entriesOf, hasAny, segmentBuilder, type WordEntry, type WordSegment } from './word-index.ts'

/** Conversations in a segment at most, and those that are worth one. */
const segmentMax = 400,
  segmentMin = 200

/** Conversations to add before the page may go on. */
const stepSize = 10

/**
 * Moves words of conversations into segments of the index, and takes those of removed and changed conversations out of
 * the segments that have them. It does nothing for few of them, and yields to the page between steps.
 *
 * @param wait lets the page go on
 */
export async function indexWords(database: HistoryDatabase, wait: () => Promise<void> = shortly): Promise<void> {
  while (await indexSome(database, wait)) await wait()
}

/** @returns whether there may be more */
async function indexSome(database: HistoryDatabase, wait: () => Promise<void>): Promise<boolean> {
  const records = await database.getAll('words', undefined, segmentMax)
  const isWorth = records.length >= segmentMin || records.some(({ isGone }) => isGone)
  if (!isWorth) return false
  const ids = new Set(records.map(({ id }) => id))
  const entries = records.flatMap(({ id, words, isGone }) =>
    isGone === true || typeof words !== 'string' ? [] : [{ id, words }],
  )
  const keys = await database.getAllKeys('segments')
  const changes: { readonly key: number; readonly value: unknown }[] = []
  for (const key of keys) {
    const value = await database.get('segments', key)
    if (!hasAny(value, ids)) continue
    const rest = entriesOf(value).filter(({ id }) => !ids.has(id))
    changes.push({ key, value: rest.length === 0 ? undefined : await built(rest, wait) })
  }
  const added = entries.length >= segmentMin ? await built(entries, wait) : undefined
  const transaction = database.transaction(['words', 'segments'], 'readwrite')
  const words = transaction.objectStore('words'),
    segments = transaction.objectStore('segments')
  const now = new Map((await words.getAll(undefined, segmentMax)).map((record) => [record.id, record]))
  const keysNow = await segments.getAllKeys()
  const isSame =
    keysNow.join() === keys.join() &&
    records.every(({ id, words: text, isGone }) => {
      const other = now.get(id)
      return other !== undefined && other.words === text && other.isGone === isGone
    })
  // A conversation has changed, or another tab has indexed words meanwhile: the next time will do.
  if (!isSame) {
    await transaction.done
    return false
  }
  for (const { key, value } of changes) {
    await segments.delete(key)
    if (value !== undefined) await segments.add(value)
  }
  if (added !== undefined) await segments.add(added)
  for (const { id, isGone } of records) if (isGone === true || added !== undefined) await words.delete(id)
  await transaction.done
  return records.length === segmentMax
}

async function built(entries: readonly WordEntry[], wait: () => Promise<void>): Promise<WordSegment> {
  const builder = segmentBuilder()
  for (const [place, entry] of entries.entries()) {
    builder.add(entry)
    if (place % stepSize === stepSize - 1) await wait()
  }
  return builder.end()
}

function shortly(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
