import { useEffect, useState } from 'react'
import { hrefOf } from '../app/route.ts'
import { readFilters, writeFilters, type RequestFilters } from './filter-requests.ts'

/** Browsers refuse to rewrite the address many times a second. */
const restMs = 400

/** The filters, which stand in the address: they survive a reload, and may be kept as a bookmark. */
export function useFilters(): readonly [RequestFilters, (filters: RequestFilters) => void] {
  const [filters, setFilters] = useState(() => readFilters(queryNow()))
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = writeFilters(filters)
      if (query !== queryNow())
        history.replaceState(history.state, '', `${hrefOf({ view: 'requests' })}${query === '' ? '' : `?${query}`}`)
    }, restMs)
    return () => clearTimeout(timer)
  }, [filters])
  useEffect(() => {
    const read = (): void => setFilters(readFilters(queryNow()))
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return [filters, setFilters]
}

/** What stands behind the question mark of the route. */
function queryNow(): string {
  const at = location.hash.indexOf('?')
  return at === -1 ? '' : location.hash.slice(at + 1)
}
