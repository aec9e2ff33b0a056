import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import type {
  ProviderChange,
  ProviderLookRequest,
  ProvidersAnswer,
  ProviderTest,
  ProviderTestRequest,
} from './page-api.ts'
import { providersApi, type ProvidersApiOptions } from './providers-api.ts'

const defaultTimeouts = { connectMs: 1, firstTokenMs: 2, idleMs: 3, attemptMs: 4 }

const state: ProvidersAnswer = {
  version: 'v1',
  source: 'file',
  file: 'home/providers.json',
  notice: { time: 5, faults: ['line'] },
  providers: [
    {
      id: 'a',
      protocol: 'openai',
      baseUrl: 'http://a.test/v1',
      enabled: true,
      state: { kind: 'ok' },
      models: ['m', 'n'],
      unpriced: { models: ['n'], areRefused: false },
      coolingModels: ['n', 'requested-by-a-caller'],
      attempts: { count: 1, ok: 0 },
      lastError: { time: 1, failure: 'server_error', model: 'm', status: 500 },
    },
  ],
}

function subject(options: Partial<ProvidersApiOptions> = {}) {
  const changes: [ProviderChange, string | undefined][] = []
  const tests: ProviderTestRequest[] = []
  const looks: ProviderLookRequest[] = []
  const routes = router(
    providersApi({
      state: async () => state,
      change: async (change, user) => (changes.push([change, user]), state),
      test: async (request): Promise<ProviderTest> => (tests.push(request), { ok: true, ms: 1 }),
      brands: () => ({ brands: [], defaultTimeouts }),
      look: async (wanted) => (looks.push(wanted), { ms: 1, models: ['m'] }),
      settings: async (id) => ({
        ...{ version: 'v', id, key: { kind: 'none' }, variables: [] },
        ...{ timeouts: {}, defaultTimeouts },
      }),
      mayEdit: () => true,
      isOwner: () => true,
      bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
      ...options,
    }),
  )

  /** The status with the JSON, or with the code of the error. */
  async function call(
    method: 'GET' | 'POST',
    path: string,
    body?: string | ReadableStream,
    user?: string,
  ): Promise<unknown> {
    const context = {
      ...contextOf(new Request(`http://x${path}`, { method, ...(body === undefined ? {} : { body }) })),
      ...(user === undefined ? {} : { caller: { name: user } }),
    }
    try {
      const response = await routes.find(method, path.replace(/\?.*/, '')).handle(context)
      return [response.status, await response.json()]
    } catch (error) {
      return error instanceof WireError ? [error.status, error.type, error.code] : error
    }
  }
  return { call, changes, tests, looks }
}

const adding = {
  brands: () => ({ brands: [], defaultTimeouts }),
  look: async () => ({ ms: 1 }),
  settings: async () => Promise.reject(new Error('not asked for')),
  mayEdit: () => true,
} as const
const change = { version: 'v1', id: 'a', change: 'up' } as const

describe('GET /api/providers', () => {
  test('shows owners everything', async () => {
    expect(await subject().call('GET', '/api/providers')).toEqual([200, { ...state, mayAdd: true }])
    expect(await subject({ mayEdit: () => false }).call('GET', '/api/providers')).toEqual([200, state])
  })

  test('shows others no file, addresses, texts of providers, models from requests, limits of money', async () => {
    const failing: ProvidersAnswer = {
      ...state,
      providers: state.providers.map((each) => ({
        ...each,
        state: { kind: 'failing', failure: 'model_list', detail: 'No route to db.internal' },
      })),
    }
    expect(await subject({ isOwner: () => false, state: async () => failing }).call('GET', '/api/providers')).toEqual([
      200,
      {
        source: 'file',
        providers: [
          {
            id: 'a',
            protocol: 'openai',
            enabled: true,
            state: { kind: 'failing', failure: 'model_list' },
            models: ['m', 'n'],
            coolingModels: ['n'],
            attempts: { count: 1, ok: 0 },
          },
        ],
      },
    ])
  })
})

describe('POST /api/providers', () => {
  test('applies the change, in the name of the user, and returns the new state', async () => {
    const { call, changes } = subject()
    expect(await call('POST', '/api/providers', JSON.stringify(change), 'ann')).toEqual([
      200,
      { ...state, mayAdd: true },
    ])
    expect(changes).toEqual([[change, 'ann']])
  })

  test('refuses other users, with any body', async () => {
    const { call, changes } = subject({ isOwner: () => false })
    for (const body of [JSON.stringify(change), 'nonsense'])
      expect(await call('POST', '/api/providers', body)).toEqual([403, 'permission_error', 'owners_only'])
    expect(changes).toEqual([])
  })

  test('refuses invalid changes, and bodies that are too large, declared or not', async () => {
    const { call, changes } = subject()
    const large = 'x'.repeat(64 * 1024 + 1)
    expect(await call('POST', '/api/providers', '{}')).toEqual([
      400,
      'invalid_request_error',
      'missing_required_parameter',
    ])
    expect(await call('POST', '/api/providers', large)).toEqual([413, 'invalid_request_error', 'request_too_large'])
    expect(await call('POST', '/api/providers', new Blob([large]).stream())).toEqual([
      413,
      'invalid_request_error',
      'request_too_large',
    ])
    expect(changes).toEqual([])
  })

  test('answers 499 when the client leaves', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('connection lost')) })
    expect(await subject().call('POST', '/api/providers', broken)).toEqual([
      499,
      'invalid_request_error',
      'client_left',
    ])
  })
})

