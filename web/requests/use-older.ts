import { useEffect, useRef, useState } from 'react'
import type { LogAnswer } from '../../src/http/page/page-api.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { writeFilters, type RequestFilters } from './filter-requests.ts'
import { logQuery } from './log-query.ts'
import { searchText, type RequestRow } from './request-rows.ts'

/** Requests of the ledger that are older than those in memory. */
export interface OlderRequests {
  /** Newest first. */
  readonly rows: readonly RequestRow[]
  readonly isLoading: boolean
  /** There are no older ones. */
  readonly isComplete: boolean
  /** All requests that arrived later were looked at; absent before the first page. */
  readonly searchedTo?: number
  readonly error?: string
  /** Loads the next page. */
  readonly load: () => void
  /** Removes them from the list. */
  readonly clear: () => void
}

interface Loaded {
  /** The filters that it is for. */
  readonly key: string
  readonly rows: readonly RequestRow[]
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly next?: string
  readonly searchedTo?: number
  readonly error?: string
}

const pageRows = 200
/** Questions for one page of rare requests; each takes some 30 ms. Then the person decides. */
const questionsMax = 20
/** A request may be remembered and stored: of those that ended about then, both are asked for. */
const slackMs = 1_000

/**
 * Finds older requests, page by page.
 *
 * @param remembered requests of the list, the newest first
 */
export function useOlder(filters: RequestFilters, remembered: readonly RequestRow[]): OlderRequests {
  const { client } = useServices()
  const key = writeFilters(filters)
  const none: Loaded = { key, rows: [], isLoading: false, isComplete: false }
  const [loaded, setLoaded] = useState<Loaded>(none)
  const leaving = useRef<AbortController>(undefined)
  const shown = loaded.key === key ? loaded : none
  useEffect(() => () => leaving.current?.abort(), [key])

  async function loadPage(signal: AbortSignal): Promise<void> {
    let page = shown
    for (let question = 0; question < questionsMax; question += 1) {
      const answer = await client.get<LogAnswer>(`/api/log?${queryOf(filters, remembered, page.next)}`, signal)
      page = merged(page, answer, remembered)
      const isEnough = page.isComplete || page.rows.length > shown.rows.length
      setLoaded({ ...page, isLoading: !isEnough && question + 1 < questionsMax })
      if (isEnough) return
    }
  }

  return {
    ...shown,
    load() {
      leaving.current?.abort()
      const controller = new AbortController()
      leaving.current = controller
      setLoaded({ ...withoutError(shown), isLoading: true })
      loadPage(controller.signal).catch((error: unknown) => {
        if (controller.signal.aborted) return
        const text = messageOf(error)
        setLoaded((before) => ({ ...before, isLoading: false, error: text }))
      })
    },
    clear() {
      leaving.current?.abort()
      setLoaded(none)
    },
  }
}

function withoutError({ error: _, ...loaded }: Loaded): Loaded {
  return loaded
}

function queryOf(
  filters: RequestFilters,
  remembered: readonly RequestRow[],
  next: string | undefined,
): URLSearchParams {
  const query = logQuery(filters)
  query.set('limit', String(pageRows))
  if (next !== undefined) query.set('before', next)
  const oldest = remembered.at(-1)?.request
  if (next !== undefined || oldest === undefined) return query
  // Requests that are not remembered any more ended before the oldest one that is.
  const end = oldest.time + Math.ceil(oldest.totalMs) + slackMs
  if (!query.has('to') || end < Date.parse(query.get('to') ?? '')) query.set('to', new Date(end).toISOString())
  return query
}

function merged(page: Loaded, { requests, next, searchedTo }: LogAnswer, remembered: readonly RequestRow[]): Loaded {
  const known = new Set(remembered.map(({ request }) => nameOf(request)))
  const added = requests
    .filter((request) => !known.has(nameOf(request)))
    .map((request, index) => ({
      key: `stored ${page.rows.length + index} ${request.id}`,
      request,
      text: searchText(request),
    }))
  const { next: _, searchedTo: __, ...rest } = page
  return {
    ...rest,
    rows: [...page.rows, ...added],
    isComplete: next === undefined,
    ...(next === undefined ? {} : { next }),
    ...(searchedTo === undefined ? {} : { searchedTo }),
  }
}

function nameOf({ time, id }: RequestRow['request']): string {
  return `${time} ${id}`
}
