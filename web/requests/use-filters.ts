import { useEffect, useState } from 'react'
import { currentRoute, hrefOf } from '../app/route.ts'
import { readFilters, writeFilters, type RequestFilters } from './filter-requests.ts'

/** Browsers limit how often a page may change its address. */
const debounceMs = 400

/** The filters, stored in the address: they survive a reload and can be bookmarked. */
export function useFilters(): readonly [RequestFilters, (filters: RequestFilters) => void] {
  const [filters, setFilters] = useState(() => readFilters(currentQuery()))
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = writeFilters(filters)
      if (isList() && query !== currentQuery()) history.replaceState(history.state, '', hrefOfList(filters))
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [filters])
  useEffect(() => {
    // The page of one request has no filters in its address.
    const read = (): void => (isList() ? setFilters(readFilters(currentQuery())) : undefined)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return [filters, setFilters]
}

/** Whether the address is that of the list. */
function isList(): boolean {
  const route = currentRoute()
  return route.view === 'requests' && route.id === undefined
}

/** The link to the list with these filters. */
export function hrefOfList(filters: RequestFilters): string {
  const query = writeFilters(filters)
  return `${hrefOf({ view: 'requests' })}${query === '' ? '' : `?${query}`}`
}

/** The query of the current route. */
function currentQuery(): string {
  const at = location.hash.indexOf('?')
  return at === -1 ? '' : location.hash.slice(at + 1)
}
