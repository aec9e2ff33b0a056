import type { Row } from '../../observe/fields.ts'
import { attemptFields, requestFields, storedEntry } from '../../observe/record.ts'
import type { RequestEntry } from '../../observe/request-entry.ts'
import type { SqlKind } from '../sql-kind.ts'
import { listSql, sql, statement, textInRow, type Statement, type WorkRow } from '../work.ts'
import type { RequestPlace } from './request-question.ts'
import { requestTexts } from './row-values.ts'

/** Reads tables of one database. */
export type TableReader = (query: Statement) => Promise<readonly WorkRow[]>

/** The tables of names and sums. */
export interface NameTables {
  readonly names: TableReader
  readonly kind: SqlKind
}

/** The tables of the use. */
export interface UseTables extends NameTables {
  /** Of requests and attempts. */
  readonly rows: TableReader
}

/** The place of a row of `request`. */
export function placeOfRow({ time, seq }: WorkRow): RequestPlace {
  return { time: Number(time), seq: Number(seq) }
}

/** Rows of `request` with their names and attempts. */
export async function storedRequests(found: readonly WorkRow[], tables: UseTables): Promise<readonly RequestEntry[]> {
  if (found.length === 0) return []
  const attempts = await attemptsOf(found, tables)
  const of = await namesOf([...found, ...attempts], tables)
  const trails = Map.groupBy(attempts, ({ seq }) => Number(seq))
  return found.map((row) =>
    storedEntry(
      new NamedRow(
        row,
        of,
        (trails.get(Number(row['seq'])) ?? []).map((attempt) => new NamedRow(attempt, of)),
      ),
    ),
  )
}

/** A row, with the names for its numbers. */
class NamedRow implements Row {
  readonly #row: WorkRow
  readonly #nameOf: Names
  readonly attempts: readonly Row[]

  constructor(row: WorkRow, nameOf: Names, attempts: readonly Row[] = []) {
    this.#row = row
    this.#nameOf = nameOf
    this.attempts = attempts
  }

  number(column: string): number {
    return Number(this.#row[column])
  }

  optional(column: string): number | undefined {
    const value = this.#row[column]
    return value === null || value === undefined ? undefined : Number(value)
  }

  text(column: string): string {
    const value = this.#row[column]
    if (requestTexts.has(column)) return value === null || value === undefined ? '' : String(value)
    return this.#nameOf(nameKinds.get(column) ?? 'label', value ?? 0)
  }
}

async function attemptsOf(found: readonly WorkRow[], { rows }: UseTables): Promise<readonly WorkRow[]> {
  return await rows(
    sql`SELECT * FROM attempt WHERE seq IN ${listSql(found.map(({ seq }) => Number(seq)))} ORDER BY seq, n`,
  )
}

/** What the numbers of columns name. */
const nameKinds: ReadonlyMap<string, NameKind> = new Map([
  ['line', 'key'],
  ...[...requestFields, ...attemptFields].flatMap(({ column, label }): [string, NameKind][] =>
    column === undefined || label === undefined ? [] : [[column, label === 'person' ? label : 'label']],
  ),
])

type NameKind = 'label' | 'person' | 'key'

/** The name for a number; empty for 0. */
type Names = (kind: NameKind, number: unknown) => string

/** The names of the numbers in some rows. 0 is no name. */
async function namesOf(found: readonly WorkRow[], tables: NameTables): Promise<Names> {
  const numbers = (wanted: NameKind): readonly number[] => {
    const columns = Array.from(nameKinds).flatMap(([column, kind]) => (kind === wanted ? column : []))
    const all = found.flatMap((row) => columns.map((column) => Number(row[column] ?? 0)))
    return [...new Set(all.filter((each) => each !== 0))]
  }
  const known = {
    label: await namesOfNumbers(tables, 'label', numbers('label')),
    person: await namesOfNumbers(tables, 'person', numbers('person')),
    key: await namesOfNumbers(tables, 'key', numbers('key')),
  }
  return (kind, number) => known[kind].get(Number(number)) ?? (Number(number) === 0 ? '' : `${kind} ${String(number)}`)
}

const nameQueries: Readonly<Record<NameKind, readonly [select: string, order: string]>> = {
  label: ['SELECT id, text AS name FROM label WHERE id', ''],
  person: ['SELECT id, name FROM person WHERE id', ''],
  // The newest key of a line has the name that is in use.
  key: ['SELECT line AS id, name FROM key WHERE line', 'ORDER BY key.id'],
}

/** The names by their numbers, as far as they are known. */
export async function namesOfNumbers(
  { names, kind: { listed } }: NameTables,
  kind: NameKind,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (numbers.length === 0) return new Map()
  const [select, order] = nameQueries[kind]
  const rows = await names(
    sql`${statement(select)} IN (SELECT CAST(value AS bigint) FROM ${listed(numbers)}) ${statement(order)}`,
  )
  return new Map(rows.map(({ id, name }) => [Number(id), String(name)]))
}

/** The IANA name of the zone in which the last days began. */
export async function timeZoneOf({ names }: NameTables): Promise<string> {
  const [row] = await names(statement("SELECT value FROM meta WHERE name = 'time_zone'"))
  return (row && textInRow(row, 'value')) ?? 'UTC'
}

/** The texts of labels by their numbers. */
export async function labelTexts(tables: NameTables, numbers: readonly number[]): Promise<(number: number) => string> {
  const of = await namesOf(
    numbers.map((model) => ({ model })),
    tables,
  )
  return (number) => of('label', number)
}
