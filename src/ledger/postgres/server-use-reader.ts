import { readContent } from '../content/content-works.ts'
import { nameOfServer } from '../ledger-place.ts'
import { counterNames } from '../use/counters.ts'
import { outcomeReader } from '../use/read-outcomes.ts'
import { requestSearch, type SearchLimits } from '../use/search-requests.ts'
import type { TableReader } from '../use/stored-requests.ts'
import { teamColumn } from '../use/team-members.ts'
import type { UseAnswer, UseFilter, UseGroup, UseQuestion } from '../use/use-question.ts'
import { hoursReadMs, isModelOf, useRow, type UseReader } from '../use/use-reader.ts'
import { zoneHours } from '../use/zone-hours.ts'
import { statement } from '../work.ts'
import { jsonParameter, postgresClient, type Query, type SqlValue } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'
import { serverSql } from './server-sql.ts'

/** Reads the use in PostgreSQL, by a connection of its own. */
export async function openServerUseReader(url: string, limits: SearchLimits = {}): Promise<UseReader> {
  const client = postgresClient({ url })
  await prepareSchema(client, { name: nameOfServer(url), mayBeNewer: true })

  async function answer(query: Query, question: UseQuestion): Promise<UseAnswer> {
    const { from, to, unit, by, teams = [], rowsMax, ...filter } = question
    const { condition, values } = await conditionOf(query, filter, [from, to, rowsMax + 1])
    const group = by === 'team' ? await teamColumn(readerOf(query), teams) : (groupColumns[by] ?? by)
    const sums = counterNames.map((name) => `sum(${name}) AS ${name}`).join(', ')
    const found = await query(
      `SELECT ${unit} AS time, ${group} AS name, ${sums} FROM usage_${unit} WHERE ${unit} BETWEEN $1 AND $2 ${condition}
       GROUP BY 1, 2 ORDER BY 1, cost DESC, 2 LIMIT $3`,
      values,
    )
    const rows = found
      .slice(0, rowsMax)
      .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])))
    const named = by === 'team' ? (id: number) => teams[id - 1]?.name ?? '' : await namesOf(query, by, rows)
    const [written] = await query('SELECT max(time) AS time FROM batch')
    const writtenAt = written?.['time']
    return {
      rows: rows.map((row) => useRow(row, named)),
      isCut: found.length > rowsMax,
      timeZone: await zoneOf(query),
      ...(writtenAt === null || writtenAt === undefined ? {} : { writtenAt: Number(writtenAt) }),
    }
  }

  async function cost(query: Query, filter: UseFilter, { since, now }: CostTimes): Promise<number> {
    const isRecent = now - since < hoursReadMs
    const first = isRecent ? since : since === 0 ? 0 : zoneHours(await zoneOf(query)).at(since).day
    const unit = isRecent ? 'hour' : 'day'
    const { condition, values } = await conditionOf(query, filter, [first])
    const [row] = await query(
      `SELECT coalesce(sum(cost), 0) AS sum FROM usage_${unit} WHERE ${unit} >= $1 ${condition}`,
      values,
    )
    return Number(row?.['sum'])
  }

  const tables: TableReader = (found) => client.perform((query) => readerOf(query)(found))
  return {
    outcomes: outcomeReader({
      tables,
      bucketColumn: (name) => statement(`array_to_string(${name}, ',')`),
      readBuckets: (value) => (value === '' ? [] : String(value).split(',').map(Number)),
    }),
    requests: requestSearch({ ...limits, names: tables, rows: tables, idColumn: 'id COLLATE "C"' }),
    read: (question) => client.perform((query) => answer(query, question)),
    costSince: (filter, since, now) => client.perform((query) => cost(query, filter, { since, now })),
    content: (question) => readContent({ names: tables, rows: tables }, question, serverSql),
    isCurrent: () => true,
    close: () => client.close(),
  }
}

const groupColumns: Readonly<Partial<Record<UseGroup, string>>> = { all: '0', key: 'line' }

