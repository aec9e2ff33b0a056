import { afterEach, describe, expect, jest, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { localObserver } from '../../observe/local-observer.ts'
import type { RequestRecord } from '../../observe/record.ts'
import type { RunningRequest } from '../../observe/under-way.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import { personOf, personOfRecord } from '../../people/testing.ts'
import { openRequests } from '../entrance/admission.ts'
import type { HandlerContext } from '../handler-context.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { requestsApi } from './requests-api.ts'

afterEach(() => void jest.useRealTimers())

const noon = Date.UTC(2026, 0, 1, 12)

function recordOf(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    time: noon,
    id: 'r1',
    model: 'm',
    api: 'chat',
    stream: false,
    status: 200,
    provider: 'groq',
    trail: [{ name: 'groq', status: 200, ms: 12.345 }],
    totalMs: 20.06,
    ...personOfRecord(more),
    ...more,
  }
}

interface Asking {
  readonly user?: string
  readonly caller?: Caller
  readonly method?: string
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** `ada` is the owner; without sign-in every request is. */
function subject({
  isClosing = false,
  owners = ['ada', undefined],
}: { readonly isClosing?: boolean; readonly owners?: readonly (string | undefined)[] } = {}) {
  const observer = localObserver({ version: '1', now: () => noon })
  const followers = openRequests()
  let drops = 0
  const callerNamed = (user: string | undefined) => (user === undefined ? {} : callerOf({ user }))
  let currentCaller = async (user: string | undefined): Promise<Caller> => callerNamed(user)
  const routes = router(
    requestsApi({
      observer,
      use: () => undefined,
      isOwner: ({ caller }) => owners.includes(caller.name),
      followers,
      isClosing: () => isClosing,
      stallMs: 30_000,
    }),
  )

  function handle(
    path: string,
    { user, caller = callerNamed(user), method = 'GET', accept, signal }: Asking = {},
  ): Response | Promise<Response> {
    const [pathname = '', query = ''] = path.split('?')
    const request = new Request(`http://x/?${query}`, {
      method,
      ...(accept === undefined ? {} : { headers: { accept } }),
      ...(signal === undefined ? {} : { signal }),
    })
    const context: HandlerContext = {
      ...contextOf(request),
      path: pathname,
      currentCaller: () => currentCaller(user),
      drop() {
        drops += 1
      },
      caller,
    }
    return routes.find(method, pathname).handle(context)
  }

  const ask = async (path: string, asking?: Asking): Promise<Response> => handle(path, asking)

  function opened(user?: string, signal?: AbortSignal, method = 'GET'): Response {
    const response = handle('/api/requests', {
      method,
      accept: 'text/event-stream',
      ...(user === undefined ? {} : { user }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (response instanceof Promise) throw new Error('not at once')
    return response
  }

  return {
    recent: observer,
    followers,
    ask,
    opened,
    drops: () => drops,
    /** Sets the result of the guards. */
    say(answer: () => Promise<Caller>) {
      currentCaller = answer
    },
    json: async (path: string, user?: string): Promise<unknown> =>
      (await ask(path, user === undefined ? {} : { user })).json(),
    follow: (user?: string, signal?: AbortSignal) => follow(opened(user, signal)),
  }
}

function follow(response: Response) {
  const reader = response.body?.getReader()
  return {
    response,
    /** The next event; `undefined` at the end. */
    async next(): Promise<unknown> {
      const read = await reader?.read()
      if (read?.value === undefined) return undefined
      const text = new TextDecoder().decode(read.value)
      expect(text).toMatch(/^data: [^\n]*\n\n$/)
      return JSON.parse(text.slice(6))
    },
    cancel: () => reader?.cancel(),
  }
}

/** Runs all pending microtasks and timers of 0 ms. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

const bare = {
  time: noon,
  id: 'r1',
  model: 'm',
  api: 'chat',
  stream: false,
  status: 200,
  provider: 'groq',
  trail: [{ provider: 'groq', status: 200, ms: 12.3 }],
  totalMs: 20.1,
}

describe('GET /api/running', () => {
  test('has the requests under way: of all users for owners, else of the user', async () => {
    const { recent, json } = subject()
    const running = (user: string | undefined) => ({
      ...{
        time: 5,
        id: `of ${user}`,
        api: 'chat',
        model: 'm',
        stream: true,
        user,
        trail: [{ provider: 'a', failure: 'connect', ms: 3 }],
        asking: { provider: 'b', ms: 4 },
        firstTokenMs: 7,
      },
    })
    const sent = (user: string) => ({ ...running(user), person: personOf({ user }) })
    recent.trackRunning(() => ({ count: 3, requests: [sent('ada'), sent('bob')] }))
    expect(await json('/api/running', 'ada')).toEqual({ count: 3, requests: [running('ada'), running('bob')] })
    expect(await json('/api/running', 'bob')).toEqual({ count: 1, requests: [running('bob')] })
    expect(await json('/api/running', 'eve')).toEqual({ count: 0, requests: [] })
  })

  test('has those of an id, of the user alone', async () => {
    const { recent, json } = subject()
    const sent = (id: string, user: string) => ({
      ...{ time: 5, id, api: 'chat', model: 'm', stream: true, trail: [], user, person: personOf({ user }) },
    })
    const requests = [sent('r1', 'ada'), sent('r1', 'bob'), sent('r2', 'bob')]
    recent.trackRunning((id) => ({ count: 3, requests: requests.filter((request) => request.id === id) }))
    expect(await json('/api/running?id=r1', 'bob')).toMatchObject({ count: 1, requests: [{ id: 'r1', user: 'bob' }] })
    expect(await json('/api/running?id=r3', 'bob')).toEqual({ count: 0, requests: [] })
  })

  test('has those of own keys, but not of a program whose name is that of a user', async () => {
    const { recent, json } = subject()
    const of = (id: string, more: Partial<RunningRequest>): RunningRequest => ({
      ...{ time: 5, id, api: 'chat', model: 'm', stream: true, trail: [], user: 'key:nightly', line: 1 },
      ...more,
    })
    const requests = [of('own', { person: personOf({ user: 'bob' }) }), of('of a program', {})]
    recent.trackRunning(() => ({ count: 2, requests }))
    expect(await json('/api/running', 'bob')).toMatchObject({ count: 1, requests: [{ id: 'own' }] })
    expect(await json('/api/running', 'key:nightly')).toEqual({ count: 0, requests: [] })
    for (const { id, trail: _, ...facts } of requests) recent.record(recordOf({ id, ...facts }))
    expect(await json('/api/requests', 'bob')).toMatchObject({ requests: [{ id: 'own' }] })
    expect(await json('/api/requests', 'key:nightly')).toEqual({ requests: [], minutes: [] })
  })
})

describe('a key with log:read', () => {
  const seen = async (line: number | undefined, path: string): Promise<unknown> => {
    const { recent, ask } = subject()
    const of = (id: string, own: number) => ({ id, line: own, user: 'key:ci' })
    recent.record(recordOf(of('own', 3)))
    recent.record(recordOf(of('of a key with this name', 4)))
    recent.record(recordOf({ id: 'of a person', user: 'ada' }))
    const running = { time: 5, api: 'chat', model: 'm', stream: true, trail: [] }
    recent.trackRunning(() => ({
      count: 3,
      requests: [
        { ...running, ...of('own', 3) },
        { ...running, ...of('of a key with this name', 4) },
      ],
    }))
    const access = { scopes: ['log:read'] }
    // Only the members that the routes read.
    const caller = { name: 'ada', access, ...(line === undefined ? {} : { key: { line } }) } as unknown as Caller
    // Its name is that of an owner.
    return (await ask(path, { caller })).json()
  }

  test('sees the requests of its line alone, in the list, its sums and those under way', async () => {
    expect(await seen(3, '/api/requests')).toMatchObject({ requests: [{ id: 'own' }], minutes: [{ requests: 1 }] })
    expect(await seen(3, '/api/running')).toMatchObject({ count: 1, requests: [{ id: 'own' }] })
    expect(await seen(3, '/api/requests/own')).toMatchObject({ id: 'own' })
  })

  test('sees none without a line, nor those of others by their ids', async () => {
    expect(await seen(undefined, '/api/requests')).toEqual({ requests: [], minutes: [] })
    for (const id of ['of a person', 'of a key with this name'])
      expect(seen(3, `/api/requests/${id}`)).rejects.toMatchObject({ status: 404 })
  })
})

describe('the requests', () => {
  test('are empty at first', async () => {
    expect(await subject().json('/api/requests')).toEqual({ requests: [], minutes: [] })
  })

  test('have all public fields, and no others', async () => {
    const { recent, json } = subject()
    recent.record(recordOf())
    recent.record(
      recordOf({
        id: 'r2',
        api: 'chat',
        stream: true,
        user: 'ada',
        firstTokenMs: 3.333,
        error: 'provider_error',
        cost: { nanoUsd: 2_000_000_001, source: 'config', hasConflict: true },
        usage: { promptTokens: 1_000_000, completionTokens: 500_000, totalTokens: 1_500_000 },
        trail: [
          { name: 'groq', failure: 'timeout', reason: 'no answer', ambiguous: true, bookedNanoUsd: 5_000_000, ms: 5 },
          {
            name: 'azure',
            status: 200,
            failure: 'malformed',
            tokens: { promptTokens: 3, completionTokens: 4 },
            cost: { nanoUsd: 1_000_000, source: 'list' },
            ms: 2,
          },
          { name: 'openai', status: 200, ms: 1 },
        ],
      }),
    )
    const full = {
      ...bare,
      id: 'r2',
      api: 'chat',
      stream: true,
      user: 'ada',
      firstTokenMs: 3.3,
      error: 'provider_error',
      promptTokens: 1_000_000,
      completionTokens: 500_000,
      cost: 2.000000001,
      costSource: 'config',
      hasConflict: true,
      trail: [
        { provider: 'groq', failure: 'timeout', ms: 5, bookedCost: 0.005, mayBeBilled: true },
        {
          ...{ provider: 'azure', status: 200, failure: 'malformed', ms: 2 },
          ...{ promptTokens: 3, completionTokens: 4, cost: 0.001 },
        },
        { provider: 'openai', status: 200, ms: 1 },
      ],
    }
    const minute = {
      time: noon,
      requests: 2,
      errors: 1,
      promptTokens: 1_000_000,
      completionTokens: 500_000,
      firstTokenP50: 3.3,
      firstTokenP95: 3.3,
    }
    expect(await json('/api/requests')).toStrictEqual({ requests: [bare, full], minutes: [minute] })
  })

  test('are not cached', async () => {
    const { headers } = await subject().ask('/api/requests')
    expect([headers.get('cache-control'), headers.get('content-type'), headers.get('x-request-id')]).toEqual([
      'no-store',
      'application/json',
      'request-1',
    ])
  })

  test('are found by their id', async () => {
    const { recent, json } = subject()
    recent.record(recordOf())
    expect(await json('/api/requests/r1')).toStrictEqual(bare)
  })

  test.each(['r2', 'r1/', 'r1/x', '%72%31', '..', '__proto__', 'x'.repeat(5_000), "'<script>"])(
    'are not found by %s',
    async (id) => {
      const { recent, ask } = subject()
      recent.record(recordOf())
      const error = await ask(`/api/requests/${id}`).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(WireError)
      expect(error).toMatchObject({ status: 404, code: 'not_found', message: 'No request with this id is remembered' })
    },
  )

  test('of others are not found unless the visitor is an owner', async () => {
    const { recent, json, ask } = subject()
    recent.record(recordOf({ id: 'a', user: 'ada' }))
    recent.record(recordOf({ id: 'b', user: 'bob' }))
    recent.record(recordOf({ id: 'n' }))
    expect(await json('/api/requests', 'bob')).toMatchObject({ requests: [{ id: 'b' }], minutes: [{ requests: 1 }] })
    expect(await json('/api/requests', 'ada')).toMatchObject({
      requests: [{ id: 'a' }, { id: 'b' }, { id: 'n' }],
      minutes: [{ requests: 3 }],
    })
    expect(await ask('/api/requests/a', { user: 'bob' }).catch((reason: unknown) => reason)).toMatchObject({
      status: 404,
    })
    expect(await json('/api/requests/b', 'bob')).toMatchObject({ id: 'b' })
  })

  test('are empty for a visitor without a name who is no owner', async () => {
    const { recent, json } = subject({ owners: [] })
    recent.record(recordOf())
    expect(await json('/api/requests')).toEqual({ requests: [], minutes: [] })
  })
})

describe('a stream of requests', () => {
  test('is sent for Accept: text/event-stream', async () => {
    const { follow: open, ask } = subject()
    expect(Object.fromEntries(open().response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'request-1',
    })
    expect((await ask('/api/requests', { accept: 'application/json' })).headers.get('content-type')).toBe(
      'application/json',
    )
  })

  test('has everything first, then new requests and changed minutes', async () => {
    jest.useFakeTimers()
    const { recent, follow: open } = subject()
    recent.record(recordOf({ id: 'old', time: noon - 60_000 }))
    const { next } = open()
    expect(await next()).toMatchObject({ requests: [{ id: 'old' }], minutes: [{ time: noon - 60_000, requests: 1 }] })
    const news = next()
    for (const id of ['new-1', 'new-2']) recent.record(recordOf({ id }))
    jest.advanceTimersByTime(250)
    expect(await news).toMatchObject({
      requests: [{ id: 'new-1' }, { id: 'new-2' }],
      minutes: [{ time: noon, requests: 2 }],
    })
  })

  test('continues for each reader from its own position', async () => {
    jest.useFakeTimers()
    const { recent, follow: open } = subject()
    const [early, other] = [open(), open()]
    for (const { next } of [early, other]) expect(await next()).toEqual({ requests: [], minutes: [] })
    recent.record(recordOf())
    const late = open()
    expect(await late.next()).toMatchObject({ requests: [{ id: 'r1' }] })
    jest.advanceTimersByTime(250)
    recent.record(recordOf({ id: 'r2' }))
    expect(await early.next()).toMatchObject({ requests: [{ id: 'r1' }, { id: 'r2' }] })
    expect(await other.next()).toMatchObject({ requests: [{ id: 'r1' }, { id: 'r2' }] })
    const news = late.next()
    jest.advanceTimersByTime(250)
    expect(await news).toMatchObject({ requests: [{ id: 'r2' }], minutes: [{ requests: 2 }] })
  })

  test('has only the last thousand for a reader that was not ready', async () => {
    jest.useFakeTimers()
    const { recent, follow: open } = subject()
    const { next } = open()
    await next()
    for (let index = 0; index < 5_000; index += 1) recent.record(recordOf({ id: String(index) }))
    jest.advanceTimersByTime(250)
    const news = await next()
    expect(news).toMatchObject({ minutes: [{ requests: 5_000 }] })
    expect(Object(news).requests).toHaveLength(1_000)
  })

  test('has only own requests for others than owners', async () => {
    jest.useFakeTimers()
    const { recent, follow: open } = subject()
    const { next } = open('bob')
    expect(await next()).toEqual({ requests: [], minutes: [] })
    const news = next()
    recent.record(recordOf({ id: 'a', user: 'ada' }))
    jest.advanceTimersByTime(250)
    recent.record(recordOf({ id: 'b', user: 'bob' }))
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    jest.advanceTimersByTime(250)
    expect(await news).toMatchObject({ requests: [{ id: 'b' }], minutes: [{ requests: 1 }] })
  })

  test.each([
    ['ada', 'bob'],
    ['bob', 'ada'],
  ])('tells %s and %s, who are at the same place, each what they may see', async (first, second) => {
    jest.useFakeTimers()
    const { recent, follow: open } = subject()
    const readers = [first, second].map((user) => ({ user, ...open(user) }))
    for (const { next } of readers) expect(await next()).toEqual({ requests: [], minutes: [] })
    for (const user of ['ada', 'bob']) recent.record(recordOf({ id: `by-${user}`, user }))
    jest.advanceTimersByTime(250)
    for (const { user, next } of readers) {
      expect(Object(await next()).requests.map(({ id }: { readonly id: string }) => id)).toEqual(
        user === 'ada' ? ['by-ada', 'by-bob'] : ['by-bob'],
      )
    }
  })

  test('has no requests of others after its reader stopped being an owner', async () => {
    jest.useFakeTimers()
    const owners = ['ada']
    const { recent, follow: open } = subject({ owners })
    recent.record(recordOf({ user: 'bob' }))
    const { next } = open('ada')
    expect(await next()).toMatchObject({ requests: [{ user: 'bob' }] })
    owners.pop()
    const news = next()
    recent.record(recordOf({ user: 'bob' }))
    recent.record(recordOf({ user: 'ada' }))
    jest.advanceTimersByTime(250)
    expect(await news).toMatchObject({ requests: [{ user: 'ada' }], minutes: [{ requests: 1 }] })
  })

  test.each([
    [
      'no guard lets its reader pass',
      async () => {
        throw new WireError(401, 'authentication_error', 'invalid_session', 'no')
      },
    ],
    [
      'its reader has no name',
      async () => {
        throw new Error('the store is gone')
      },
    ],
    ['its reader is another user', async () => callerOf({ user: 'bob' })],
    ['its reader has no name', async () => ({})],
  ] satisfies readonly [string, () => Promise<Caller>][])('ends within seconds when %s any more', async (_, answer) => {
    jest.useFakeTimers()
    const { follow: open, followers, drops, say } = subject()
    const { next } = open('ada')
    await next()
    const last = next()
    jest.advanceTimersByTime(5_000)
    await settle()
    expect(followers.count).toBe(1)
    say(answer)
    jest.advanceTimersByTime(5_000)
    await settle()
    expect([await last, followers.count, drops()]).toEqual([undefined, 0, 0])
  })

  test('ends within seconds when a guard is added', async () => {
    jest.useFakeTimers()
    const { follow: open, followers, say } = subject()
    await open().next()
    say(async () => {
      throw new WireError(401, 'authentication_error', 'authentication_required', 'no')
    })
    jest.advanceTimersByTime(5_000)
    await settle()
    expect(followers.count).toBe(0)
  })

  test('counts as open until its reader leaves', async () => {
    const { follow: open, followers } = subject()
    const controller = new AbortController()
    const [first] = [open(), open(undefined, controller.signal)]
    expect(followers.count).toBe(2)
    await first?.cancel()
    expect(followers.count).toBe(1)
    controller.abort()
    expect(followers.count).toBe(0)
  })

  test('drops the connection of a stalled reader, and keeps it after a proper end', async () => {
    jest.useFakeTimers()
    const { follow: open, followers, drops } = subject()
    await open().next()
    jest.advanceTimersByTime(30_001)
    expect([followers.count, drops()]).toEqual([0, 1])
    await open().next()
    followers.stopAll()
    expect([followers.count, drops()]).toEqual([0, 1])
  })

  test('is not opened for a client that has left, nor for HEAD', () => {
    const { opened, follow: open, followers } = subject()
    open(undefined, AbortSignal.abort())
    const head = opened(undefined, undefined, 'HEAD')
    expect([followers.count, head.body, head.headers.get('content-type')]).toEqual([
      0,
      null,
      'text/event-stream; charset=utf-8',
    ])
  })

  test('is refused when a hundred are open', async () => {
    const { follow: open, followers } = subject()
    const opened = Array.from({ length: 100 }, () => open())
    expect(thrown(() => open())).toMatchObject({ status: 503, code: 'overloaded', headers: { 'retry-after': '1' } })
    await opened[0]?.cancel()
    open()
    expect(followers.count).toBe(100)
    followers.stopAll()
    expect(followers.count).toBe(0)
  })

  test('is refused when its user has twenty, which does not affect others', async () => {
    const { follow: open, followers } = subject()
    const opened = Array.from({ length: 20 }, () => open('bob'))
    expect(thrown(() => open('bob'))).toMatchObject({ status: 503, code: 'overloaded' })
    open('ada')
    await opened[0]?.cancel()
    open('bob')
    expect(thrown(() => open('bob'))).toMatchObject({ status: 503 })
    followers.stopAll()
    open('bob')
    expect(followers.count).toBe(1)
    followers.stopAll()
  })

  test('ends when the service stops, and is not opened any more', async () => {
    const { follow: open, followers } = subject()
    const { next } = open()
    await next()
    followers.stopAll()
    expect(await next()).toBeUndefined()
    expect(thrown(() => subject({ isClosing: true }).follow())).toMatchObject({ status: 503, code: 'overloaded' })
  })
})
