import { findContent } from '../content/content-works.ts'
import { joinedSql, numberInRow, sql, statement, textInRow, type Statement, type WorkRow } from '../work.ts'
import { counterNames, type CounterName } from './counters.ts'
import { outcomeReader } from './read-outcomes.ts'
import { StoredSearch, type SearchLimits } from './search-requests.ts'
import { namesOfNumbers, timeZoneOf, type NameTables, type TableReader, type UseTables } from './stored-requests.ts'
import { caseless, teamColumn } from './team-members.ts'
import type { UseFilter, UseGroup, UseRow } from './use-question.ts'
import type { UseReader } from './use-reader.ts'
import { zoneHours } from './zone-hours.ts'

/** Hours are kept for 100 days; the sums of longer times are read from days. */
const hoursReadMs = 99 * 86_400_000

const sums = statement(counterNames.map((name) => `sum(${name}) AS ${name}`).join(', '))

/** Reads the tables of a database. */
export function readerOf(tables: UseTables, limits: SearchLimits): Omit<UseReader, 'isCurrent' | 'close'> {
  return {
    ...sumsReader(tables),
    outcomes: outcomeReader(tables),
    requests: new StoredSearch(tables, limits),
    content: (question) => findContent(tables, question),
  }
}

/** Reads the sums of hours and days. */
function sumsReader(tables: NameTables): Pick<UseReader, 'read' | 'costSince'> {
  const { names: read } = tables
  return {
    async read({ from, to, unit, by, teams = [], rowsMax, ...filter }) {
      const time = statement(unit)
      const group = by === 'team' ? await teamColumn(read, teams) : (groupColumns[by] ?? by)
      const where = joinedSql(
        [sql`${time} BETWEEN ${from} AND ${to}`, ...(await conditionsOf(filter, tables))],
        ' AND ',
      )
      const most = sql`LIMIT ${rowsMax + 1}`
      const found = await read(
        by === 'session'
          ? sql`SELECT min(${time}) AS time, session AS name, ${sums} FROM usage_session WHERE ${where}
                GROUP BY session ORDER BY max(hour) DESC, cost DESC, session ${most}`
          : sql`SELECT ${time} AS time, ${statement(group)} AS name, ${sums} FROM ${statement(`usage_${unit}`)}
                WHERE ${where} GROUP BY 1, 2 ORDER BY 1, cost DESC, 2 ${most}`,
      )
      const rows = found.slice(0, rowsMax)
      const named =
        by === 'team'
          ? (row: WorkRow) => teams[numberInRow(row, 'name') - 1]?.name ?? ''
          : await namesOf(tables, by, rows)
      const [written] = await read(statement('SELECT max(time) AS time FROM batch'))
      const writtenAt = numberInRow(written, 'time')
      return {
        rows: rows.map((row) => useRow(row, named)),
        isCut: found.length > rowsMax,
        timeZone: await timeZoneOf(tables),
        ...(writtenAt === 0 ? {} : { writtenAt }),
      }
    },
    async costSince(filter, since, now) {
      const isRecent = now - since < hoursReadMs
      const first = isRecent ? since : since === 0 ? 0 : zoneHours(await timeZoneOf(tables)).at(since).day
      const unit = isRecent ? 'hour' : 'day'
      const conditions = [sql`${statement(unit)} >= ${first}`, ...(await conditionsOf(filter, tables))]
      const [row] = await read(
        sql`SELECT sum(cost) AS sum FROM ${statement(`usage_${unit}`)} WHERE ${joinedSql(conditions, ' AND ')}`,
      )
      return numberInRow(row, 'sum')
    },
  }
}

const groupColumns: Readonly<Partial<Record<UseGroup, string>>> = { all: '0', key: 'line' }

async function namesOf(
  tables: NameTables,
  by: Exclude<UseGroup, 'team'>,
  rows: readonly WorkRow[],
): Promise<(row: WorkRow) => string> {
  if (by === 'all') return () => ''
  if (by === 'session') return (row) => textInRow(row, 'name') ?? ''
  const ids = new Set(rows.map((row) => numberInRow(row, 'name')))
  const names = await namesOfNumbers(tables, by === 'model' || by === 'provider' ? 'label' : by, [...ids])
  return (row) => {
    const id = numberInRow(row, 'name')
    return names.get(id) ?? (id === 0 ? '' : `${by} ${id}`)
  }
}

/** @param row its group is the column `name` */
function useRow(row: WorkRow, named: (row: WorkRow) => string): UseRow {
  const counters = { ...noCounters }
  for (const name of counterNames) counters[name] = numberInRow(row, name)
  return { time: numberInRow(row, 'time'), name: named(row), counters }
}

const noCounters: Readonly<Record<CounterName, number>> = {
  requests: 0,
  errors: 0,
  left_early: 0,
  attempts: 0,
  input: 0,
  cached: 0,
  write5: 0,
  write60: 0,
  output: 0,
  reasoning: 0,
  cost: 0,
  cost_reported: 0,
  cost_estimated: 0,
  unpriced: 0,
  estimated: 0,
  unsettled: 0,
  saved: 0,
}

async function conditionsOf(
  { line, people, userIds, userNames, team, provider, models }: UseFilter,
  { names: read, kind: { listed, byBytes } }: NameTables,
): Promise<readonly Statement[]> {
  const whose: Statement[] = []
  const texts = (values: readonly string[]): Statement => sql`(SELECT value FROM ${listed(values)})`
  if (people !== undefined) whose.push(sql`person IN (SELECT person.id FROM person WHERE subject IN ${texts(people)})`)
  if (userIds !== undefined || userNames !== undefined) {
    const ids = texts(userIds ?? [])
    const names = texts((userNames ?? []).map(caseless))
    whose.push(sql`person IN (SELECT person.id FROM person
                   WHERE user_id IN ${ids} OR subject IN ${ids} OR lower(name ${byBytes}) IN ${names})`)
  }
  if (team !== undefined) whose.push(isLabel('team', team))
  const conditions: Statement[] = []
  if (line !== undefined) conditions.push(sql`line = ${line}`)
  if (whose.length > 0) conditions.push(sql`(${joinedSql(whose, ' OR ')})`)
  if (provider !== undefined) conditions.push(isLabel('provider', provider))
  if (models !== undefined) {
    const ids = listed(await modelIds(read, models))
    conditions.push(sql`model IN (SELECT CAST(value AS bigint) FROM ${ids})`)
  }
  return conditions
}

function isLabel(column: 'team' | 'provider', text: string): Statement {
  return sql`${statement(column)} = (SELECT id FROM label WHERE kind = ${column} AND text = ${text})`
}

async function modelIds(read: TableReader, models: readonly string[]): Promise<readonly number[]> {
  const labels = await read(statement("SELECT id, text FROM label WHERE kind = 'model'"))
  return labels.filter((row) => isModelOf(String(row['text']), models)).map((row) => numberInRow(row, 'id'))
}

/** Whether a model is among names in lower case, or beginnings of names and `*`. */
function isModelOf(name: string, models: readonly string[]): boolean {
  const model = name.toLowerCase()
  // Of a name as `provider/model`, the model.
  const own = model.slice(model.indexOf('/') + 1)
  return [model, own].some((each) =>
    models.some((given) => (given.endsWith('*') ? each.startsWith(given.slice(0, -1)) : each === given)),
  )
}
