import type { Database } from 'bun:sqlite'
import type { NamesTable } from './names-table.ts'
import { attemptColumns, attemptValues, requestColumns, requestValues } from './row-values.ts'
import type { ChargedRequest } from './use-batch.ts'

/** Adds requests and their attempts to a database, within a transaction. */
export function rowsTable(database: Database): (request: ChargedRequest, names: NamesTable) => void {
  const addRequest = database.query<unknown, (string | number | null)[]>(
    `INSERT INTO request (${requestColumns.join(', ')}) VALUES (${placesOf(requestColumns)})`,
  )
  const addAttempt = database.query<unknown, (number | bigint | null)[]>(
    `INSERT INTO attempt (seq, ${attemptColumns.join(', ')}) VALUES (${placesOf(['seq', ...attemptColumns])})`,
  )

  return function add(request, names) {
    const { lastInsertRowid } = addRequest.run(...requestValues(request, names))
    for (const values of attemptValues(request, names)) addAttempt.run(lastInsertRowid, ...values)
  }
}

function placesOf(columns: readonly string[]): string {
  return columns.map((_, index) => `?${index + 1}`).join(', ')
}
