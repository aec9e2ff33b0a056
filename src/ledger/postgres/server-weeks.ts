import type { RowRetention } from '../use/rows-file.ts'
import type { Query } from './postgres-client.ts'

/** Rows are in partitions of one week of the time at which they were stored, by the clock of the server. */

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** Weeks begin on Monday, 00:00 UTC; 1970 began on a Thursday. */
const firstMondayMs = 4 * dayMs
/** The advisory lock of changes of partitions. */
const lockId = 0x7376636d
const tables = ['request', 'attempt'] as const

function startOfWeek(time: number): number {
  return Math.floor((time - firstMondayMs) / weekMs) * weekMs + firstMondayMs
}

/** Makes the partitions of this week and the next, within a transaction. @param now Unix milliseconds of the server */
export async function makeWeeks(query: Query, now: number): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [lockId])
  for (const start of [startOfWeek(now), startOfWeek(now) + weekMs])
    for (const table of tables)
      await query(
        `CREATE TABLE IF NOT EXISTS ${partitionOf(table, start)} PARTITION OF ${table}
         FOR VALUES FROM (${start}) TO (${start + weekMs})`,
      )
}

function partitionOf(table: string, start: number): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`
}

interface Week {
  readonly start: number
  readonly bytes: number
}

/** Drops the partitions of weeks that are too old, or too many, within a transaction. This week stays. */
export async function dropWeeks(query: Query, now: number, { ageMs, bytes }: RowRetention): Promise<void> {
  const [row] = await query('SELECT pg_try_advisory_xact_lock($1) AS locked', [lockId])
  if (row?.['locked'] !== true) return
  const weeks = await weeksOf(query)
  let sum = weeks.reduce((all, week) => all + week.bytes, 0)
  for (const week of weeks) {
    const isOver = week.start + weekMs <= now
    if (!isOver || (week.start + weekMs > now - ageMs && sum <= bytes)) continue
    for (const table of tables) await query(`DROP TABLE IF EXISTS ${partitionOf(table, week.start)}`)
    sum -= week.bytes
  }
}

/** The oldest first. */
async function weeksOf(query: Query): Promise<readonly Week[]> {
  const rows = await query(
    `SELECT substring(relname FROM '[0-9]{8}$') AS date, sum(pg_total_relation_size(pg_class.oid)) AS bytes
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent IN ('request'::regclass, 'attempt'::regclass) GROUP BY 1 ORDER BY 1`,
  )
  return rows.flatMap(({ date, bytes }) => {
    const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(date)) ?? []
    const start = Date.UTC(Number(year), Number(month) - 1, Number(day))
    return Number.isNaN(start) ? [] : [{ start, bytes: Number(bytes) }]
  })
}
