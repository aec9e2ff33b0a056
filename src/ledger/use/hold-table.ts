import type { Database } from 'bun:sqlite'
import type { HeldBy, HeldCost } from '../../observe/under-way.ts'
import { unsettledCounters, useKeyOf } from './charges.ts'
import { counterNames, type Counters } from './counters.ts'
import { hasEnded, holderSilentMs } from './holder.ts'
import type { NamesTable } from './names-table.ts'
import { keyValues, sumKeyColumns, type IdentifiedSum } from './sums-table.ts'
import type { ZoneHour } from './zone-hours.ts'

/** A row of the table `hold`. */
export type HoldRow = Readonly<Record<(typeof sumKeyColumns)[number] | 'attempts' | 'cost', number>>

/** A row that was booked, since its process had died. */
export interface BookedRow extends HoldRow {
  readonly booked_hour: number | null
  readonly booked_day: number | null
}

/** The process of holds that are not booked. */
export interface SeenHolder {
  /** Absent: an older svc wrote its batches. */
  readonly holder: string | null
  /** Milliseconds since its last batch. */
  readonly age: number
}

/** Whether the process of holds has died: it is seen to be gone, or cannot be seen and is silent. */
export function isDead({ holder, age }: SeenHolder): boolean {
  return hasEnded(holder ?? '') ?? age > holderSilentMs
}

/** Values of `sumKeyColumns`, then the number of attempts, and the cost. */
export function holdValues(held: HeldCost, names: NamesTable): readonly number[] {
  return [...keyValues(useKeyOf(held), names), held.attempts, held.nanoUsd]
}

/** The sum that a hold is booked as. */
export function bookedSum(row: HoldRow, { start: hour, day }: ZoneHour): IdentifiedSum {
  return { hour, day, values: valuesOf(row, unsettledCounters(row.attempts, row.cost)) }
}

/** What takes a booked hold out of the sums again: its process lives. */
export function unbookedSum(row: BookedRow): IdentifiedSum | undefined {
  const { booked_hour: hour, booked_day: day } = row
  if (hour === null || day === null) return undefined
  return { hour, day, values: valuesOf(row, unsettledCounters(-row.attempts, -row.cost)) }
}

function valuesOf(row: HoldRow, counters: Counters): readonly number[] {
  return [...sumKeyColumns.map((name) => row[name]), ...counterNames.map((name) => counters[name] ?? 0)]
}

/** Stored holds, within a transaction. */
export interface HoldTable {
  /**
   * Puts holds in the place of those of a source.
   *
   * @returns sums that take back what was booked of it
   */
  replace(source: string, holds: HeldBy, names: NamesTable): readonly IdentifiedSum[]
  /** Marks the holds of dead processes as booked. @returns the sums that they are booked as */
  book(hour: ZoneHour): readonly IdentifiedSum[]
  /** Whether there are holds that are not booked. */
  hasOpen(): boolean
  /** Deletes booked holds of sources that are forgotten. */
  forget(): void
}

/** The table `hold` of a database. @param now Unix milliseconds */
export function holdTable(database: Database, now: () => number): HoldTable {
  const name = database.query<unknown, [string, string]>('UPDATE batch SET holder = ?2 WHERE source = ?1')
  const remove = database.query<BookedRow, [string]>('DELETE FROM hold WHERE source = ?1 RETURNING *')
  const columns = ['source', ...sumKeyColumns, 'attempts', 'cost']
  const insert = database.query<unknown, (string | number)[]>(
    `INSERT INTO hold (${columns.join(', ')}) VALUES (${columns.map((_, index) => `?${index + 1}`).join(', ')})
     ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts, cost = cost + excluded.cost`,
  )
  const open = database.query<SeenHolder & { readonly source: string }, [number]>(
    `SELECT source, holder, ?1 - coalesce(time, 0) AS age
     FROM (SELECT DISTINCT source FROM hold WHERE booked_hour IS NULL) LEFT JOIN batch USING (source)`,
  )
  const mark = database.query<HoldRow, [string, number, number]>(
    `UPDATE hold SET booked_hour = ?2, booked_day = ?3 WHERE source = ?1 AND booked_hour IS NULL RETURNING *`,
  )
  return {
    replace(source, { holder, costs }, names) {
      name.run(source, holder)
      const taken = remove.all(source).flatMap((row) => unbookedSum(row) ?? [])
      for (const held of costs) insert.run(source, ...holdValues(held, names))
      return taken
    },
    book(hour) {
      const dead = open.all(now()).filter(isDead)
      return dead.flatMap(({ source }) => mark.all(source, hour.start, hour.day).map((row) => bookedSum(row, hour)))
    },
    hasOpen: () => open.get(now()) !== null,
    forget() {
      database.run('DELETE FROM hold WHERE booked_hour IS NOT NULL AND source NOT IN (SELECT source FROM batch)')
    },
  }
}
