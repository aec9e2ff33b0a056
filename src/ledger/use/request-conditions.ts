import { joinedSql, listSql, sql, statement, type Statement } from '../work.ts'
import type { RequestFilter, RequestScope, StoredOutcome } from './request-question.ts'
import type { NameTables, TableReader } from './stored-requests.ts'

/** The conditions of a search. */
export interface RequestConditions {
  /** Each is a condition that one index has in the order of time; together they have all requests that are wanted. */
  readonly indexes: readonly Statement[]
  /** Compared with each request of the indexes. Absent: nothing more is asked. */
  readonly filter?: Statement
  /** The requests of the index are few, and not in the order of time. */
  readonly areFew?: true
}

export interface ConditionOptions extends NameTables {
  /** Whether so few requests match that all of them can be read. */
  readonly areFew: (condition: Statement) => Promise<boolean>
}

/** A condition, and the indexes that have its requests. */
interface Part {
  readonly filter: Statement
  readonly indexes?: readonly Statement[]
  /** The indexes have no other requests. */
  readonly isExact?: true
  readonly areFew?: true
}

const idsMax = 1_000
/** Indexes that are merged. Of more, requests are searched by time. */
const indexesMax = 8

/** Thrown where no request can match. */
class NothingMatches extends Error {}

/**
 * Finds the index of a search, the rarest first, and the other conditions.
 *
 * @returns `undefined`: no request can match
 */
export async function requestConditions(
  scope: RequestScope,
  filter: RequestFilter,
  options: ConditionOptions,
): Promise<RequestConditions | undefined> {
  try {
    const parts = await partsOf(scope, filter, options)
    const chosen = parts.find(({ indexes }) => indexes !== undefined && indexes.length <= indexesMax)
    const rest = parts.filter((part) => part !== chosen || part.isExact !== true).map((part) => part.filter)
    return {
      indexes: chosen?.indexes ?? [statement('TRUE')],
      ...(rest.length === 0 ? {} : { filter: joinedSql(rest, ' AND ') }),
      ...(chosen?.areFew === true ? { areFew: true } : {}),
    }
  } catch (error) {
    if (error instanceof NothingMatches) return undefined
    throw error
  }
}

/** The rarest first. @throws {NothingMatches} */
async function partsOf(
  { line, people }: RequestScope,
  { model, provider, person, key, session, status, hasFailed, error, api, text, ...minimums }: RequestFilter,
  options: ConditionOptions,
): Promise<readonly Part[]> {
  const { names } = options
  const found = async (query: Statement): Promise<readonly number[]> => some(await idsOf(names, query))
  const label = (kind: string, name: string): Promise<readonly number[]> =>
    found(sql`SELECT id FROM label WHERE kind = ${kind} AND text = ${name}`)
  const parts: Part[] = []
  if (text !== undefined) parts.push(await textPart(text, options))
  if (session !== undefined) {
    const filter = sql`session = ${session}`
    parts.push({ filter, indexes: [filter], isExact: true })
  }
  if (line !== undefined) parts.push(among('line', [line]))
  if (key !== undefined)
    parts.push(among('line', await found(sql`SELECT DISTINCT line AS id FROM key WHERE name = ${key} LIMIT 100`)))
  if (people !== undefined) parts.push(among('person', await found(peopleSql(people))))
  if (person !== undefined)
    parts.push(among('person', await found(sql`SELECT id FROM person WHERE name = ${person} LIMIT 100`)))
  if (error !== undefined) parts.push(among('error', await label('error', error)))
  if (status !== undefined) parts.push(statusPart(status))
  if (model !== undefined) parts.push(byLabel('model', await label('model', model)))
  if (provider !== undefined) parts.push(providerPart(await label('provider', provider)))
  if (hasFailed === true) parts.push(failedPart)
  if (api !== undefined) parts.push({ filter: sql`api IN ${listSql(await label('api', api))}` })
  parts.push(...minimumParts(minimums))
  // An index by text is few requests; a search by text alone is by time.
  return parts.toSorted((one, other) => Number(one.indexes === undefined) - Number(other.indexes === undefined))
}

/** Indexes that leave out 0 are used only where the condition says so. */
function among(column: 'line' | 'person' | 'error', ids: readonly number[]): Part {
  const name = statement(column)
  return {
    filter: sql`${name} IN ${listSql(ids)}`,
    indexes: ids.map((id) => sql`${name} = ${id} AND ${name} <> 0`),
    isExact: true,
  }
}

