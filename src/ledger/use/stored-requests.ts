import { listSql, literalSql, sql, type Sql } from '../sql.ts'
import { limitsOfLabel } from './limits-label.ts'
import type { RequestPlace, StoredAttempt, StoredRequest } from './request-question.ts'
import { costSourceOf, rowFlags } from './row-values.ts'

/** A row of a table. Numbers may be texts of digits. */
export type TableRow = Readonly<Record<string, unknown>>

/** Reads tables of one database. */
export type TableReader = (query: Sql) => Promise<readonly TableRow[]>

/** The tables of the use. */
export interface UseTables {
  /** Of names and sums. */
  readonly names: TableReader
  /** Of requests and attempts. */
  readonly rows: TableReader
}

/** The place of a row of `request`. */
export function placeOfRow({ time, seq }: TableRow): RequestPlace {
  return { time: Number(time), seq: Number(seq) }
}

/** Rows of `request` with their names and attempts. */
export async function storedRequests(found: readonly TableRow[], tables: UseTables): Promise<readonly StoredRequest[]> {
  if (found.length === 0) return []
  const attempts = await attemptsOf(found, tables)
  const of = await namesOf([...found, ...attempts], tables.names)
  const trails = Map.groupBy(attempts, ({ seq }) => Number(seq))
  return found.map((row) => ({
    ...placeOfRow(row),
    id: String(row['id']),
    api: of('label', row['api']),
    key: of('key', row['line']),
    person: of('person', row['person']),
    model: of('label', row['model']),
    provider: of('label', row['provider']),
    status: Number(row['status']),
    error: of('label', row['error']),
    ms: Number(row['ms']),
    ...optional('firstMs', row['first_ms']),
    tokens: {
      input: Number(row['input']),
      cached: Number(row['cached']),
      write5: Number(row['write5']),
      write60: Number(row['write60']),
      output: Number(row['output']),
      reasoning: Number(row['reasoning']),
    },
    ...optional('cost', row['cost']),
    isStream: hasFlag(row, 'stream'),
    isEstimated: hasFlag(row, 'estimated'),
    isUnpriced: hasFlag(row, 'unpriced'),
    hasConflict: hasFlag(row, 'conflict'),
    ...sourceOf(row),
    attempts: Number(row['attempts']),
    limits: limitsOfLabel(of('label', row['limits'])),
    ...optional('waitedMs', row['waited_ms']),
    trail: (trails.get(Number(row['seq'])) ?? []).map((attempt): StoredAttempt => ({
      provider: of('label', attempt['provider']),
      status: Number(attempt['status']),
      failure: of('label', attempt['class']),
      ms: Number(attempt['ms']),
      input: Number(attempt['input']),
      output: Number(attempt['output']),
      ...optional('cost', attempt['cost']),
      isBooked: hasFlag(attempt, 'booked'),
      mayBeBilled: hasFlag(attempt, 'ambiguous'),
    })),
  }))
}

function hasFlag({ flags }: TableRow, name: keyof typeof rowFlags): boolean {
  return (Number(flags) & rowFlags[name]) !== 0
}

function sourceOf({ flags }: TableRow): Pick<StoredRequest, 'costSource'> {
  const costSource = costSourceOf(Number(flags))
  return costSource === undefined ? {} : { costSource }
}

function optional<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: number } {
  // The key is this name.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return value === null || value === undefined ? {} : ({ [name]: Number(value) } as { [Key in Name]: number })
}

async function attemptsOf(found: readonly TableRow[], { rows }: UseTables): Promise<readonly TableRow[]> {
  return await rows(
    sql`SELECT * FROM attempt WHERE seq IN ${listSql(found.map(({ seq }) => Number(seq)))} ORDER BY seq, n`,
  )
}

const labelColumns = ['api', 'model', 'provider', 'error', 'class', 'limits'] as const

/** The names of the numbers in some rows. 0 is no name. */
async function namesOf(
  found: readonly TableRow[],
  names: TableReader,
): Promise<(kind: 'label' | 'person' | 'key', number: unknown) => string> {
  const numbers = (...columns: readonly string[]): readonly number[] => [
    ...new Set(found.flatMap((row) => columns.map((column) => Number(row[column] ?? 0))).filter((each) => each !== 0)),
  ]
  const read = async (select: string, wanted: readonly number[], order = ''): Promise<ReadonlyMap<number, string>> => {
    if (wanted.length === 0) return new Map()
    const rows = await names(sql`${literalSql(select)} IN ${listSql(wanted)} ${literalSql(order)}`)
    return new Map(rows.map(({ id, name }) => [Number(id), String(name)]))
  }
  const known = {
    label: await read('SELECT id, text AS name FROM label WHERE id', numbers(...labelColumns)),
    person: await read('SELECT id, name FROM person WHERE id', numbers('person')),
    // The newest key of a line has the name that is in use.
    key: await read('SELECT line AS id, name FROM key WHERE line', numbers('line'), 'ORDER BY key.id'),
  }
  return (kind, number) => known[kind].get(Number(number)) ?? (Number(number) === 0 ? '' : `${kind} ${String(number)}`)
}

/** The texts of labels by their numbers. */
export async function labelTexts(names: TableReader, numbers: readonly number[]): Promise<(number: number) => string> {
  const of = await namesOf(
    numbers.map((model) => ({ model })),
    names,
  )
  return (number) => of('label', number)
}
