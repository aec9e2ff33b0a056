import type { Database } from 'bun:sqlite'

/*
 * Statements for both databases, each written once. A work is a generator that yields statements and gets their rows.
 * SQLite runs it at once (`atOnce`), PostgreSQL waits for each statement (`inSteps`). Parameters are `$1`,
 * `$2` …, which SQLite writes as `?1`, `?2` …: its own `$1` are names, counted as they appear.
 */

type Value = string | number | Uint8Array | null

/** A statement for both databases, or a piece of one. */
export interface Statement {
  readonly text: string
  readonly values: readonly Value[]
}

/** A row of a result, not checked. Numbers may be texts of digits. */
export type WorkRow = Readonly<Record<string, unknown>>

/** Work on a database: yields statements and gets their rows. It may be begun again. */
export type Work<Result> = Generator<Statement, Result, readonly WorkRow[]>

/** Performs work without waiting for another. @throws {LedgerUnavailable} */
export type PerformWork = <Result>(work: () => Work<Result>) => Promise<Result>

/** @param text is not of a caller */
export function statement(text: string, values: Statement['values'] = []): Statement {
  return { text, values }
}

/** A statement of a template: values become parameters, statements are put in place. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Value | Statement)[]): Statement {
  const pieces = texts.flatMap((text, index) => {
    const part = parts[index]
    if (part === undefined) return statement(text)
    return [statement(text), isStatement(part) ? part : statement('$1', [part])]
  })
  return joinedSql(pieces, '')
}

function isStatement(part: Value | Statement): part is Statement {
  return typeof part === 'object' && part !== null && 'text' in part
}

/** Statements with a separator between them. Their parameters are numbered anew. */
export function joinedSql(pieces: readonly Statement[], separator: string): Statement {
  const values: Value[] = []
  const texts = pieces.map((piece) => {
    const before = values.length
    values.push(...piece.values)
    if (before === 0 || piece.values.length === 0) return piece.text
    return piece.text.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`)
  })
  return { text: texts.join(separator), values }
}

/** A list for `IN`. */
export function listSql(values: Statement['values']): Statement {
  return statement(values.length === 0 ? '(NULL)' : `(${places(values.length)})`, values)
}

/** Work of one statement. */
export function* rowsOf(only: Statement): Work<readonly WorkRow[]> {
  return yield only
}

/** The `$` of a parameter. One of a JSON path stays. */
const parameterMark = /\$(?=\d)/g

/** Performs work in SQLite, within a transaction of the caller or without one. */
export function atOnce<Result>(database: Database, work: Work<Result>): Result {
  let step = work.next()
  while (step.done !== true) {
    const { text, values } = step.value
    step = work.next(database.query<WorkRow, Value[]>(text.replaceAll(parameterMark, '?')).all(...values))
  }
  return step.value
}

/** Rows of a statement in SQLite that is not prepared for the next time, since its conditions will differ. */
export function rowsOnce(database: Database, { text, values }: Statement): readonly WorkRow[] {
  const prepared = database.prepare<WorkRow, Value[]>(text.replaceAll(parameterMark, '?'))
  try {
    return prepared.all(...values)
  } finally {
    prepared.finalize()
  }
}

/** Performs work in PostgreSQL, within a transaction of the caller or without one. */
export async function inSteps<Result>(
  query: (text: string, values: Statement['values']) => Promise<readonly WorkRow[]>,
  work: Work<Result>,
): Promise<Result> {
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
