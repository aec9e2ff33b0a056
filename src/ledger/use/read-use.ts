import { Database } from 'bun:sqlite'
import { identityOf, performed } from '../open-database.ts'
import { counterNames, type CounterName } from './counters.ts'
import type { UseAnswer, UseFilter, UseGroup, UseQuestion, UseRow } from './use-question.ts'
import { zoneHours } from './zone-hours.ts'

/** Hours are kept for 100 days; the sums of longer times are read from days. */
const hoursReadMs = 99 * 86_400_000
const lockMs = 1_000

/** Reads the use in svc.db. Methods reject with {@link LedgerUnavailable} when it cannot be read. */
export interface UseReader {
  read(question: UseQuestion): Promise<UseAnswer>
  /** The cost since a local midnight in nano-USD. @param since Unix milliseconds; 0: all */
  costSince(filter: UseFilter, since: number, now: number): Promise<number>
  /** Whether the file at the path is still the open one. */
  isCurrent(): boolean
  close(): void
}

/** Opens svc.db for reading alone. It must exist, with a current schema. */
export async function openUseReader(path: string): Promise<UseReader> {
  const database = await performed(path, lockMs, () => new Database(path, { readonly: true, strict: true }))
  database.run('PRAGMA busy_timeout = 1000')
  const identity = identityOf(path)

  /** Names of people and keys are few beside sums; they are read when they are asked for. */
  function nameOf(by: UseGroup): (id: number) => string {
    if (by === 'all') return () => ''
    const query = database.query<{ name: string }, [number]>(nameQueries[by])
    const known = new Map([[0, '']])
    return (id) => {
      const name = known.get(id) ?? query.get(id)?.name ?? `${by} ${id}`
      known.set(id, name)
      return name
    }
  }

  function answer({ from, to, unit, by, rowsMax, ...filter }: UseQuestion): UseAnswer {
    const { condition, values } = conditionOf(database, filter)
    const group = by === 'all' ? '0' : by === 'key' ? 'line' : by
    const found = database
      .query<Record<string, number>, (string | number)[]>(
        `SELECT ${unit} AS time, ${group} AS name, ${counterNames.map((name) => `sum(${name}) AS ${name}`).join(', ')}
         FROM usage_${unit} WHERE ${unit} BETWEEN ? AND ? ${condition}
         GROUP BY 1, 2 ORDER BY 1, cost DESC LIMIT ?`,
      )
      .all(from, to, ...values, rowsMax + 1)
    const named = nameOf(by)
    const writtenAt = database.query<{ time: number | null }, []>('SELECT max(time) AS time FROM batch').get()?.time
    return {
      rows: found.slice(0, rowsMax).map((row) => rowOf(row, named)),
      isCut: found.length > rowsMax,
      timeZone: zoneOf(database),
      ...(writtenAt === null || writtenAt === undefined ? {} : { writtenAt }),
    }
  }

  function cost(filter: UseFilter, since: number, now: number): number {
    const { condition, values } = conditionOf(database, filter)
    const isRecent = now - since < hoursReadMs
    const first = isRecent ? since : since === 0 ? 0 : zoneHours(zoneOf(database)).at(since).day
    const unit = isRecent ? 'hour' : 'day'
    const sum = database
      .query<{ sum: number | null }, (string | number)[]>(
        `SELECT sum(cost) AS sum FROM usage_${unit} WHERE ${unit} >= ? ${condition}`,
      )
      .get(first, ...values)?.sum
    return sum ?? 0
  }

  return {
    read: (question) => performed(path, lockMs, () => answer(question)),
    costSince: (filter, since, now) => performed(path, lockMs, () => cost(filter, since, now)),
    isCurrent: () => identityOf(path) === identity,
    close: () => database.close(),
  }
}

const labelQuery = 'SELECT text AS name FROM label WHERE id = ?1'
const nameQueries: Readonly<Record<Exclude<UseGroup, 'all'>, string>> = {
  model: labelQuery,
  provider: labelQuery,
  person: 'SELECT name FROM person WHERE id = ?1',
  // The newest key of a line has the name that is in use.
  key: 'SELECT name FROM key WHERE line = ?1 ORDER BY id DESC LIMIT 1',
}

function zoneOf(database: Database): string {
  return database.query<{ value: string }, []>("SELECT value FROM meta WHERE name = 'time_zone'").get()?.value ?? 'UTC'
}

interface Condition {
  readonly condition: string
  readonly values: readonly (string | number)[]
}

function conditionOf(database: Database, { line, people, userNames = [], provider, models }: UseFilter): Condition {
  const parts: string[] = []
  const values: (string | number)[] = []
  if (line !== undefined) {
    parts.push('AND line = ?')
    values.push(line)
  }
  if (people !== undefined) {
    parts.push(`AND person IN (SELECT person.id FROM person WHERE subject IN (SELECT value FROM json_each(?))
                OR name COLLATE NOCASE IN (SELECT value FROM json_each(?)))`)
    values.push(JSON.stringify(people), JSON.stringify(userNames))
  }
  if (provider !== undefined) {
    parts.push("AND provider = (SELECT id FROM label WHERE kind = 'provider' AND text = ?)")
    values.push(provider)
  }
  if (models !== undefined) {
    parts.push('AND model IN (SELECT value FROM json_each(?))')
    values.push(JSON.stringify(modelIds(database, models)))
  }
  return { condition: parts.join(' '), values }
}

function modelIds(database: Database, models: readonly string[]): readonly number[] {
  return database
    .query<{ id: number; text: string }, []>("SELECT id, text FROM label WHERE kind = 'model'")
    .all()
    .filter(({ text }) => isAmong(text.toLowerCase(), models) || isAmong(withoutProvider(text.toLowerCase()), models))
    .map(({ id }) => id)
}

/** Of a name as `provider/model`, the model. */
function withoutProvider(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}

function isAmong(model: string, names: readonly string[]): boolean {
  return names.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : model === name))
}

function rowOf(row: Readonly<Record<string, number>>, named: (id: number) => string): UseRow {
  const counters = Object.fromEntries(counterNames.map((name) => [name, row[name] ?? 0]))
  return { time: row['time'] ?? 0, name: named(row['name'] ?? 0), counters: { ...noCounters, ...counters } }
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
}
