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
export class StoredSearch implements RequestSearch {
  readonly #tables: UseTables
  readonly #budgetMs: number
  readonly #stepRows: number

  constructor(tables: UseTables, { budgetMs = 25, stepRows = 1_000 }: SearchLimits) {
    this.#tables = tables
    this.#budgetMs = budgetMs
    this.#stepRows = stepRows
  }

  async page({ scope, filter: { from = 0, to, ...filter }, before, rowsMax }: RequestQuestion): Promise<RequestPage> {
    const conditions = await this.#conditionsOf(scope, filter)
    if (conditions === undefined) return { requests: [] }
    const last = to === undefined ? newest : { time: to, seq: 0 }
    const span: Span = {
      before: before !== undefined && compared(before, last) < 0 ? before : last,
      since: from,
      limit: rowsMax + 1,
      until: performance.now() + this.#budgetMs,
    }
    const parts: Found[] = []
    for (const index of conditions.indexes) parts.push(await this.#follow(index, conditions, span))
    const { rows: found, end } = merged(parts, rowsMax)
    return {
      requests: await storedRequests(found, this.#tables),
      ...(end === undefined ? {} : { next: end }),
    }
  }

  async find(scope: RequestScope, id: string): Promise<RequestEntry | undefined> {
    const conditions = await this.#conditionsOf(scope, {})
    if (conditions === undefined) return undefined
    const own = sql`(${joinedSql(conditions.indexes, ' OR ')})`
    const found = await this.#select([sql`id ${this.#tables.kind.byBytes} = ${id}`, own], 1)
    return (await storedRequests(found, this.#tables))[0]
  }

  async callers(): Promise<readonly StoredCaller[]> {
    // People who were forgotten, or of an earlier version (migrations.ts), do not come back.
    const people = await this.#tables.names(
      sql`SELECT name, subject FROM person WHERE gone IS NULL AND subject NOT LIKE 'earlier svc: %'
            ORDER BY seen DESC, id DESC LIMIT ${choicesMax}`,
    )
    const keys = await this.#tables.names(
      sql`SELECT name, line FROM key WHERE id IN (SELECT max(id) FROM key WHERE used IS NOT NULL GROUP BY line)
            ORDER BY used DESC LIMIT ${choicesMax}`,
    )
    return [
      ...people.map(({ name, subject }) => ({ id: String(subject), name: String(name) })),
      ...keys.map(({ name, line }) => ({ name: String(name), line: Number(line) })),
    ]
  }

  async choices(scope: RequestScope): Promise<RequestChoices> {
    if (scope.line !== undefined || scope.people !== undefined) return await this.#choicesOf(scope)
    const labels = (kind: string): Promise<readonly string[]> =>
      this.#texts(sql`SELECT text FROM label WHERE kind = ${kind} ORDER BY id DESC LIMIT ${choicesMax}`)
    return {
      ...(await this.#oldestOf([statement('TRUE')])),
      errors: await labels('error'),
      apis: await labels('api'),
      models: await labels('model'),
      providers: await labels('provider'),
      people: await this.#texts(sql`SELECT name AS text FROM person ORDER BY seen DESC LIMIT ${choicesMax}`),
      keys: await this.#texts(sql`SELECT DISTINCT name AS text FROM key ORDER BY name LIMIT ${choicesMax}`),
    }
  }

  /** Of others, not even names are shown. */
  async #choicesOf(scope: RequestScope): Promise<RequestChoices> {
    const indexes = (await this.#conditionsOf(scope, {}))?.indexes ?? []
    const own = ownCondition(scope)
    const used = (column: 'model' | 'provider'): Promise<readonly string[]> =>
      this.#texts(
        sql`SELECT text FROM label
            WHERE id IN (SELECT DISTINCT ${statement(column)} FROM usage_day WHERE ${own})
            ORDER BY id DESC LIMIT ${choicesMax}`,
      )
    return {
      ...(await this.#oldestOf(indexes)),
      errors: await this.#newestOf('error', indexes),
      apis: await this.#newestOf('api', indexes),
      models: await used('model'),
      providers: await used('provider'),
      people: [],
      keys: await this.#texts(
        sql`SELECT DISTINCT name AS text FROM key
            WHERE line IN (SELECT DISTINCT line FROM usage_day WHERE ${own}) ORDER BY name LIMIT ${choicesMax}`,
      ),
    }
  }

  /** The texts of a column in the newest requests of some indexes. */
  async #newestOf(column: 'error' | 'api', indexes: readonly Statement[]): Promise<readonly string[]> {
    const name = statement(column)
    const steps = indexes.map(
      (index) => sql`SELECT * FROM (SELECT ${name} AS id FROM request WHERE ${index} ${order} LIMIT ${fewMax}) AS step`,
    )
    if (steps.length === 0) return []
    const found = await this.#tables.rows(sql`SELECT DISTINCT id FROM (${joinedSql(steps, ' UNION ALL ')}) AS found`)
    return await this.#texts(
      sql`SELECT text FROM label WHERE id IN ${listSql(found.map(({ id }) => Number(id)))} ORDER BY id DESC`,
    )
  }

