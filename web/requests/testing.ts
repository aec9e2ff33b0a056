import type { RequestEntry } from '../../src/http/page-api.ts'

/** A request that went well, for tests; `more` adds and replaces members. */
export function requestEntry(more: Partial<RequestEntry> = {}): RequestEntry {
  return {
    time: 0,
    id: 'request-1',
    model: 'm',
    stream: false,
    status: 200,
    provider: 'a',
    trail: [{ provider: 'a', status: 200, ms: 12 }],
    totalMs: 12,
    ...more,
  }
}
