import { useEffect, useState } from 'react'
import { hrefOf } from '../app/route.ts'
import { readFilters, writeFilters, type RequestFilters } from './filter-requests.ts'

/** Browsers limit how often a page may change its address. */
const debounceMs = 400

/** The filters, stored in the address: they survive a reload and can be bookmarked. */
export function useFilters(): readonly [RequestFilters, (filters: RequestFilters) => void] {
  const [filters, setFilters] = useState(() => readFilters(currentQuery()))
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = writeFilters(filters)
      if (query !== currentQuery())
        history.replaceState(history.state, '', `${hrefOf({ view: 'requests' })}${query === '' ? '' : `?${query}`}`)
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [filters])
  useEffect(() => {
    const read = (): void => setFilters(readFilters(currentQuery()))
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return [filters, setFilters]
}

/** The query of the current route. */
function currentQuery(): string {
  const at = location.hash.indexOf('?')
  return at === -1 ? '' : location.hash.slice(at + 1)
}
