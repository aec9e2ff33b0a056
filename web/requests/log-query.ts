import { filtersAt, type RequestFilters } from './filter-requests.ts'

const keyMark = 'key:'
const minuteMs = 60_000

/** The query of `GET /api/log` for these filters. */
export function logQuery(wanted: RequestFilters, now = Date.now()): URLSearchParams {
  const filters = filtersAt(wanted, now)
  const query = new URLSearchParams()
  const add = (name: string, value: string | number): void => {
    if (value !== '' && value !== 0) query.set(name, String(value))
  }
  for (const name of ['model', 'provider', 'status', 'failed', 'error', 'api'] as const) add(name, filters[name])
  const { user } = filters
  if (user.startsWith(keyMark)) add('key', user.slice(keyMark.length))
  else add('person', user)
  add('text', filters.text.trim())
  if (filters.from > 0) add('from', new Date(filters.from).toISOString())
  if (filters.to > 0) add('to', new Date(filters.to + minuteMs).toISOString())
  add('first_token_ms', plain(filters.firstTokenMsMin))
  add('total_ms', plain(filters.totalMsMin))
  add('tokens', plain(filters.tokensMin))
  add('cost', plain(filters.costMin))
  return query
}

/** Without an exponent, with nine digits after the point; empty for 0. */
function plain(value: number): string {
  return value === 0 ? '' : value.toFixed(9).replace(/\.?0+$/, '')
}
