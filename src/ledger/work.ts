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
  /** Of {@link forRows}. */
  readonly given?: GivenRows
}

/** Rows that are given to a statement. */
interface GivenRows {
  /** The statement in SQLite, for one row, and in PostgreSQL, for all. */
  readonly fileText: string
  readonly serverText: string
  /** Names of the columns of the rows. */
  readonly names: readonly string[]
  readonly rows: readonly (readonly Value[])[]
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

/** Stands for the rows of {@link forRows}. */
export const givenRows = statement('$rows')

/** The columns of given rows. */
export interface GivenColumns {
  /** Names, with their type in PostgreSQL if that is not `bigint`: `source text`. */
  readonly columns: readonly string[]
  /** The number of first columns by which PostgreSQL orders the rows, so that machines lock them in one order. */
  readonly keys?: number
}

/**
 * A statement for each of some rows, which stand at {@link givenRows}. SQLite runs it row by row, PostgreSQL once: the
 * statement must not change one row of the database twice. Wide ones are made once, for many lists of rows.
 */
export function forRows(
  { text, values }: Statement,
  { columns, keys = 0 }: GivenColumns,
): (rows: GivenRows['rows']) => Statement {
  const names = columns.map(nameOfColumn)
  const marks = names.map((_, index) => `?${values.length + 1 + index}`).join(', ')
  const types = columns.map((column) => (column.includes(' ') ? column : `${column} bigint`)).join(', ')
  const order = keys === 0 ? '' : ` ORDER BY ${names.slice(0, keys).join(', ')}`
  const recordset = `jsonb_to_recordset($${values.length + 1}::text::jsonb) AS given (${types})`
  const fileText = inFile(text).replace(givenRows.text, () => `VALUES (${marks})`)
  const serverText = text.replace(givenRows.text, () => `SELECT ${names.join(', ')} FROM ${recordset}${order}`)
  return (rows) => ({ text, values, given: { fileText, serverText, names, rows } })
}

/** Inserts rows. @param rest what follows the rows, such as `ON CONFLICT` */
export function insertRows(
  table: string,
  given: GivenColumns,
  rest = statement(''),
): (rows: GivenRows['rows']) => Statement {
  const columns = given.columns.map(nameOfColumn).join(', ')
  return forRows(sql`INSERT INTO ${statement(table)} (${statement(columns)}) ${givenRows} ${rest}`, given)
}

/** The name of a column that has its type behind it. */
export function nameOfColumn(column: string): string {
  return column.replace(/ .*/, '')
}

/** Work of one statement. */
export function* rowsOf(only: Statement): Work<readonly WorkRow[]> {
  return yield only
}

/** The text of a statement for SQLite. The `$` of a JSON path stays. */
function inFile(text: string): string {
  return text.replaceAll(/\$(?=\d)/g, '?')
}

/** Performs work in SQLite, within a transaction of the caller or without one. */
export function atOnce<Result>(database: Database, work: Work<Result>): Result {
  let step = work.next()
  while (step.done !== true) step = work.next(rowsAtOnce(database, step.value))
  return step.value
}

function rowsAtOnce(database: Database, { text, values, given }: Statement): readonly WorkRow[] {
  if (given === undefined) return database.query<WorkRow, Value[]>(inFile(text)).all(...values)
  const found: WorkRow[] = []
  if (given.rows.length === 0) return found
  const query = database.query<WorkRow, Value[]>(given.fileText)
  for (const row of given.rows) {
    const more = values.length === 0 ? query.all(...row) : query.all(...values, ...row)
    if (more.length > 0) found.push(...more)
  }
  return found
}

/** Rows of a statement in SQLite that is not prepared for the next time, since its conditions will differ. */
export function rowsOnce(database: Database, { text, values }: Statement): readonly WorkRow[] {
  const prepared = database.prepare<WorkRow, Value[]>(inFile(text))
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
  while (step.done !== true) {
    const { text, values, given } = step.value
    if (given === undefined) step = work.next(await query(text, values))
    else if (given.rows.length === 0) step = work.next([])
    else step = work.next(await query(given.serverText, [...values, recordsetOf(given)]))
  }
  return step.value
}

function recordsetOf({ names, rows }: GivenRows): string {
  return JSON.stringify(
    rows.map((row) => {
      const object: Record<string, Value> = {}
      for (const [index, name] of names.entries()) object[name] = storable(row[index] ?? null)
      return object
    }),
  )
}

function storable(value: Value): Value {
  return typeof value === 'string' ? storableText(value) : value
}

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
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
