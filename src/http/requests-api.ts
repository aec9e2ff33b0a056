import { overloaded } from '../gateway/all-failed.ts'
import { costOf } from '../observe/cost.ts'
import type { MinuteSums } from '../observe/minute-sums.ts'
import type { RecentRequest, RecentRequests, Scope } from '../observe/recent-requests.ts'
import { WireError } from '../wire/error.ts'
import { formatEvent } from '../wire/event-stream.ts'
import { jsonResponse, type Exchange } from './exchange.ts'
import { liveEvents } from './live-events.ts'
import type { MinuteEntry, RequestEntry, RequestsAnswer, TrailEntry } from './page-api.ts'
import type { Route } from './route.ts'
import type { UnderWay } from './under-way.ts'

const requestPath = '/api/requests/'
const followersMost = 100
const heartbeatMs = 15_000
/** Who has signed out meanwhile must not see more for long: whoever follows asks again after so long, and passes the guards again. */
const lifeMs = 15 * 60_000

/** What {@link requestsApi} needs. */
export interface RequestsApiOptions {
  readonly recent: Pick<RecentRequests, 'count' | 'requests' | 'minutes' | 'find' | 'subscribe'>
  /** Whether who asks sees everybody's requests; others see their own. */
  readonly isOwner: (exchange: Exchange) => boolean
  /** The streams that are open: at most 100. Whoever stops the service ends them. */
  readonly followers: UnderWay
  readonly isClosing: () => boolean
  /** Milliseconds a reader may take to read what is there. */
  readonly stallMs: number
}

/** `GET /api/requests`, also as a stream of events, and `GET /api/requests/{id}` (docs/api.md). */
export function requestsApi(options: RequestsApiOptions): readonly Route[] {
  const { recent, isOwner } = options
  const follow = followRequests(options)

  function all(exchange: Exchange): Response {
    if (wantsEvents(exchange.request)) return follow(exchange)
    const scope = scopeOf(exchange, isOwner)
    return jsonResponse(answerOf(recent.requests(scope, 0), recent.minutes(scope, 0)), exchange.id)
  }

  function one(exchange: Exchange): Response {
    const found = recent.find(scopeOf(exchange, isOwner), exchange.path.slice(requestPath.length))
    if (found === undefined) throw new WireError(404, 'invalid_request_error', 'not_found', 'No request with this id is remembered')
    return jsonResponse(requestEntry(found), exchange.id)
  }

  return [
    { method: 'GET', path: '/api/requests', isPublic: false, handle: all },
    { method: 'GET', path: requestPath, isPublic: false, handle: one },
  ]
}

/** A user nobody knows by name has no requests of their own. */
function scopeOf(exchange: Exchange, isOwner: RequestsApiOptions['isOwner']): Scope {
  return isOwner(exchange) ? 'everybody' : { user: exchange.user ?? '' }
}

function wantsEvents({ headers }: Request): boolean {
  return (headers.get('accept') ?? '').includes('text/event-stream')
}

function followRequests({ recent, isOwner, followers, isClosing, stallMs }: RequestsApiOptions): (exchange: Exchange) => Response {
  const eventAfter = sharedEvents(recent)

  function newsOf(exchange: Exchange): () => Uint8Array | undefined {
    let mark = 0
    let isFirst = true
    return () => {
      const before = mark
      mark = recent.count
      const event = eventAfter(scopeOf(exchange, isOwner), before, isFirst)
      isFirst = false
      return event
    }
  }

  return function follow(exchange) {
    const { request, id } = exchange
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no', 'x-request-id': id,
    }
    if (request.method === 'HEAD') return new Response(null, { headers })
    if (isClosing()) throw overloaded('The service is stopping')
    if (followers.count >= followersMost) throw overloaded('As many pages follow the requests as may')
    const forget = followers.begin(() => end())
    const { body, end, leave } = liveEvents({
      take: newsOf(exchange), subscribe: recent.subscribe, heartbeatMs, stallMs, lifeMs,
      onEnd({ hasClientLeft }) {
        forget()
        request.signal.removeEventListener('abort', leave)
        if (hasClientLeft) exchange.drop()
        else exchange.letClose()
      },
    })
    request.signal.addEventListener('abort', leave, { once: true })
    if (request.signal.aborted) leave()
    exchange.keepOpen()
    return new Response(body, { headers })
  }
}

/** Owners who follow are told the same at the same time: it is made once. */
function sharedEvents(recent: RequestsApiOptions['recent']): (scope: Scope, after: number, isFirst: boolean) => Uint8Array | undefined {
  let last: { readonly after: number; readonly count: number; readonly event: Uint8Array } | undefined

  return function eventAfter(scope, after, isFirst) {
    if (scope === 'everybody' && last?.after === after && last.count === recent.count) return last.event
    const requests = recent.requests(scope, after)
    if (!isFirst && requests.length === 0) return undefined
    const event = formatEvent(new TextEncoder().encode(JSON.stringify(answerOf(requests, recent.minutes(scope, after)))))
    if (scope === 'everybody') last = { after, count: recent.count, event }
    return event
  }
}

function answerOf(requests: readonly RecentRequest[], minutes: readonly MinuteSums[]): RequestsAnswer {
  return { requests: requests.map(requestEntry), minutes: minutes.map(minuteEntry) }
}

function requestEntry({ time, id, user, model, stream, status, error, provider, trail, firstTokenMs, totalMs, usage, price }: RecentRequest): RequestEntry {
  const cost = costOf(usage, price)
  return {
    time, id, model, stream, status,
    ...(user === undefined ? {} : { user }),
    ...(error === undefined ? {} : { error }),
    ...(provider === undefined ? {} : { provider }),
    trail: trail.map(trailEntry),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs: tenths(firstTokenMs) }),
    totalMs: tenths(totalMs),
    ...(usage?.promptTokens === undefined ? {} : { promptTokens: usage.promptTokens }),
    ...(usage?.completionTokens === undefined ? {} : { completionTokens: usage.completionTokens }),
    ...(cost === undefined ? {} : { cost }),
  }
}

function trailEntry({ name, status, failure, ms }: RecentRequest['trail'][number]): TrailEntry {
  return { provider: name, ...(status === undefined ? {} : { status }), ...(failure === undefined ? {} : { failure }), ms: tenths(ms) }
}

function minuteEntry({ firstTokenP50, firstTokenP95, ...sums }: MinuteSums): MinuteEntry {
  return {
    ...sums,
    ...(firstTokenP50 === undefined ? {} : { firstTokenP50: tenths(firstTokenP50) }),
    ...(firstTokenP95 === undefined ? {} : { firstTokenP95: tenths(firstTokenP95) }),
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
