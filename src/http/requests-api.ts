import { overloaded } from '../gateway/all-failed.ts'
import { costOf } from '../observe/cost.ts'
import type { MinuteSums } from '../observe/minute-sums.ts'
import type { Observer } from '../observe/observer.ts'
import type { RecentRequest, Remembered, Scope } from '../observe/recent-requests.ts'
import { WireError } from '../wire/error.ts'
import { jsonResponse, type Exchange } from './exchange.ts'
import { liveEvents } from './live-events.ts'
import type { MinuteEntry, RequestEntry, RequestsAnswer, TrailEntry } from './page-api.ts'
import type { Route } from './route.ts'
import { sharedEvents } from './shared-events.ts'
import type { UnderWay } from './under-way.ts'

const requestPath = '/api/requests/'
const followersMost = 100
/** Of one user: nobody keeps all others out. */
const followersMostEach = 20
const heartbeatMs = 15_000
/** Whoever follows asks again after so long. */
const lifeMs = 15 * 60_000
/** Between two looks whether who follows would still be let pass: nobody sees more for long after signing out. */
const lookMs = 5_000

/** What {@link requestsApi} needs. */
export interface RequestsApiOptions {
  readonly observer: Pick<Observer, 'remembered' | 'find' | 'subscribe'>
  /** Whether who asks sees everybody's requests; others see their own. */
  readonly isOwner: (exchange: Exchange) => boolean
  /** The streams that are open: at most 100, of one user 20. Whoever stops the service ends them. */
  readonly followers: UnderWay
  readonly isClosing: () => boolean
  /** Milliseconds a reader may take to read what is there. */
  readonly stallMs: number
}

/** `GET /api/requests`, also as a stream of events, and `GET /api/requests/{id}` (docs/api.md). */
export function requestsApi(options: RequestsApiOptions): readonly Route[] {
  const { observer, isOwner } = options
  const follow = followRequests(options)

  async function all(exchange: Exchange): Promise<Response> {
    return jsonResponse(answerOf(await observer.remembered(scopeOf(exchange, isOwner), 0)), exchange.id)
  }

  async function one(exchange: Exchange): Promise<Response> {
    const found = await observer.find(scopeOf(exchange, isOwner), exchange.path.slice(requestPath.length))
    if (found === undefined)
      throw new WireError(404, 'invalid_request_error', 'not_found', 'No request with this id is remembered')
    return jsonResponse(requestEntry(found), exchange.id)
  }

  return [
    {
      method: 'GET',
      path: '/api/requests',
      isPublic: false,
      handle: (exchange) => (wantsEvents(exchange.request) ? follow(exchange) : all(exchange)),
    },
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

function followRequests({
  observer,
  isOwner,
  followers,
  isClosing,
  stallMs,
}: RequestsApiOptions): (exchange: Exchange) => Response {
  const eventAfter = sharedEvents(observer, answerOf)
  const ofUser = new Map<string, number>()

  function enter({ user = '' }: Exchange, end: () => void): () => void {
    const own = ofUser.get(user) ?? 0
    if (followers.count >= followersMost || (user !== '' && own >= followersMostEach))
      throw overloaded('As many pages follow the requests as may')
    const forget = followers.begin(end)
    ofUser.set(user, own + 1)
    return () => {
      forget()
      const left = (ofUser.get(user) ?? 1) - 1
      if (left === 0) ofUser.delete(user)
      else ofUser.set(user, left)
    }
  }

  function newsOf(exchange: Exchange) {
    let mark = 0
    let told = 0
    let isFirst = true
    return {
      async take(): Promise<Uint8Array | undefined> {
        const event = await eventAfter({ scope: scopeOf(exchange, isOwner), after: mark, told })
        const isWanted = isFirst || event.hasRequests
        mark = event.mark
        isFirst = false
        return isWanted ? event.bytes() : undefined
      },
      subscribe: (wake: () => void) =>
        observer.subscribe((count) => {
          told = count
          wake()
        }),
    }
  }

  return function follow(exchange) {
    const { request, id } = exchange
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': id,
    }
    if (request.method === 'HEAD') return new Response(null, { headers })
    if (isClosing()) throw overloaded('The service is stopping')
    const goAway = enter(exchange, () => end())
    const look = setInterval(
      () =>
        void mayStay(exchange).then((may) => {
          if (!may) end()
        }),
      lookMs,
    )
    exchange.keepOpen()
    const { body, end, leave } = liveEvents({
      ...newsOf(exchange),
      heartbeatMs,
      stallMs,
      lifeMs,
      onEnd({ hasClientLeft }) {
        goAway()
        clearInterval(look)
        request.signal.removeEventListener('abort', leave)
        if (hasClientLeft) exchange.drop()
        else exchange.letClose()
      },
    })
    request.signal.addEventListener('abort', leave, { once: true })
    if (request.signal.aborted) leave()
    return new Response(body, { headers })
  }
}

/** Whether the guards would let them pass again, as the same. */
async function mayStay({ user, whoNow }: Exchange): Promise<boolean> {
  try {
    return (await whoNow()).user === user
  } catch {
    return false // Whatever keeps them out, they learn of it when they ask again.
  }
}

function answerOf({ requests, minutes }: Remembered): RequestsAnswer {
  return { requests: requests.map(requestEntry), minutes: minutes.map(minuteEntry) }
}

function requestEntry({
  time,
  id,
  user,
  model,
  stream,
  status,
  error,
  provider,
  trail,
  firstTokenMs,
  totalMs,
  usage,
  price,
}: RecentRequest): RequestEntry {
  const cost = costOf(usage, price)
  return {
    time,
    id,
    model,
    stream,
    status,
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
  return {
    provider: name,
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { failure }),
    ms: tenths(ms),
  }
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
