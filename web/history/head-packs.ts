import type { IDBPTransaction } from 'idb'
import type { HistoryDatabase, HistorySchema } from './database.ts'

/**
 * Heads are read at every start, and a browser takes 10 ms for a thousand records, of any size. So the database has
 * copies of many heads in one record, a pack, and the ids of heads that were written since.
 */

/** Heads in a pack. */
const packSize = 250

/** Fewer heads, and fewer changed ones, are not worth new packs. */
const worthwhile = { heads: 500, changed: 100 }

/** With more changed heads, reading all takes less time. */
const changedMax = 500

type HeadRecord = HistorySchema['heads']['value']
type HeadStores = ('heads' | 'headPacks' | 'changedHeads')[]
type Reading = IDBPTransaction<HistorySchema, HeadStores, 'readonly' | 'readwrite'>

/** Returns the records of all heads, in any order. */
export function headRecords(database: HistoryDatabase): Promise<readonly HeadRecord[]> {
  return recordsIn(database.transaction(['heads', 'headPacks', 'changedHeads']))
}

async function recordsIn(transaction: Reading): Promise<readonly HeadRecord[]> {
  const heads = transaction.objectStore('heads')
  const [count, packs, changed] = await Promise.all([
    heads.count(),
    transaction.objectStore('headPacks').getAll(),
    transaction.objectStore('changedHeads').getAllKeys(undefined, changedMax + 1),
  ])
  if (packs.length === 0 || !packs.every(isPack) || changed.length > changedMax) return await heads.getAll()
  const isOld = new Set(changed)
  const now = await Promise.all(changed.map((id) => heads.get(id)))
  const records = [...packs.flat().filter(({ id }) => !isOld.has(id)), ...now.filter((record) => record !== undefined)]
  // A pack may be lost.
  const isWhole = records.length === count && new Set(records.map(({ id }) => id)).size === count
  return isWhole ? records : await heads.getAll()
}

function isPack(value: unknown): value is readonly HeadRecord[] {
  return Array.isArray(value) && value.every((record: unknown) => isHeadRecord(record))
}

function isHeadRecord(value: unknown): value is HeadRecord {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}

/** Makes packs of all heads, if that is worth it. */
export async function packHeads(database: HistoryDatabase): Promise<void> {
  const isPacked = (await database.count('headPacks')) > 0
  const count = await database.count(isPacked ? 'changedHeads' : 'heads')
  if (count < (isPacked ? worthwhile.changed : worthwhile.heads)) return
  const transaction = database.transaction(['heads', 'headPacks', 'changedHeads'], 'readwrite')
  const records = await recordsIn(transaction)
  const packs = transaction.objectStore('headPacks')
  await Promise.all([packs.clear(), transaction.objectStore('changedHeads').clear()])
  for (let from = 0; from < records.length; from += packSize) await packs.add(records.slice(from, from + packSize))
  await transaction.done
}