  async #texts(query: Statement): Promise<readonly string[]> {
    return (await this.#tables.names(query)).map(({ text }) => String(text))
  }

  #conditionsOf(scope: RequestScope, filter: RequestQuestion['filter']) {
    const { names, kind } = this.#tables
    return requestConditions(scope, filter, { names, kind, areFew: (condition) => this.#areFew(condition) })
  }

  async #areFew(condition: Statement): Promise<boolean> {
    const [row] = await this.#tables.rows(
      sql`SELECT count(*) AS count FROM (SELECT 1 FROM request WHERE ${condition} LIMIT ${fewMax + 1}) AS found`,
    )
    return Number(row?.['count']) <= fewMax
  }

  async #select(conditions: readonly Statement[], limit: number): Promise<readonly WorkRow[]> {
    return await this.#tables.rows(
      sql`SELECT * FROM request WHERE ${joinedSql(conditions, ' AND ')} ${order} LIMIT ${limit}`,
    )
  }

  /** The place of the oldest of the next `stepRows` requests that meet the conditions; `undefined`: there are none. */
  async #nextStep(conditions: readonly Statement[]): Promise<RequestPlace | undefined> {
    const all = joinedSql(conditions, ' AND ')
    const [row] = await this.#tables.rows(
      sql`SELECT time, seq FROM
          (SELECT time, seq FROM request WHERE ${all} ${order} LIMIT ${this.#stepRows}) AS step
          ORDER BY time, seq LIMIT 1`,
    )
    return row && placeOfRow(row)
  }

  async #follow(index: Statement, conditions: RequestConditions, span: Span): Promise<Found> {
    const { filter, areFew: isShort } = conditions
    const { since, limit, until } = span
    const all = [index, ...(since > 0 ? [sql`time >= ${since}`] : [])]
    if (filter === undefined || isShort === true)
      return fullOrWhole(await this.#select([...all, isBefore(span.before), ...(filter ? [filter] : [])], limit), limit)
    const found: WorkRow[] = []
    for (let place = span.before; ;) {
      const end = await this.#nextStep([...all, isBefore(place)])
      if (end === undefined) return { rows: found }
      const step = [...all, isBefore(place), sql`(time, seq) >= (${end.time}, ${end.seq})`, filter]
      found.push(...(await this.#select(step, limit - found.length)))
      if (found.length >= limit) return fullOrWhole(found, limit)
      if (performance.now() > until) return { rows: found, end }
      place = end
    }
  }

  /** Time of the oldest request of some indexes. */
  async #oldestOf(indexes: readonly Statement[]): Promise<Pick<RequestChoices, 'oldest'>> {
    const times: number[] = []
    for (const index of indexes) {
      const [row] = await this.#tables.rows(sql`SELECT min(time) AS time FROM request WHERE ${index}`)
      const time = row?.['time']
      if (time !== null && time !== undefined) times.push(Number(time))
    }
    return times.length === 0 ? {} : { oldest: Math.min(...times) }
  }
}

function ownCondition({ line, people = [] }: RequestScope): Statement {
  return line === undefined ? sql`person IN (${peopleSql(people)})` : sql`line = ${line}`
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
