import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { rowsPathBeside } from '../content/content-file.ts'
import { readContent } from '../content/content-works.ts'
import { identityOf, performed } from '../open-database.ts'
import { fileSql } from '../sql-kind.ts'
import { rowsOnce, statement, type WorkRow } from '../work.ts'
import { counterNames } from './counters.ts'
import { outcomeReader } from './read-outcomes.ts'
import { requestSearch, type SearchLimits } from './search-requests.ts'
import type { TableReader } from './stored-requests.ts'
import { teamColumn } from './team-members.ts'
import { readBuckets } from './time-blob.ts'
import type { UseAnswer, UseFilter, UseGroup, UseQuestion, UseTeam } from './use-question.ts'
import { hoursReadMs, isModelOf, useRow, type UseReader } from './use-reader.ts'
import { zoneHours } from './zone-hours.ts'

const lockMs = 1_000

/** Opens svc.db, and the requests.db beside it if there is one, for reading alone. Its schema must be current. */
export async function openUseReader(path: string, limits: SearchLimits = {}): Promise<UseReader> {
  const database = await performed(path, lockMs, () => new Database(path, { readonly: true, strict: true }))
  database.run('PRAGMA busy_timeout = 1000')
  const identity = identityOf(path)
  const tables = readTables(database, path, lockMs)
  const rows = readRowsFile(rowsPathBeside(path), lockMs)

  /** Names of people and keys are few beside sums; they are read when they are asked for. */
  function nameOf(by: UseGroup, teams: readonly UseTeam[]): (id: number) => string {
    if (by === 'all') return () => ''
    if (by === 'team') return (number) => teams[number - 1]?.name ?? ''
    const query = database.query<{ name: string }, [number]>(nameQueries[by])
    const known = new Map([[0, '']])
    return (id) => {
      const name = known.get(id) ?? query.get(id)?.name ?? `${by} ${id}`
      known.set(id, name)
      return name
    }
  }

  function answer({ from, to, unit, by, teams = [], rowsMax, ...filter }: UseQuestion, team: string): UseAnswer {
    const { condition, values } = conditionOf(database, filter)
    const group = by === 'all' ? '0' : by === 'key' ? 'line' : by === 'team' ? team : by
    const found = database
      .prepare<Record<string, number>, (string | number)[]>(
        `SELECT ${unit} AS time, ${group} AS name, ${counterNames.map((name) => `sum(${name}) AS ${name}`).join(', ')}
         FROM usage_${unit} WHERE ${unit} BETWEEN ? AND ? ${condition}
         GROUP BY 1, 2 ORDER BY 1, cost DESC LIMIT ?`,
      )
      .all(from, to, ...values, rowsMax + 1)
    const named = nameOf(by, teams)
    const writtenAt = database.query<{ time: number | null }, []>('SELECT max(time) AS time FROM batch').get()?.time
    return {
      rows: found.slice(0, rowsMax).map((row) => useRow(row, named)),
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
    async read(question) {
      const team = question.by === 'team' ? await teamColumn(tables, question.teams ?? []) : ''
      return await performed(path, lockMs, () => answer(question, team))
    },
    costSince: (filter, since, now) => performed(path, lockMs, () => cost(filter, since, now)),
    async content(question) {
      // A file of an earlier version has no content.
      const found = await rows.read(statement("SELECT 1 FROM sqlite_schema WHERE name = 'content'"))
      return found.length === 0 ? undefined : await readContent({ names: tables, rows: rows.read }, question, fileSql)
    },
    outcomes: outcomeReader({
      tables,
      bucketColumn: statement,
      readBuckets: (value) => (value instanceof Uint8Array ? readBuckets(value) : []),
    }),
    requests: requestSearch({ ...limits, names: tables, rows: rows.read, idColumn: 'id' }),
    isCurrent: () => identityOf(path) === identity,
    close() {
      rows.close()
      database.close()
    },
  }
}

const labelQuery = 'SELECT text AS name FROM label WHERE id = ?1'
const nameQueries: Readonly<Record<Exclude<UseGroup, 'all' | 'team'>, string>> = {
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

function conditionOf(
  database: Database,
  { line, people, userIds, userNames, team, provider, models }: UseFilter,
): Condition {
  const parts: string[] = []
  const values: (string | number)[] = []
  if (line !== undefined) {
    parts.push('AND line = ?')
    values.push(line)
  }
  const whose: string[] = []
  if (people !== undefined) {
    whose.push(`person IN (SELECT person.id FROM person WHERE subject IN (SELECT value FROM json_each(?)))`)
    values.push(JSON.stringify(people))
  }
  if (userIds !== undefined || userNames !== undefined) {
    whose.push(`person IN (SELECT person.id FROM person WHERE user_id IN (SELECT value FROM json_each(?))
                OR subject IN (SELECT value FROM json_each(?))
                OR name COLLATE NOCASE IN (SELECT value FROM json_each(?)))`)
    const ids = JSON.stringify(userIds ?? [])
    values.push(ids, ids, JSON.stringify(userNames ?? []))
  }
  if (team !== undefined) {
    whose.push("team = (SELECT id FROM label WHERE kind = 'team' AND text = ?)")
    values.push(team)
  }
  if (whose.length > 0) parts.push(`AND (${whose.join(' OR ')})`)
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
    .filter(({ text }) => isModelOf(text, models))
    .map(({ id }) => id)
}

/** Reads the tables of a database that is open. */
function readTables(database: Database, path: string, lockMs: number): TableReader {
  return (found) => performed(path, lockMs, () => rowsOnce(database, found))
}

/** The rows of requests.db, which may come, be replaced and be deleted at any time. Without it there are none. */
interface RowsReader {
  readonly read: TableReader
  close(): void
}

/** Opens requests.db for reading alone, at its first use and again when the file is another one. */
function readRowsFile(path: string, lockMs: number): RowsReader {
  let open: { readonly database: Database; readonly read: TableReader; readonly identity: string } | undefined

  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: unknown[] = []

  function leave(): void {
    replaced.push(open)
    open = undefined
  }

  async function current(): Promise<TableReader | undefined> {
    if (!existsSync(path)) {
      leave()
      return undefined
    }
    const identity = identityOf(path)
    if (open?.identity !== identity) {
      leave()
      const database = await performed(path, lockMs, () => new Database(path, { readonly: true, strict: true }))
      database.run('PRAGMA busy_timeout = 1000')
      open = { database, read: readTables(database, path, lockMs), identity }
    }
    return open.read
  }

  async function read(query: Parameters<TableReader>[0]): Promise<readonly WorkRow[]> {
    return (await (await current())?.(query)) ?? []
  }

  return { read, close: () => open?.database.close() }
}
