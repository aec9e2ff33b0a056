import type { HeldCost } from '../../observe/under-way.ts'
import type { SqlKind } from '../sql-kind.ts'
import {
  forRows,
  givenRows,
  insertRows,
  numberInRow,
  sql,
  statement,
  textInRow,
  type Work,
  type WorkRow,
} from '../work.ts'
import { unsettledCounters, useKeyOf } from './charges.ts'
import { counterNames, type Counters } from './counters.ts'
import { hasEnded, holderSilentMs } from './holder.ts'
import { addSums, keyValues, merged, sumKeyColumns, type IdentifiedSum } from './sums-table.ts'
import type { UseNames } from './use-names.ts'
import type { ZoneHour, ZoneHours } from './zone-hours.ts'

/** A row of the table `hold`. */
type HoldRow = Readonly<Record<(typeof sumKeyColumns)[number] | 'attempts' | 'cost', number>>

/** A row that was booked, since its process had died. */
interface BookedRow extends HoldRow {
  readonly bookedHour: number | undefined
  readonly bookedDay: number | undefined
}

/** The process of holds that are not booked. */
interface SeenHolder {
  /** Absent: an older svc wrote its batches. */
  readonly holder: string | undefined
  /** Milliseconds since its last batch. */
  readonly age: number
}

/** Whether the process of holds has died: it is seen to be gone, or cannot be seen and is silent. */
function isDead({ holder, age }: SeenHolder): boolean {
  return hasEnded(holder ?? '') ?? age > holderSilentMs
}

/** Values of `sumKeyColumns`, then the number of attempts, and the cost. */
export function holdValues(held: HeldCost, names: UseNames): readonly number[] {
  return [...keyValues(useKeyOf(held), names), held.attempts, held.nanoUsd]
}

/** The sum that a hold is booked as. */
function bookedSum(row: HoldRow, { start: hour, day }: ZoneHour): IdentifiedSum {
  return { hour, day, values: valuesOf(row, unsettledCounters(row.attempts, row.cost)) }
}

/** What takes a booked hold out of the sums again: its process lives. */
function unbookedSum(row: BookedRow): IdentifiedSum | undefined {
  const { bookedHour: hour, bookedDay: day } = row
  if (hour === undefined || day === undefined) return undefined
  return { hour, day, values: valuesOf(row, unsettledCounters(-row.attempts, -row.cost)) }
}

function valuesOf(row: HoldRow, counters: Counters): readonly number[] {
  return [...sumKeyColumns.map((name) => row[name]), ...counterNames.map((name) => counters[name] ?? 0)]
}

const holdColumns = [...sumKeyColumns, 'attempts', 'cost'] as const
const bookedColumns = statement(['source', ...holdColumns, 'booked_hour', 'booked_day'].join(', '))

const sourceColumn = { columns: ['source text'], keys: 1 }
const nameHolders = insertRows(
  'batch',
  { columns: ['source text', 'number', 'time', 'holder text'], keys: 1 },
  statement('ON CONFLICT (source) DO UPDATE SET holder = excluded.holder'),
)
const removeHolds = forRows(
  sql`DELETE FROM hold WHERE source IN (${givenRows}) RETURNING ${bookedColumns}`,
  sourceColumn,
)
const insertHolds = insertRows('hold', { columns: ['source text', ...holdColumns] })

/** Holds of a source: the name of its process, and their {@link holdValues}. */
export interface NamedHolds {
  readonly source: string
  readonly holder: string
  readonly rows: readonly (readonly (number | string)[])[]
}

/**
 * Puts holds in the place of those of their sources, within the transaction that adds their batches.
 *
 * @returns sums that take back what was booked of these sources
 */
export function* replaceHolds(held: readonly NamedHolds[]): Work<readonly IdentifiedSum[]> {
  if (held.length === 0) return []
  yield nameHolders(held.map(({ source, holder }) => [source, 0, 0, holder]))
  const removed = yield removeHolds(held.map(({ source }) => [source]))
  yield insertHolds(held.flatMap(({ source, rows }) => mergedHolds(rows).map((row) => [source, ...row])))
  return removed.flatMap((row) => unbookedSum(bookedRow(row)) ?? [])
}

/** The work may be begun again: the rows stay as they are. */
function mergedHolds(rows: NamedHolds['rows']): NamedHolds['rows'] {
  return merged(
    rows.map((row) => [...row]),
    sumKeyColumns.length,
  )
}

/** Books the holds of dead processes, within a transaction. @returns whether others are open */
export function* bookDead(hours: ZoneHours, { now }: SqlKind): Work<boolean> {
  const [clock] = yield sql`SELECT ${now()} AS now`
  const hour = hours.at(numberInRow(clock, 'now'))
  const open = yield sql`SELECT source, holder, ${now()} - coalesce(time, 0) AS age
    FROM (SELECT DISTINCT source FROM hold WHERE booked_hour IS NULL) AS open LEFT JOIN batch USING (source)`
  const dead = open.filter((row) => isDead({ holder: textInRow(row, 'holder'), age: numberInRow(row, 'age') }))
  const mark = forRows(
    sql`UPDATE hold SET booked_hour = ${hour.start}, booked_day = ${hour.day}
        WHERE booked_hour IS NULL AND source IN (${givenRows}) RETURNING ${bookedColumns}`,
    sourceColumn,
  )
  const booked = yield mark(dead.map((row) => [String(row['source'])]))
  yield* addSums(booked.map((row) => bookedSum(bookedRow(row), hour)))
  return (yield sql`SELECT 1 FROM hold WHERE booked_hour IS NULL LIMIT 1`).length > 0
}

function bookedRow(row: WorkRow): BookedRow {
  const number = (name: string): number => numberInRow(row, name)
  const optional = (name: string): number | undefined => (row[name] === null ? undefined : number(name))
  return {
    ...{ line: number('line'), person: number('person'), team: number('team') },
    ...{ model: number('model'), provider: number('provider') },
    ...{ attempts: number('attempts'), cost: number('cost') },
    ...{ bookedHour: optional('booked_hour'), bookedDay: optional('booked_day') },
  }
}
