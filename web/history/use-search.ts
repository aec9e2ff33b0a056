import { useEffect, useState } from 'react'
import { announce } from '../ui/announce.ts'
import type { HistoryStore, SearchHit } from './conversation.ts'

/** What a search found, and for what. */
export type Search =
  /** Nothing is looked for. */
  | { readonly kind: 'none' }
  /** On its way; what was found before may still be shown. */
  | { readonly kind: 'found'; readonly query: string; readonly hits: readonly SearchHit[] }
  | { readonly kind: 'failed'; readonly query: string; readonly error: Error }

/** So long nothing may be typed before it is looked for. */
const restMs = 120

/** So many are shown; a search that finds more has to be narrowed. */
export const hitsMost = 50

/** Looks for what is typed, and says how much was found. */
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
      history.search(wanted, hitsMost).then(
        (hits) => end({ kind: 'found', query: wanted, hits }),
        (error: unknown) =>
          end({ kind: 'failed', query: wanted, error: error instanceof Error ? error : new Error(String(error)) }),
      )
    }, restMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [history, wanted])
  return wanted === '' ? { kind: 'none' } : search
}

/** How many were found, in words. */
export function sentenceOf(count: number): string {
  if (count === 0) return 'Nothing found'
  if (count >= hitsMost) return `The latest ${hitsMost} are shown. More words narrow it down.`
  return count === 1 ? '1 conversation found' : `${count} conversations found`
}
