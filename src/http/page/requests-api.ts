import { WireError } from '../../formats/error.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { Observer } from '../../observe/observer.ts'
import { isOf, type Remembered, type Scope } from '../../observe/recent-requests.ts'
import type { OpenRequests } from '../entrance/admission.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { readLedger } from './ledger-answer.ts'
import { ledgerScope } from './ledger-scope.ts'
import { liveEvents } from './live-events.ts'
import type { RequestsAnswer, RunningAnswer } from './page-api.ts'
import { requestEvents } from './request-events.ts'

const requestPath = '/api/requests/'
const followersMax = 100
/** Limit of one user, so that one user cannot use up all streams. */
const followersPerUserMax = 20
const heartbeatMs = 15_000
/** Lifetime of a stream; its client then asks again. */
const lifeMs = 15 * 60_000
/** Interval of asking the guards again, so that a stream ends soon after its user signs out. */
const guardIntervalMs = 5_000

export interface RequestsApiOptions {
  readonly observer: Pick<Observer, 'remembered' | 'find' | 'subscribe' | 'running'>
  /** Finds older requests; `undefined`: none are kept. */
  readonly use: () => UseAsker | undefined
  /** Owners see the requests of all users, others only their own. */
  readonly isOwner: (context: HandlerContext) => boolean
  /** Open streams: at most 100, and 20 of one user. A shutdown ends them. */
  readonly followers: OpenRequests
  readonly isClosing: () => boolean
  /** Milliseconds a reader may take to read an event. */
  readonly stallMs: number
}

/** `GET /api/requests`, also as a stream of events, `GET /api/requests/{id}` and `GET /api/running` (docs/api.md). */
export function requestsApi(options: RequestsApiOptions): readonly Route[] {
  const { observer, isOwner, use } = options
  const follow = followRequests(options)

  async function all(context: HandlerContext): Promise<Response> {
    return jsonResponse(requestsAnswer(await observer.remembered(scopeOf(context, isOwner), 0)), context.id)
  }

  async function one(context: HandlerContext): Promise<Response> {
    const id = context.path.slice(requestPath.length)
    const found = await observer.find(scopeOf(context, isOwner), id)
    if (found !== undefined) return jsonResponse(found, context.id)
    const stored = await readLedger('The requests', async () => use()?.requests.find(ledgerScope(context, isOwner), id))
    if (stored !== undefined) return jsonResponse(stored, context.id)
    throw new WireError(404, 'invalid_request_error', 'not_found', 'No request with this id is remembered')
  }

  async function running(context: HandlerContext): Promise<Response> {
    const scope = scopeOf(context, isOwner)
    const id = new URL(context.request.url).searchParams.get('id')
    const all = await observer.running(id ?? undefined)
    const own = scope === 'all users' ? all.requests : all.requests.filter((request) => isOf(request, scope))
    const answer: RunningAnswer = {
      count: scope === 'all users' ? all.count : own.length,
      requests: own.map(({ line: _line, person: _person, ...shown }) => shown),
    }
    return jsonResponse(answer, context.id)
  }

  return [
    { method: 'GET', path: '/api/running', isPublic: false, scope: 'log:read', handle: running },
    {
      method: 'GET',
      path: '/api/requests',
      isPublic: false,
      scope: 'log:read',
      handle: (context) => (wantsEvents(context.request) ? follow(context) : all(context)),
    },
    { method: 'GET', path: requestPath, isPublic: false, scope: 'log:read', handle: one },
  ]
}

/** The answer of `GET /api/requests`. */
function requestsAnswer({ requests, minutes }: Remembered): RequestsAnswer {
  return { requests, minutes }
}

/** As {@link ledgerScope}: a key sees its own line. A caller without a name has no requests of their own. */
function scopeOf(context: HandlerContext, isOwner: RequestsApiOptions['isOwner']): Scope {
  const { access, key, person } = context.caller
  if (access !== undefined) return { line: key?.line ?? -1 }
  return isOwner(context) ? 'all users' : (person ?? { line: -1 })
}

function wantsEvents({ headers }: Request): boolean {
  return (headers.get('accept') ?? '').includes('text/event-stream')
}

/** Bounds the pages that follow the requests, of all and of a user. */
class Entrance {
  readonly #followers: RequestsApiOptions['followers']
  readonly #ofUser = new Map<string, number>()

  constructor(followers: RequestsApiOptions['followers']) {
    this.#followers = followers
  }

  /** @returns the way out @throws {WireError} 503 */
  enter(context: HandlerContext, stop: () => void): () => void {
    const { name: user = '' } = context.caller
    const own = this.#ofUser.get(user) ?? 0
    if (this.#followers.count >= followersMax || (user !== '' && own >= followersPerUserMax))
      throw overloaded('Too many pages follow the requests')
    const open = this.#followers.begin({ stop, peerPort: () => context.peerPort() })
    this.#ofUser.set(user, own + 1)
    return () => {
      open.end()
      const left = (this.#ofUser.get(user) ?? 1) - 1
      if (left === 0) this.#ofUser.delete(user)
      else this.#ofUser.set(user, left)
    }
  }
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

function followRequests({
  observer,
  isOwner,
  followers,
  isClosing,
  stallMs,
}: RequestsApiOptions): (context: HandlerContext) => Response {
  const eventAfter = requestEvents(observer, requestsAnswer)
  const entrance = new Entrance(followers)
  function changesFor(context: HandlerContext) {
    let mark = 0
    let announced = 0
    let isFirst = true
    return {
      async take(): Promise<Uint8Array | undefined> {
        const event = await eventAfter({ scope: scopeOf(context, isOwner), after: mark, announced })
        const isWanted = isFirst || event.hasRequests
        mark = event.mark
        isFirst = false
        return isWanted ? event.bytes() : undefined
      },
      subscribe: (wake: () => void) =>
        observer.subscribe((count) => {
          announced = count
          wake()
        }),
    }
  }

  return function follow(context) {
    const { request, id } = context
    const headers = { ...eventHeaders, 'x-request-id': id }
    if (request.method === 'HEAD') return new Response(null, { headers })
    if (isClosing()) throw overloaded('The service is shutting down')
    const exit = entrance.enter(context, () => end())
    const guardTimer = setInterval(() => void mayStay(context).then((may) => may || end()), guardIntervalMs)
    context.keepOpen()
    const { body, end, leave } = liveEvents({
      ...changesFor(context),
      heartbeatMs,
      stallMs,
      lifeMs,
      onEnd({ hasClientLeft }) {
        exit()
        clearInterval(guardTimer)
        request.signal.removeEventListener('abort', leave)
        if (hasClientLeft) context.drop()
        else context.resetIdleLimit()
      },
    })
    request.signal.addEventListener('abort', leave, { once: true })
    if (request.signal.aborted) leave()
    return new Response(body, { headers })
  }
}

/** Whether the guards still let the reader pass, as the same user. */
async function mayStay(context: HandlerContext): Promise<boolean> {
  try {
    return (await context.currentCaller()).name === context.caller.name
  } catch {
    return false // The client learns the reason at its next request.
  }
}
