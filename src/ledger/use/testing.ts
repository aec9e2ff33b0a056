import { Database } from 'bun:sqlite'
import type { RequestRecord } from '../../observe/record.ts'
import { personOfRecord } from '../../people/testing.ts'
import type { RecordedUse } from './use-batch.ts'

/** A request that was answered, for tests. */
export function usedRequest(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    time: Date.UTC(2026, 10, 23, 10, 20),
    id: 'r',
    api: 'chat',
    model: 'm',
    listedAs: 'm',
    stream: false,
    status: 200,
    provider: 'a',
    upstream: 'm-1',
    trail: [{ name: 'a', status: 200, ms: 5 }],
    totalMs: 12.5,
    usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
    cost: { nanoUsd: 1_000, source: 'config' },
    ...personOfRecord(more),
    ...more,
  }
}

/** A batch of these requests, for tests. */
export function batchOf(number: number, records: readonly RequestRecord[], source = 'one'): RecordedUse {
  return { source, number, count: records.length, records: JSON.stringify(records) }
}

/** Reads a database that may be open elsewhere, for tests. */
export function queryFile(path: string, query: string): readonly Readonly<Record<string, unknown>>[] {
  const database = new Database(path, { readonly: true })
  try {
    return database.query<Record<string, unknown>, []>(query).all()
  } finally {
    database.close()
  }
}
