import { useEffect, useState } from 'react'
import type { LogChoices } from '../../src/http/page/page-api.ts'
import { currentRoute, hrefOf } from '../app/route.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { useLoaded } from '../ui/use-answer.ts'
import { useVisible } from '../ui/use-visible.ts'
import { readFilters, writeFilters, type RequestFilters } from './filter-requests.ts'
import { requestsFeed, type RequestsState } from './requests-feed.ts'

/** Follows the requests while the component is mounted and the page is visible. */
export function useRequests(): RequestsState {
  const { client } = useServices()
  const [feed] = useState(() => requestsFeed({ client }))
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return undefined
    const controller = new AbortController()
    void feed.follow(controller.signal)
    return () => controller.abort()
  }, [feed, isVisible])
  return useStore(feed.state)
}

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

/** Returns the value; while `isHeld`, the value from the start of holding. */
export function useHeld<Value>(value: Value, isHeld: boolean): Value {
  const [shown, setShown] = useState(value)
  if (!isHeld && !Object.is(shown, value)) setShown(value)
  return isHeld ? shown : value
}

/** Names for the filters of stored requests; `undefined` until they are known, and where no requests are kept. */
export function useLogChoices(): LogChoices | undefined {
  const { hasUsage } = useServices().boot
  // Without an answer, the filters offer the values of the list.
  return useLoaded(
    async (client, signal) =>
      hasUsage === true ? await client.get<LogChoices>('/api/log/choices', signal) : undefined,
    String(hasUsage),
  ).answer
}
