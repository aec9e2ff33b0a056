import type { RequestEntry } from '../../observe/request-entry.ts'
import { joinedSql, listSql, sql, statement, type Statement, type WorkRow } from '../work.ts'
import { peopleSql, requestConditions, type RequestConditions } from './request-conditions.ts'
import type {
  RequestChoices,
  RequestPage,
  RequestPlace,
  RequestQuestion,
  RequestScope,
  StoredCaller,
} from './request-question.ts'
import { placeOfRow, storedRequests, type UseTables } from './stored-requests.ts'

/** Limits of one search. */
export interface SearchLimits {
  /** Milliseconds after which a search ends and says how far it came. Default 25. */
  readonly budgetMs?: number
  /** Requests that are looked at in one step. Default 1,000. */
  readonly stepRows?: number
}

/** Finds stored requests. */
export interface RequestSearch {
  page(question: RequestQuestion): Promise<RequestPage>
  /** The newest request with this id. */
  find(scope: RequestScope, id: string): Promise<RequestEntry | undefined>
  choices(scope: RequestScope): Promise<RequestChoices>
  /** The people and the keys that asked last, at most 1,000 of each. */
  callers(): Promise<readonly StoredCaller[]>
}

/** Requests that are read although they are not in the order of time. */
const fewMax = 2_000
const choicesMax = 1_000
const order = statement('ORDER BY time DESC, seq DESC')
const newest: RequestPlace = { time: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER }

/** The requests that one index gave, the newest first. */
interface Found {
  readonly rows: readonly WorkRow[]
  /** All requests from this place on were looked at; absent: all were. */
  readonly end?: RequestPlace
}

interface Span {
  /** Requests before this place. */
  readonly before: RequestPlace
  /** Unix milliseconds of the first one. */
  readonly since: number
  readonly limit: number
  /** Time of `performance.now()` at which a search ends. */
  readonly until: number
}

/**
 * Pages are found by the place of the last request, never by counting. A search follows one index by time, or merges
 * some. Conditions that the index does not have are compared step by step for a limited time: no question takes long,
 * and a page may say that the search has to go on.
 */