describe('POST /api/providers/test', () => {
  test('tests the provider, with the given model', async () => {
    const { call, tests } = subject()
    expect(await call('POST', '/api/providers/test', '{"id":"a"}')).toEqual([200, { ok: true, ms: 1 }])
    await call('POST', '/api/providers/test', '{"id":"a","model":"m"}')
    expect(tests).toEqual([{ id: 'a' }, { id: 'a', model: 'm' }])
  })

  test('keeps the connection open during the test only', async () => {
    const limits: string[] = []
    const routes = router(
      providersApi({
        state: async () => state,
        change: async () => state,
        isOwner: () => true,
        bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
        ...adding,
        async test() {
          limits.push('tested')
          throw new WireError(404, 'invalid_request_error', 'not_found', 'no such provider')
        },
      }),
    )
    const request = new Request('http://x/api/providers/test', { method: 'POST', body: '{"id":"a"}' })
    const context = {
      ...contextOf(request),
      keepOpen: () => void limits.push('open'),
      resetIdleLimit: () => void limits.push('let close'),
    }
    await expect(async () => routes.find('POST', '/api/providers/test').handle(context)).toThrow('no such provider')
    expect(limits).toEqual(['open', 'tested', 'let close'])
  })

  test('refuses others, and invalid tests', async () => {
    const { call, tests } = subject({ isOwner: () => false })
    expect(await call('POST', '/api/providers/test', '{"id":"a"}')).toEqual([403, 'permission_error', 'owners_only'])
    expect(await subject().call('POST', '/api/providers/test', '[]')).toEqual([
      400,
      'invalid_request_error',
      'invalid_json',
    ])
    expect(tests).toEqual([])
  })
})

describe('what decides where prompts and keys go', () => {
  const entry = { baseUrl: 'http://lab.test/v1', keyVariable: 'SVC_KEY_LAB' }
  const routes = [
    ['GET', '/api/providers/brands', undefined],
    ['POST', '/api/providers/look', { id: 'lab', entry }],
    ['POST', '/api/providers/look', { id: 'a', edit: {} }],
    ['POST', '/api/providers', { version: 'v', id: 'a', change: 'edit', edit: { keyVariable: null } }],
    ['GET', '/api/providers/settings?id=a', undefined],
    ['POST', '/api/providers', { version: 'v1', id: 'lab', change: 'add', entry }],
    ['POST', '/api/providers', { version: 'v1', id: 'a', change: 'remove' }],
  ] as const

  test.each(routes)('is for owners: %s %s', async (method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const { call, changes, looks } = subject({ isOwner: () => false })
    expect(await call(method, path, text)).toEqual([403, 'permission_error', 'owners_only'])
    const open = subject({ mayEdit: () => false })
    expect(await open.call(method, path, text)).toEqual([403, 'permission_error', 'not_from_here'])
    expect([changes, looks, open.changes, open.looks]).toEqual([[], [], [], []])
    expect(await subject().call(method, path, text)).toEqual([200, expect.anything()])
  })

  test('passes the entry on', async () => {
    const { call, looks } = subject()
    expect(await call('POST', '/api/providers/look', JSON.stringify({ id: 'lab', entry }))).toEqual([
      200,
      { ms: 1, models: ['m'] },
    ])
    expect(looks).toEqual([{ id: 'lab', entry }])
  })
})

test('none of the routes is public', () => {
  const { isOwner, bodyTimes } = { isOwner: () => true, bodyTimes: { totalMs: 1, idleMs: 1 } }
  const routes = providersApi({
    state: async () => state,
    change: async () => state,
    test: async () => ({ ok: true, ms: 0 }),
    ...adding,
    isOwner,
    bodyTimes,
  })
  expect(routes.map(({ method, path, isPublic }) => [method, path, isPublic])).toEqual([
    ['GET', '/api/providers', false],
    ['POST', '/api/providers', false],
    ['POST', '/api/providers/test', false],
    ['GET', '/api/providers/brands', false],
    ['POST', '/api/providers/look', false],
    ['GET', '/api/providers/settings', false],
  ])
})
