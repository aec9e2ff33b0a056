import type { RequestEntry } from '../../src/observe/request-entry.ts'

/** A successful request. For tests. @param more replaces and adds members */
export function requestEntry(more: Partial<RequestEntry> = {}): RequestEntry {
  return {
    time: 0,
    id: 'request-1',
    model: 'm',
    api: 'chat',
    stream: false,
    status: 200,
    provider: 'a',
    trail: [{ provider: 'a', status: 200, ms: 12 }],
    totalMs: 12,
    ...more,
  }
}