function readerOf(query: Query): TableReader {
  return ({ text, values }) => query(text, values)
}

/** Unix milliseconds. */
interface CostTimes {
  readonly since: number
  readonly now: number
}

const labelQuery = 'SELECT id, text AS name FROM label WHERE id IN'
const nameQueries: Readonly<Record<Exclude<UseGroup, 'all' | 'team'>, readonly [string, string]>> = {
  model: [labelQuery, ''],
  provider: [labelQuery, ''],
  person: ['SELECT id, name FROM person WHERE id IN', ''],
  // The newest key of a line has the name that is in use.
  key: ['SELECT DISTINCT ON (line) line AS id, name FROM key WHERE line IN', 'ORDER BY line, key.id DESC'],
}

async function namesOf(
  query: Query,
  by: Exclude<UseGroup, 'team'>,
  rows: readonly Readonly<Record<string, number>>[],
): Promise<(id: number) => string> {
  if (by === 'all') return () => ''
  const [select, order] = nameQueries[by]
  const ids = JSON.stringify([...new Set(rows.map((row) => row['name']))])
  const found = await query(
    `${select} (SELECT value::bigint FROM jsonb_array_elements_text($1::text::jsonb)) ${order}`,
    [ids],
  )
  const names = new Map(found.map(({ id, name }) => [Number(id), String(name)]))
  return (id) => names.get(id) ?? (id === 0 ? '' : `${by} ${id}`)
}

async function zoneOf(query: Query): Promise<string> {
  const [row] = await query("SELECT value FROM meta WHERE name = 'time_zone'")
  return row === undefined ? 'UTC' : String(row['value'])
}

interface Condition {
  readonly condition: string
  /** The values before, and those of the condition. */
  readonly values: readonly SqlValue[]
}

async function conditionOf(
  query: Query,
  { line, people, userIds, userNames, team, provider, models }: UseFilter,
  before: readonly SqlValue[],
): Promise<Condition> {
  const values = [...before]
  const place = (value: SqlValue): string => `$${values.push(value)}`
  const parts: string[] = []
  if (line !== undefined) parts.push(`AND line = ${place(line)}`)
  const whose: string[] = []
  const texts = (list: readonly string[]): string =>
    `(SELECT jsonb_array_elements_text(${place(jsonParameter(list))}::text::jsonb))`
  if (people !== undefined) whose.push(`person IN (SELECT person.id FROM person WHERE subject IN ${texts(people)})`)
  if (userIds !== undefined || userNames !== undefined)
    // The case of ASCII letters does not matter.
    whose.push(`person IN (SELECT person.id FROM person
      WHERE user_id IN ${texts(userIds ?? [])} OR subject IN ${texts(userIds ?? [])}
      OR lower(name COLLATE "C") IN
        (SELECT lower(value COLLATE "C")
         FROM jsonb_array_elements_text(${place(jsonParameter(userNames ?? []))}::text::jsonb)))`)
  if (team !== undefined) whose.push(`team = (SELECT id FROM label WHERE kind = 'team' AND text = ${place(team)})`)
  if (whose.length > 0) parts.push(`AND (${whose.join(' OR ')})`)
  if (provider !== undefined)
    parts.push(`AND provider = (SELECT id FROM label WHERE kind = 'provider' AND text = ${place(provider)})`)
  if (models !== undefined) {
    const ids = JSON.stringify(await modelIds(query, models))
    parts.push(`AND model IN (SELECT value::bigint FROM jsonb_array_elements_text(${place(ids)}::text::jsonb))`)
  }
  return { condition: parts.join(' '), values }
}

async function modelIds(query: Query, models: readonly string[]): Promise<readonly number[]> {
  const labels = await query("SELECT id, text FROM label WHERE kind = 'model'")
  return labels.filter(({ text }) => isModelOf(String(text), models)).map(({ id }) => Number(id))
}