export function requestSearch(tables: UseTables, { budgetMs = 25, stepRows = 1_000 }: SearchLimits): RequestSearch {
  const { names, rows, kind } = tables
  const areFew = async (condition: Statement): Promise<boolean> => {
    const [row] = await rows(
      sql`SELECT count(*) AS count FROM (SELECT 1 FROM request WHERE ${condition} LIMIT ${fewMax + 1}) AS found`,
    )
    return Number(row?.['count']) <= fewMax
  }
  const conditionsOf = (scope: RequestScope, filter: RequestQuestion['filter']) =>
    requestConditions(scope, filter, { names, kind, areFew })

  async function select(conditions: readonly Statement[], limit: number): Promise<readonly WorkRow[]> {
    return await rows(sql`SELECT * FROM request WHERE ${joinedSql(conditions, ' AND ')} ${order} LIMIT ${limit}`)
  }

  /** The place of the oldest of the next `stepRows` requests that meet the conditions; `undefined`: there are none. */
  async function nextStep(conditions: readonly Statement[]): Promise<RequestPlace | undefined> {
    const [row] = await rows(
      sql`SELECT time, seq FROM
          (SELECT time, seq FROM request WHERE ${joinedSql(conditions, ' AND ')} ${order} LIMIT ${stepRows}) AS step
          ORDER BY time, seq LIMIT 1`,
    )
    return row && placeOfRow(row)
  }

  async function follow(index: Statement, conditions: RequestConditions, span: Span): Promise<Found> {
    const { filter, areFew: isShort } = conditions
    const { since, limit, until } = span
    const all = [index, ...(since > 0 ? [sql`time >= ${since}`] : [])]
    if (filter === undefined || isShort === true)
      return fullOrWhole(await select([...all, isBefore(span.before), ...(filter ? [filter] : [])], limit), limit)
    const found: WorkRow[] = []
    for (let place = span.before; ;) {
      const end = await nextStep([...all, isBefore(place)])
      if (end === undefined) return { rows: found }
      const step = [...all, isBefore(place), sql`(time, seq) >= (${end.time}, ${end.seq})`, filter]
      found.push(...(await select(step, limit - found.length)))
      if (found.length >= limit) return fullOrWhole(found, limit)
      if (performance.now() > until) return { rows: found, end }
      place = end
    }
  }

  return {
    async page({ scope, filter: { from = 0, to, ...filter }, before, rowsMax }) {
      const conditions = await conditionsOf(scope, filter)
      if (conditions === undefined) return { requests: [] }
      const last = to === undefined ? newest : { time: to, seq: 0 }
      const span: Span = {
        before: before !== undefined && compared(before, last) < 0 ? before : last,
        since: from,
        limit: rowsMax + 1,
        until: performance.now() + budgetMs,
      }
      const parts: Found[] = []
      for (const index of conditions.indexes) parts.push(await follow(index, conditions, span))
      const { rows: found, end } = merged(parts, rowsMax)
      return {
        requests: await storedRequests(found, tables),
        ...(end === undefined ? {} : { next: end }),
      }
    },
    async find(scope, id) {
      const conditions = await conditionsOf(scope, {})
      if (conditions === undefined) return undefined
      const own = sql`(${joinedSql(conditions.indexes, ' OR ')})`
      const found = await select([sql`id ${kind.byBytes} = ${id}`, own], 1)
      return (await storedRequests(found, tables))[0]
    },
    async callers() {
      // People who were forgotten, or of an earlier version (migrations.ts), do not come back.
      const people = await names(
        sql`SELECT name, subject FROM person WHERE gone IS NULL AND subject NOT LIKE 'earlier svc: %'
            ORDER BY seen DESC, id DESC LIMIT ${choicesMax}`,
      )
      const keys = await names(
        sql`SELECT name, line FROM key WHERE id IN (SELECT max(id) FROM key WHERE used IS NOT NULL GROUP BY line)
            ORDER BY used DESC LIMIT ${choicesMax}`,
      )
      return [
        ...people.map(({ name, subject }) => ({ id: String(subject), name: String(name) })),
        ...keys.map(({ name, line }) => ({ name: String(name), line: Number(line) })),
      ]
    },
    async choices(scope) {
      const texts = async (query: Statement): Promise<readonly string[]> =>
        (await names(query)).map(({ text }) => String(text))
      const labels = (kind: string): Promise<readonly string[]> =>
        texts(sql`SELECT text FROM label WHERE kind = ${kind} ORDER BY id DESC LIMIT ${choicesMax}`)
      if (scope.line === undefined && scope.people === undefined)
        return {
          ...(await oldestOf([statement('TRUE')])),
          errors: await labels('error'),
          apis: await labels('api'),
          models: await labels('model'),
          providers: await labels('provider'),
          people: await texts(sql`SELECT name AS text FROM person ORDER BY seen DESC LIMIT ${choicesMax}`),
          keys: await texts(sql`SELECT DISTINCT name AS text FROM key ORDER BY name LIMIT ${choicesMax}`),
        }
      const indexes = (await conditionsOf(scope, {}))?.indexes ?? []
      const newestOf = async (column: 'error' | 'api'): Promise<readonly string[]> => {
        const name = statement(column)
        const steps = indexes.map(
          (index) =>
            sql`SELECT * FROM (SELECT ${name} AS id FROM request WHERE ${index} ${order} LIMIT ${fewMax}) AS step`,
        )
        if (steps.length === 0) return []
        const found = await rows(sql`SELECT DISTINCT id FROM (${joinedSql(steps, ' UNION ALL ')}) AS found`)
        return texts(
          sql`SELECT text FROM label WHERE id IN ${listSql(found.map(({ id }) => Number(id)))} ORDER BY id DESC`,
        )
      }
      const own = ownCondition(scope)
      // Of others, not even names are shown.
      const used = (column: 'model' | 'provider'): Promise<readonly string[]> =>
        texts(
          sql`SELECT text FROM label
              WHERE id IN (SELECT DISTINCT ${statement(column)} FROM usage_day WHERE ${own})
              ORDER BY id DESC LIMIT ${choicesMax}`,
        )
      return {
        ...(await oldestOf(indexes)),
        errors: await newestOf('error'),
        apis: await newestOf('api'),
        models: await used('model'),
        providers: await used('provider'),
        people: [],
        keys: await texts(
          sql`SELECT DISTINCT name AS text FROM key
              WHERE line IN (SELECT DISTINCT line FROM usage_day WHERE ${own}) ORDER BY name LIMIT ${choicesMax}`,
        ),
      }
    },
  }

  /** Time of the oldest request of some indexes. */
  async function oldestOf(indexes: readonly Statement[]): Promise<Pick<RequestChoices, 'oldest'>> {
    const times: number[] = []
    for (const index of indexes) {
      const [row] = await rows(sql`SELECT min(time) AS time FROM request WHERE ${index}`)
      const time = row?.['time']
      if (time !== null && time !== undefined) times.push(Number(time))
    }
    return times.length === 0 ? {} : { oldest: Math.min(...times) }
  }

  function ownCondition({ line, people = [] }: RequestScope): Statement {
    return line === undefined ? sql`person IN (${peopleSql(people)})` : sql`line = ${line}`
  }
}

function isBefore({ time, seq }: RequestPlace): Statement {
  return sql`(time, seq) < (${time}, ${seq})`
}

/** Fewer than the limit are all. */
function fullOrWhole(rows: readonly WorkRow[], limit: number): Found {
  const last = rows.at(-1)
  return { rows, ...(last === undefined || rows.length < limit ? {} : { end: placeOfRow(last) }) }
}

/** The requests of some indexes in one order, as far as all indexes were followed. */
function merged(parts: readonly Found[], rowsMax: number): Found {
  const ends = parts.flatMap(({ end }) => end ?? [])
  const end = ends.toSorted(compared).at(-1)
  const bySeq = new Map(parts.flatMap(({ rows }) => rows.map((row) => [placeOfRow(row).seq, row] as const)))
  const rows = [...bySeq.values()]
    .filter((row) => end === undefined || compared(placeOfRow(row), end) >= 0)
    .toSorted((one, other) => compared(placeOfRow(other), placeOfRow(one)))
  const kept = rows.slice(0, rowsMax)
  const last = kept.at(-1)
  if (rows.length > rowsMax && last !== undefined) return { rows: kept, end: placeOfRow(last) }
  return { rows: kept, ...(end === undefined ? {} : { end }) }
}

function compared(one: RequestPlace, other: RequestPlace): number {
  return one.time - other.time || one.seq - other.seq
}
