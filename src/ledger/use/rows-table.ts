import type { Database } from 'bun:sqlite'
import type { RecordedAttempt, RequestRecord } from '../../observe/record.ts'
import { measureUnits } from '../../prices/units.ts'
import { chargesOf } from './charges.ts'
import type { NamesTable } from './names-table.ts'

/** Bits of the column `flags` of requests and attempts. */
export const rowFlags = { stream: 1, estimated: 2, unpriced: 4, reported: 8, conflict: 16, ambiguous: 32 } as const

const tokenColumns = ['input', 'cached', 'write5', 'write60', 'output', 'reasoning'] as const
/** Attempts stored of one request; a longer trail has many retries. */
const attemptsMax = 32

/** Adds requests and their attempts to a database, within a transaction. */
export function rowsTable(database: Database): (record: RequestRecord, names: NamesTable) => void {
  const addRequest = database.query<unknown, (string | number | null)[]>(
    `INSERT INTO request (time, id, api, line, person, team, model, provider, status, error, ms, first_ms, input,
       cached, write5, write60, output, reasoning, cost, flags, attempts)
     VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)`,
  )
  const addAttempt = database.query<unknown, (number | bigint | null)[]>(
    `INSERT INTO attempt (seq, n, provider, status, class, ms, input, output, cost, flags)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
  )

  return function add(record, names) {
    const { time, id, api, status, error = '', totalMs, firstTokenMs, trail, cost } = record
    const [answer] = chargesOf(record)
    if (answer === undefined) return
    const { line, person, model, provider, counters } = answer
    const { lastInsertRowid } = addRequest.run(
      time,
      id,
      names.idOf('api', api),
      line,
      names.idOfPerson(person),
      names.idOf('model', model),
      names.idOf('provider', provider),
      status,
      names.idOf('error', error),
      Math.round(totalMs),
      firstTokenMs === undefined ? null : Math.round(firstTokenMs),
      ...tokenColumns.map((name) => counters[name] ?? 0),
      cost?.nanoUsd ?? null,
      flagsOf(record, counters.unpriced === 1),
      trail.length,
    )
    if (trail.length < 2 && trail[0]?.failure === undefined) return
    for (const [n, attempt] of trail.slice(0, attemptsMax).entries())
      addAttempt.run(lastInsertRowid, n, ...valuesOf(attempt, names))
  }
}

function valuesOf(
  { name, status = 0, failure = '', ms, tokens, cost, ambiguous }: RecordedAttempt,
  names: NamesTable,
): readonly (number | null)[] {
  const { units } = measureUnits(tokens === undefined ? undefined : { totalTokens: undefined, ...tokens })
  return [
    names.idOf('provider', name),
    status,
    names.idOf('error', failure),
    Math.round(ms),
    units.input,
    units.output,
    cost?.nanoUsd ?? null,
    ambiguous === true ? rowFlags.ambiguous : 0,
  ]
}

function flagsOf({ stream, usage, cost }: RequestRecord, isUnpriced: boolean): number {
  return (
    (stream ? rowFlags.stream : 0) |
    (usage?.isEstimated === true ? rowFlags.estimated : 0) |
    (isUnpriced ? rowFlags.unpriced : 0) |
    (cost?.source === 'reported' ? rowFlags.reported : 0) |
    (cost?.hasConflict === true ? rowFlags.conflict : 0)
  )
}
