import type { SqlKind } from '../sql-kind.ts'
import { joinedSql, numberInRow, sql, statement, textInRow, type Statement, type Work, type WorkRow } from '../work.ts'
import { sumKeyColumns } from './sums-table.ts'

/** The columns of a row that a repricing reads. */
const rowColumns = [
  'seq',
  'time',
  'ms',
  ...sumKeyColumns,
  'input',
  'cached',
  'write5',
  'write60',
  'output',
  'reasoning',
  'cost',
  'flags',
  'session',
  'served',
] as const

/** A stored row. */
export type StoredRow = Readonly<
  Record<Exclude<(typeof rowColumns)[number], 'cost' | 'session' | 'served'>, number>
> & {
  readonly cost: number | null
  /** Empty: none. */
  readonly session: string
  /** The model that answered. Absent: the one that was asked for. */
  readonly served: string | undefined
}

/** What is added to the sums of an hour, of its day and of a session in it. */
export interface SumMove {
  readonly hour: number
  readonly day: number
  /** Empty: none. */
  readonly session: string
  /** In the order of the columns of the key. */
  readonly key: readonly number[]
  cost: number
  estimated: number
  unpriced: number
}

/** Columns that give rows an order, each another place. */
export type RowOrder = readonly ('time' | 'seq')[]

/** A page of rows with a provider. @param last the last row of the page before */
export function pageAfter(
  last: StoredRow | undefined,
  { since, order, limit }: { readonly since: number; readonly order: RowOrder; readonly limit: number },
): Statement {
  const columns = statement(order.join(', '))
  const place = joinedSql(
    order.map((name) => sql`${last?.[name] ?? Number.MIN_SAFE_INTEGER}`),
    ', ',
  )
  return sql`SELECT ${statement(rowColumns.join(', '))} FROM request
             WHERE time >= ${since} AND (${columns}) > (${place}) AND provider <> 0 ORDER BY ${columns} LIMIT ${limit}`
}

/** The row of a page. */
export function storedRow(row: WorkRow): StoredRow {
  const number = (name: (typeof rowColumns)[number]): number => numberInRow(row, name)
  return {
    seq: number('seq'),
    time: number('time'),
    ms: number('ms'),
    line: number('line'),
    person: number('person'),
    team: number('team'),
    model: number('model'),
    provider: number('provider'),
    input: number('input'),
    cached: number('cached'),
    write5: number('write5'),
    write60: number('write60'),
    output: number('output'),
    reasoning: number('reasoning'),
    cost: row['cost'] === null ? null : number('cost'),
    flags: number('flags'),
    session: textInRow(row, 'session') ?? '',
    served: textInRow(row, 'served'),
  }
}

/** The places in the list, as `place`, of moves whose sums of the hour and of the day are there. */
export function sumsThere(moves: readonly SumMove[], kind: SqlKind): Statement {
  return sql`SELECT moved.place FROM ${movesTable(moves, kind)} AS moved
             JOIN usage_hour ON ${isSame('usage_hour', 'hour')} JOIN usage_day ON ${isSame('usage_day', 'day')}`
}

/** The first columns of the keys of sums. */
const movedUnits = { hour: ['hour'], day: ['day'], session: ['hour', 'session'] } as const

type MovedUnit = keyof typeof movedUnits

/** Adds moves to the sums of hours, days and sessions, within a transaction. */
export function* moveSums(moves: readonly SumMove[], kind: SqlKind): Work<void> {
  for (const unit of ['hour', 'day', 'session'] as const) {
    const names = [...movedUnits[unit], ...sumKeyColumns]
    const key = statement(names.join(', '))
    // Several hours are in one day, and several sessions in one hour.
    const moved = sql`(SELECT ${key}, sum(cost) AS cost, sum(estimated) AS estimated, sum(unpriced) AS unpriced
                       FROM ${movesTable(moves, kind)} AS each_move GROUP BY ${key}) AS moved`
    const table = statement(`usage_${unit}`)
    const same = isSame('stored', unit)
    if (kind.lock !== undefined) {
      // In the order in which machines add to the sums.
      const order = statement(names.map((name) => `stored.${name}`).join(', '))
      yield sql`SELECT 1 FROM ${table} AS stored JOIN ${moved} ON ${same} ORDER BY ${order} ${kind.lock('stored')}`
    }
    yield sql`UPDATE ${table} AS stored SET cost = stored.cost + moved.cost,
                cost_estimated = stored.cost_estimated + moved.estimated, unpriced = stored.unpriced + moved.unpriced
              FROM ${moved} WHERE ${same}`
  }
}

const moveColumns = ['place', 'hour', 'day', ...sumKeyColumns, 'cost', 'estimated', 'unpriced', 'session']

function movesTable(moves: readonly SumMove[], { arrays }: SqlKind): Statement {
  const columns = moveColumns.map(
    (name, index) => `CAST(value ->> ${index} AS ${name === 'session' ? 'text' : 'bigint'}) AS ${name}`,
  )
  const rows = moves.map(({ hour, day, key, cost, estimated, unpriced, session }, place) => [
    ...[place, hour, day, ...key],
    ...[cost, estimated, unpriced, session],
  ])
  return sql`(SELECT ${statement(columns.join(', '))} FROM ${arrays(rows)})`
}

function isSame(table: string, unit: MovedUnit): Statement {
  return statement(
    [...movedUnits[unit], ...sumKeyColumns].map((name) => `${table}.${name} = moved.${name}`).join(' AND '),
  )
}
