import { setBackMsMax, StoreUnavailable, type Listed, type Store, type StoreOptions } from '../stores/store.ts'
import { LedgerUnavailable, type OpenLastingStore } from './ledger.ts'
import { numberInRow, sql, type PerformWork, type Statement, type Work, type WorkRow } from './work.ts'

/** How a lasting store reaches its database. */
export interface LastingDatabase {
  readonly read: PerformWork
  /** Performs work in one transaction. */
  readonly write: PerformWork
}

/** More rows than a store has. */
const everything = 1_000_000_000

/** Stores in the table `lasting`. Keys, owners and values are JSON, which both databases store whatever the text is. */
export function lastingStores({ read, write }: LastingDatabase): OpenLastingStore {
  return function openLastingStore<Value>(
    name: string,
    { ttlMs, valuesMax, valuesPerOwnerMax, parse }: StoreOptions<Value>,
    now: () => number,
  ): Store<Value> {
    const written = JSON.stringify
    const ofKey = (key: string): Statement => sql`store = ${name} AND key = ${written(key)}`
    const isAlive = (): Statement => sql`time >= ${now() - ttlMs} AND time <= ${now() + setBackMsMax}`

    const aliveColumn = (): Statement => sql`CASE WHEN ${isAlive()} THEN 1 ELSE 0 END AS alive`

    function valueOf(row: WorkRow | undefined): Value | undefined {
      const { value } = row ?? {}
      return typeof value === 'string' ? parse(JSON.parse(value)) : undefined
    }

    function* rows(statement: Statement): Work<readonly WorkRow[]> {
      return yield statement
    }

    function* put(key: string, value: Value, owner: string): Work<void> {
      yield sql`DELETE FROM lasting WHERE store = ${name} AND NOT (${isAlive()})`
      const next = sql`(SELECT coalesce(max(number), 0) + 1 FROM lasting WHERE store = ${name})`
      yield sql`INSERT INTO lasting (store, key, owner, number, time, value)
        VALUES (${name}, ${written(key)}, ${written(owner)}, ${next}, ${now()}, ${written(value)})
        ON CONFLICT (store, key) DO UPDATE
        SET owner = excluded.owner, number = excluded.number, time = excluded.time, value = excluded.value`
      yield* evict(written(owner), valuesPerOwnerMax)
      const [count] = yield sql`SELECT count(*) AS count FROM lasting WHERE store = ${name}`
      if (numberInRow(count, 'count') <= valuesMax) return
      const [most] = yield sql`SELECT owner, count(*) AS count FROM lasting WHERE store = ${name}
        GROUP BY owner ORDER BY count DESC, min(number) LIMIT 1`
      if (most !== undefined) yield* evict(String(most['owner']), numberInRow(most, 'count') - 1)
    }

    /** Deletes the oldest values of an owner, but for the newest. */
    function* evict(owner: string, kept: number): Work<void> {
      yield sql`DELETE FROM lasting WHERE store = ${name} AND key IN (
        SELECT key FROM lasting WHERE store = ${name} AND owner = ${owner}
        ORDER BY number DESC LIMIT ${everything} OFFSET ${kept})`
    }

    return {
      get: (key) =>
        reached(async () => {
          const where = sql`${ofKey(key)} AND ${isAlive()}`
          return valueOf((await read(() => rows(sql`SELECT value FROM lasting WHERE ${where}`)))[0])
        }),
      set: (key, value, owner) => reached(() => write(() => put(key, value, owner))),
      take: (key) =>
        reached(async () => {
          const taken = sql`DELETE FROM lasting WHERE ${ofKey(key)} RETURNING value, ${aliveColumn()}`
          const [row] = await write(() => rows(taken))
          return numberInRow(row, 'alive') === 1 ? valueOf(row) : undefined
        }),
      takeAll: (owner) =>
        reached(async () => {
          const taken = sql`DELETE FROM lasting WHERE store = ${name} AND owner = ${written(owner)}
            RETURNING value, number, ${aliveColumn()}`
          const found = (await write(() => rows(taken))).filter((row) => numberInRow(row, 'alive') === 1)
          return found
            .toSorted((one, other) => numberInRow(one, 'number') - numberInRow(other, 'number'))
            .flatMap((row) => valueOf(row) ?? [])
        }),
      delete: (key) =>
        reached(async () => void (await write(() => rows(sql`DELETE FROM lasting WHERE ${ofKey(key)}`)))),
      list: (most) =>
        reached(async () => {
          const newest = sql`SELECT key, value FROM lasting WHERE store = ${name} AND ${isAlive()}
            ORDER BY number DESC LIMIT ${most}`
          return (await read(() => rows(newest))).flatMap((row): readonly Listed<Value>[] => {
            const value = valueOf(row)
            return value === undefined ? [] : [{ key: String(JSON.parse(String(row['key']))), value }]
          })
        }),
    }
  }
}

/** @throws {StoreUnavailable} when the database is */
async function reached<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    throw new StoreUnavailable('the database of the service is not available', { cause: error })
  }
}