function byLabel(column: 'model', ids: readonly number[]): Part {
  const name = statement(column)
  return { filter: sql`${name} IN ${listSql(ids)}`, indexes: ids.map((id) => sql`${name} = ${id}`), isExact: true }
}

const outcomeConditions: Readonly<Record<StoredOutcome, string>> = {
  ok: 'status < 400 AND error = 0',
  cut: 'status < 400 AND error <> 0',
  left: 'status = 499',
  refused: 'status BETWEEN 400 AND 498',
  failed: 'status >= 500',
}

function statusPart(status: StoredOutcome | number): Part {
  const failures = [statement('status >= 400')]
  if (typeof status === 'number')
    return { filter: sql`status = ${status}`, ...(status < 400 ? {} : { indexes: failures }) }
  const filter = statement(outcomeConditions[status])
  if (status === 'ok') return { filter }
  return status === 'cut' ? { filter, indexes: [filter], isExact: true } : { filter, indexes: failures }
}

/** The condition of the index `request_tried`: only these requests may have failed attempts at other providers. */
const hasAttempts = statement('(attempts > 1 OR provider = 0)')

function providerPart(ids: readonly number[]): Part {
  const list = listSql(ids)
  return {
    filter: sql`(provider IN ${list} OR (${hasAttempts} AND EXISTS (
      SELECT 1 FROM attempt WHERE attempt.seq = request.seq AND attempt.provider IN ${list})))`,
    indexes: [...ids.map((id) => sql`provider = ${id}`), hasAttempts],
  }
}

/** The only attempt of a request has failed if nothing was answered, or if its stream was cut. */
const failedPart: Part = {
  filter: statement('EXISTS (SELECT 1 FROM attempt WHERE attempt.seq = request.seq AND attempt.class <> 0)'),
  indexes: [hasAttempts, statement(outcomeConditions.cut)],
}

function minimumParts({
  firstMsMin,
  msMin,
  tokensMin,
  costMin,
}: Pick<RequestFilter, 'firstMsMin' | 'msMin' | 'tokensMin' | 'costMin'>): readonly Part[] {
  return [
    ...(firstMsMin === undefined ? [] : [sql`first_ms >= ${firstMsMin}`]),
    ...(msMin === undefined ? [] : [sql`ms >= ${msMin}`]),
    ...(tokensMin === undefined ? [] : [sql`input + cached + write5 + write60 + output + reasoning >= ${tokensMin}`]),
    ...(costMin === undefined ? [] : [sql`cost >= ${costMin}`]),
  ].map((filter) => ({ filter }))
}

/** A text is the beginning of an id, or in the name of something. @throws {NothingMatches} */
async function textPart(text: string, { names, kind: { byBytes }, areFew }: ConditionOptions): Promise<Part> {
  const ids = sql`id ${byBytes} >= ${text} AND id ${byBytes} < ${`${text}\u{10ffff}`}`
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const like = (select: string, column: string): Promise<readonly number[]> =>
    idsOf(
      names,
      sql`${statement(select)} WHERE lower(${statement(column)}) LIKE ${pattern} ESCAPE '\\' LIMIT ${idsMax}`,
    )
  const labels = await like('SELECT id FROM label', 'text')
  const people = await like('SELECT id FROM person', 'name')
  const lines = await like('SELECT DISTINCT line AS id FROM key', 'name')
  const named = [
    ...(labels.length === 0
      ? []
      : ['model', 'provider', 'error', 'api'].map((column) => sql`${statement(column)} IN ${listSql(labels)}`)),
    ...(people.length === 0 ? [] : [sql`person IN ${listSql(people)}`]),
    ...(lines.length === 0 ? [] : [sql`line IN ${listSql(lines)}`]),
  ]
  if (named.length > 0) return { filter: sql`((${ids}) OR ${joinedSql(named, ' OR ')})` }
  if (await areFew(ids)) return { filter: ids, indexes: [ids], isExact: true, areFew: true }
  return { filter: ids }
}

async function idsOf(names: TableReader, query: Statement): Promise<readonly number[]> {
  return (await names(query)).map(({ id }) => Number(id))
}

/** @throws {NothingMatches} for none */
function some(ids: readonly number[]): readonly number[] {
  if (ids.length === 0) throw new NothingMatches()
  return ids
}

/** The numbers of people. @param people as in `RequestScope` */
export function peopleSql(people: readonly string[]): Statement {
  return sql`SELECT person.id FROM person WHERE subject IN ${listSql(people)}`
}
