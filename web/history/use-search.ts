import { useEffect, useState } from 'react'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import type { HistoryStore, SearchHit } from './conversation.ts'

/** State of a search. */
export type Search =
  /** No query. */
  | { readonly kind: 'none' }
  /** Searching, while earlier results may still be shown. */
  | { readonly kind: 'found'; readonly query: string; readonly hits: readonly SearchHit[] }
  | { readonly kind: 'failed'; readonly query: string; readonly error: Error }

/** Delay after typing before the search runs. */
const debounceMs = 120

/** Number of results shown. */
export const hitsMax = 50

/** A noncharacter of Unicode, which is in no conversation. */
const nowhere = '\uffff'

/** Reads the index of words while a user types, so that the first search need not wait for it. */
export function prepareSearch(history: HistoryStore): void {
  history.search(nowhere, 1).catch(() => undefined) // The search of the user reports it.
}

/** Searches for the typed text, and announces the number of results. */
export function useSearch(history: HistoryStore, query: string): Search {
  const [search, setSearch] = useState<Search>({ kind: 'none' })
  const wanted = query.trim()
  useEffect(() => {
    if (wanted === '') return setSearch({ kind: 'none' })
    let isOver = false
    function end(result: Search): void {
      if (isOver) return
      setSearch(result)
      if (result.kind === 'found') announce(sentenceOf(result.hits.length))
    }
    const timer = setTimeout(() => {
      history.search(wanted, hitsMax).then(
        (hits) => end({ kind: 'found', query: wanted, hits }),
        (error: unknown) =>
          end({ kind: 'failed', query: wanted, error: error instanceof Error ? error : new Error(String(error)) }),
      )
    }, debounceMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [history, wanted])
  return wanted === '' ? { kind: 'none' } : search
}

/** Number of results as a sentence. */
export function sentenceOf(count: number): string {
  if (count === 0) return say.history.foundNone
  if (count >= hitsMax) return say.history.foundMany(formatCount(hitsMax))
  return say.history.foundCount(count)
}
