import type { RequestEntry } from '../../src/observe/request-entry.ts'

const rowsMax = 1_000

/** A request in the list. */
export interface RequestRow {
  /** Unique and stable. Request ids may repeat, since callers choose them. */
  readonly key: string
  readonly request: RequestEntry
  /** Searched text, in lower case. */
  readonly text: string
}

/** Adds requests on top: newest first, at most 1,000 rows. @param requests oldest first, as received */
export function addRequests(rows: readonly RequestRow[], requests: readonly RequestEntry[]): readonly RequestRow[] {
  if (requests.length === 0) return rows
  const taken = new Set(rows.map(({ key }) => key))
  const added = requests.map((request) => {
    const key = freeKey(taken, `${request.time} ${request.id}`)
    taken.add(key)
    return { key, request, text: searchText(request) }
  })
  return [...added.toReversed(), ...rows].slice(0, rowsMax)
}

/** Returns the rows that are newer than all of `shown`. */
export function newSince(rows: readonly RequestRow[], shown: readonly RequestRow[]): readonly RequestRow[] {
  const newest = shown[0]?.key
  const at = rows.findIndex(({ key }) => key === newest)
  return at === -1 ? rows : rows.slice(0, at)
}

function freeKey(taken: ReadonlySet<string>, wanted: string): string {
  let key = wanted
  for (let count = 2; taken.has(key); count++) key = `${wanted} ${count}`
  return key
}

/** The text of a request that filters search. */
export function searchText({ id, api, user, model, provider, error, trail }: RequestEntry): string {
  const tried = trail.map((attempt) => `${attempt.provider} ${attempt.status ?? ''} ${attempt.failure ?? ''}`)
  return [id, api, user, model, provider, error, ...tried].join(' ').toLowerCase()
}
