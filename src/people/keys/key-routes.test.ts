import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { LedgerFull, LedgerUnavailable, type KeyTable } from '../../ledger/ledger.ts'
import { storableKey, temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import { lineOfFileKey } from './file-key.ts'
import { keyRoutes } from './key-routes.ts'
import { fakeKeyHost } from './testing.ts'

let place: TemporaryLedger
let keys: KeyTable
const host = fakeKeyHost()
beforeEach(async () => {
  place = await temporaryLedger()
  keys = place.ledger.keys
})
afterEach(() => place.remove())

/** The body of the answer, or status and code of the refusal. */
async function ask(method: string, path: string, body = ''): Promise<unknown> {
  const url = new URL(path, 'http://svc.test')
  const route = keyRoutes({ keys, keysVia: () => keys }, host)
    .toSorted((one, other) => other.path.length - one.path.length)
    .find((each) => {
      const [start = '', end = ''] = each.path.split('{id}')
      const isOpen = each.path.endsWith('/') || end !== ''
      return (
        each.method === method &&
        (isOpen ? url.pathname.startsWith(start) && url.pathname.endsWith(end) : each.path === url.pathname)
      )
    })
  if (route === undefined) return 'no route'
  expect([route.isForOwners, route.scope]).toEqual([true, 'keys:write'])
  try {
    const response = await route.handle({
      request: new Request(url.href, { method }),
      path: url.pathname,
      address: '',
      id: 'request-1',
      caller: { name: 'key:boss' },
      body: async () => new TextEncoder().encode(body),
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
    return await response.json()
  } catch (error) {
    return error instanceof WireError ? `${error.status} ${error.code} ${error.param}` : error
  }
}

const make = (request: object = { name: 'indexer' }) => ask('POST', '/v1/keys', JSON.stringify(request))

describe('keys in access.json', () => {
  const line = lineOfFileKey('ci')
  const hash = Buffer.from('0f'.repeat(32), 'hex').toString('base64')
  beforeEach(() => {
    host.keysOfFile = [{ name: 'ci', line, hash, grants: { scopes: ['chat'] }, team: 'search' }]
  })
  afterEach(() => {
    host.keysOfFile = []
  })

  test('are listed first, with their last use, and shown', async () => {
    await keys.add(storableKey())
    await keys.nameLine(line, 'ci')
    await keys.noteUses(new Map([[line, 60_000]]))
    const view = {
      ...{ id: line, line, name: 'ci', kind: 'program', source: 'access.json', state: 'active', team: 'search' },
      ...{ hint: 'sha256 0f0f0f0f…', made: null, last_used: '1970-01-01T00:01:00.000Z', scopes: ['chat'] },
    }
    expect(await ask('GET', '/v1/keys')).toMatchObject({ data: [view, { id: 1, source: 'database' }] })
    expect(await ask('GET', '/v1/keys?after=1')).toMatchObject({ data: [], has_more: false })
    expect(await ask('GET', `/v1/keys/${line}`)).toMatchObject(view)
  })

  test('are listed in pages with the others', async () => {
    host.keysOfFile = ['b', 'c', 'd'].map((name) => ({ name, line: lineOfFileKey(name), hash, grants: { scopes: [] } }))
    for (let count = 0; count < 2; count += 1) await keys.add(storableKey())
    const names: string[][] = []
    for (let after = 0, more = true; more;) {
      const page = await ask('GET', `/v1/keys?limit=2&after=${after}`)
      const { data, has_more } = page as { data: { id: number; name: string }[]; has_more: boolean }
      names.push(data.map(({ id, name }) => (id < 0 ? name : String(id))))
      after = data.at(-1)?.id ?? 0
      more = has_more
    }
    expect(names.map(({ length }) => length)).toEqual([2, 2, 1])
    expect(names.flat().slice(0, 3).toSorted()).toEqual(['b', 'c', 'd'])
    expect(names.flat().slice(3)).toEqual(['1', '2'])
  })

  test('are neither rotated nor ended here', async () => {
    expect(await ask('DELETE', `/v1/keys/${line}`)).toBe('409 key_in_file null')
    expect(await ask('POST', `/v1/keys/${line}/rotate`)).toBe('409 key_in_file null')
    host.keysOfFile = []
    await keys.nameLine(line, 'ci')
    for (const method of ['GET', 'DELETE']) expect(await ask(method, `/v1/keys/${line}`)).toBe('404 key_not_found null')
  })
})

describe('/v1/keys', () => {
  test('makes, shows, rotates and ends a key', async () => {
    const made = await make({ name: 'indexer', models: ['a*'], days: 3 })
    expect(made).toMatchObject({ id: 1, key: expect.stringMatching(/^sk-svc_/), made_by: 'key:boss', models: ['a*'] })
    expect(await ask('GET', '/v1/keys/1')).toMatchObject({ id: 1, state: 'active' })
    expect(await ask('POST', '/v1/keys/1/rotate', '{"overlap_days":0}')).toMatchObject({ id: 2, line: 1 })
    expect(await ask('POST', '/v1/keys/2/rotate')).toMatchObject({ id: 3, line: 1 })
    expect(await ask('DELETE', '/v1/keys/3')).toMatchObject({ id: 3, state: 'ended', ended_by: 'key:boss' })
    expect(await ask('GET', '/v1/keys/1')).not.toHaveProperty('key')
    expect(host.lines.map(([, message]) => message)).toEqual([
      'a key was made',
      'a key was rotated',
      'a key was rotated',
      'a key was ended',
    ])
    expect(JSON.stringify(host.lines)).not.toContain('sk-svc_')
  })

  test('lists keys in pages', async () => {
    for (let count = 0; count < 3; count += 1) await make()
    expect(await ask('GET', '/v1/keys?limit=2')).toMatchObject({
      object: 'list',
      data: [{ id: 1 }, { id: 2 }],
      has_more: true,
    })
    expect(await ask('GET', '/v1/keys?after=2')).toMatchObject({ data: [{ id: 3 }], has_more: false })
  })

  test.each([
    ['POST', '/v1/keys', '', '400 invalid_json null'],
    ['POST', '/v1/keys', '[]', '400 invalid_json null'],
    ['POST', '/v1/keys', '{}', '400 invalid_value name'],
    ['POST', '/v1/keys', '{"name":"a","scopes":["all"]}', '400 invalid_value scopes'],
    ['POST', '/v1/keys', '{"name":"a","budget":5}', '400 invalid_value budget'],
    ['POST', '/v1/keys', '{"name":"a","team":"serch"}', '400 invalid_value team'],
    ['POST', '/v1/keys', '{"name":"a","team":"search","kind":"management"}', '400 invalid_value team'],
    ['GET', '/v1/keys?limit=0', '', '400 invalid_value limit'],
    ['GET', '/v1/keys?limit=1001', '', '400 invalid_value limit'],
    ['GET', '/v1/keys?after=x', '', '400 invalid_value after'],
    ['GET', '/v1/keys/7', '', '404 key_not_found null'],
    ['GET', '/v1/keys/indexer', '', '404 key_not_found null'],
    ['GET', '/v1/keys/1e3', '', '404 key_not_found null'],
    ['DELETE', '/v1/keys/7', '', '404 key_not_found null'],
    ['POST', '/v1/keys/7/rotate', '', '404 key_not_found null'],
    ['POST', '/v1/keys/1/rotate', '{"overlap_days":8}', '400 invalid_value overlap_days'],
    ['POST', '/v1/keys/1/rotate', '{"days":8}', '400 invalid_value days'],
  ])('refuses %s %s %s', async (method, path, body, expected) => {
    expect(await ask(method, path, body)).toBe(expected)
  })

  test('does not rotate a key that has ended or was rotated', async () => {
    await make()
    await ask('POST', '/v1/keys/1/rotate')
    expect(await ask('POST', '/v1/keys/1/rotate')).toBe('409 key_not_rotatable null')
    await ask('DELETE', '/v1/keys/2')
    expect(await ask('POST', '/v1/keys/2/rotate')).toBe('409 key_not_rotatable null')
  })

  test.each([
    ['the database is away', new LedgerUnavailable('away'), '503 store_unavailable null'],
    ['there are too many', new LedgerFull('full'), '409 too_many_keys null'],
  ])('says why no key was made: %s', async (_name, error, expected) => {
    keys = {
      ...keys,
      async add() {
        throw error
      },
    }
    expect(await make()).toBe(expected)
  })
})
