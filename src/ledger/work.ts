import type { Database } from 'bun:sqlite'

/*
 * Statements for both databases, each written once. A work is a generator that yields statements and gets their rows.
 * SQLite runs it at once (`atOnce`), PostgreSQL waits for each statement (`inSteps`). Parameters are `$1`,
 * `$2` …, which SQLite writes as `?1`, `?2` …: its own `$1` are names, counted as they appear.
 */

/** A statement for both databases. */
export interface Statement {
  readonly text: string
  readonly values: readonly (string | number | Uint8Array | null)[]
}

/** A row of a result, not checked. Numbers may be texts of digits. */
export type WorkRow = Readonly<Record<string, unknown>>

/** Work on a database: yields statements and gets their rows. It may be begun again. */
export type Work<Value> = Generator<Statement, Value, readonly WorkRow[]>

/** Performs work without waiting for another. @throws {LedgerUnavailable} */
export type PerformWork = <Value>(work: () => Work<Value>) => Promise<Value>

export function statement(text: string, values: Statement['values'] = []): Statement {
  return { text, values }
}

/** Work of one statement. */
export function* rowsOf(only: Statement): Work<readonly WorkRow[]> {
  return yield only
}

/** The `$` of a parameter. One of a JSON path stays. */
const parameterMark = /\$(?=\d)/g

/** Performs work in SQLite, within a transaction of the caller or without one. */
export function atOnce<Value>(database: Database, work: Work<Value>): Value {
  let step = work.next()
  while (step.done !== true) {
    const { text, values } = step.value
    const query = database.query<WorkRow, (string | number | Uint8Array | null)[]>(text.replaceAll(parameterMark, '?'))
    step = work.next(query.all(...values))
  }
  return step.value
}

/** Performs work in PostgreSQL, within a transaction of the caller or without one. */
export async function inSteps<Value>(
  query: (text: string, values: Statement['values']) => Promise<readonly WorkRow[]>,
  work: Work<Value>,
): Promise<Value> {
  let step = work.next()
  while (step.done !== true) step = work.next(await query(step.value.text, step.value.values))
  return step.value
}

/** A number of a row; 0 if it is absent or NULL. */
export function numberInRow(row: WorkRow | undefined, column: string): number {
  return Number(row?.[column] ?? 0)
}

/** A text of a row; `undefined` for NULL. */
export function textInRow(row: WorkRow, column: string): string | undefined {
  const value = row[column]
  return value === null || value === undefined ? undefined : String(value)
}

/** Places `$1, $2 …` for a list of values, from a number on. */
export function places(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ')
}
