import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import type { NewKey } from '../../ledger/ledger.ts'
import { storableKey, temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import { callerOf } from '../caller-of.ts'
import { lineOfFileKey } from './file-key.ts'
import { ownKeyRoutes } from './own-key-routes.ts'
import { fakeKeyHost, type FakeKeyHost } from './testing.ts'

let place: TemporaryLedger
let host: FakeKeyHost
beforeEach(async () => {
  place = await temporaryLedger()
  host = fakeKeyHost()
  host.leads.set('search', ['ann'])
})
afterEach(() => place.remove())

/** The body of the answer, or status and code of the refusal. */
async function ask(user: string, method: string, path = '/api/keys', body?: object): Promise<unknown> {
  const url = new URL(path, 'http://svc.test')
  const route = ownKeyRoutes(place.ledger, host).find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.path.replace(/\/$/, '/{id}').replace('{id}', '[^/]+')}$`).test(url.pathname),
  )
  try {
    const response = await route?.handle({
      request: new Request(url.href, { method }),
      path: url.pathname,
      address: '',
      id: 'request-1',
      caller: callerOf({ user }),
      body: async () => new TextEncoder().encode(body && JSON.stringify(body)),
    })
    return await response?.json()
  } catch (error) {
    return error instanceof WireError ? `${error.status} ${error.code}` : error
  }
}

const rotate = (user: string, id: number, body?: object) => ask(user, 'POST', `/api/keys/${id}/rotate`, body)
const make = (user: string, team?: string, name = 'nightly') => ask(user, 'POST', '/api/keys', { name, team })

test('keys of a team in access.json are listed for its leads, who do not end them', async () => {
  const line = lineOfFileKey('ci')
  host.keysOfFile = [{ name: 'ci', line, hash: '', grants: { scopes: ['chat'] }, team: 'search' }]
  expect(await ask('ann', 'GET', '/api/keys?team=search')).toMatchObject({ data: [{ id: line, name: 'ci' }] })
  expect(await ask('ann', 'GET')).toMatchObject({ data: [] })
  for (const [method, end] of [
    ['DELETE', ''],
    ['POST', '/rotate'],
  ] as const) {
    expect(await ask('ann', method, `/api/keys/${line}${end}`)).toBe('409 key_in_file')
    expect(await ask('bob', method, `/api/keys/${line}${end}`)).toBe('404 key_not_found')
  }
})

describe('a key of a team', () => {
  test('is made, listed and ended by a lead', async () => {
    expect(await make('ann', 'search')).toMatchObject({ id: 1, team: 'search', person: null, made_by: 'ann' })
    await make('ann')
    const listed = await ask('ann', 'GET', '/api/keys?team=search')
    expect(listed).toMatchObject({ data: [{ id: 1, team: 'search' }], teams: ['search'] })
    expect(await ask('ann', 'GET')).toMatchObject({ data: [{ id: 2, team: null, person: 'ann' }] })
    expect(await ask('ann', 'DELETE', '/api/keys/1')).toMatchObject({ id: 1, state: 'ended', ended_by: 'ann' })
  })

  test('is nothing to others', async () => {
    await make('ann', 'search')
    expect(await make('bob', 'search')).toBe('403 not_a_lead')
    expect(await make('ann', 'ads')).toBe('403 not_a_lead')
    expect(await ask('bob', 'GET', '/api/keys?team=search')).toBe('403 not_a_lead')
    expect(await ask('bob', 'DELETE', '/api/keys/1')).toBe('404 key_not_found')
    expect(await rotate('bob', 1)).toBe('404 key_not_found')
    expect(await ask('bob', 'GET')).toMatchObject({ data: [], teams: [] })
  })

  test('is below the ceilings of own_keys, which count for the team', async () => {
    host.ceilings = { most: 1, daysMost: 7 }
    expect(await make('ann', 'search')).toMatchObject({ expires: new Date(host.now() + 7 * 86_400_000).toISOString() })
    expect(await make('ann', 'search')).toBe('409 too_many_keys')
    expect(await make('ann')).toMatchObject({ id: 2 })
    host.ceilings = { most: 0, daysMost: 7 }
    expect(await make('ann', 'search')).toBe('403 own_keys_off')
  })
})

describe('a lead who rotates a key of the team', () => {
  const grants = { scopes: ['chat', 'usage:read'], models: ['gpt-5*'] }
  const stored = (more: Partial<NewKey> = {}) =>
    place.ledger.keys.add(storableKey({ team: 'search', made: host.now(), grants: JSON.stringify(grants), ...more }))
  const timeIn = (days: number) => new Date(host.now() + days * 86_400_000).toISOString()

  test('gets a successor with the same grants, and an entry in the audit', async () => {
    await stored()
    expect(await rotate('ann', 1, { overlap_days: 2 })).toMatchObject({
      ...{ id: 2, line: 1, team: 'search', person: null, made_by: 'ann', ...grants },
      key: expect.stringMatching(/^sk-svc_/),
    })
    expect(await ask('ann', 'GET', '/api/keys?team=search')).toMatchObject({
      data: [{ id: 2 }, { id: 1, expires: timeIn(2) }],
    })
    const [made, rotated] = await place.ledger.audit.list(99, 2)
    expect([made?.action, rotated?.action, rotated?.actor, rotated?.via]).toEqual([
      'key.made',
      'key.rotated',
      'ann',
      'page',
    ])
    expect(await rotate('ann', 1)).toBe('409 key_not_rotatable')
  })

  test.each([
    ['without an end', {}, 90],
    ['with a longer life', { expires: 400 }, 90],
    ['with a shorter life', { expires: 7 }, 7],
  ])('gets no longer life than a new key may have: of a key %s', async (_, { expires }: { expires?: number }, days) => {
    await stored(expires === undefined ? {} : { expires: host.now() + expires * 86_400_000 })
    expect(await rotate('ann', 1)).toMatchObject({ expires: timeIn(days) })
  })

  test('gets no scope that a new key may not have', async () => {
    await stored({ grants: '{"scopes":["chat","log:read"]}' })
    expect(await rotate('ann', 1)).toBe('403 scope_not_allowed')
    expect(await ask('ann', 'DELETE', '/api/keys/1')).toMatchObject({ state: 'ended' })
  })

  test('gets no more keys than the team may have', async () => {
    host.ceilings = { most: 1, daysMost: 90 }
    await stored()
    expect(await rotate('ann', 1)).toBe('409 too_many_keys')
    expect(await rotate('ann', 1, { overlap_days: 0 })).toMatchObject({ id: 2 })
    host.ceilings = { most: 0, daysMost: 90 }
    expect(await rotate('ann', 2)).toBe('403 own_keys_off')
  })

  test('names what is wrong with the request', async () => {
    await stored()
    expect(await rotate('ann', 1, { overlap_days: 8 })).toBe('400 invalid_value')
    expect(await rotate('ann', 1, { days: 8 })).toBe('400 invalid_value')
    await make('ann')
    expect(await rotate('ann', 2)).toBe('409 key_not_rotatable')
    expect(await rotate('ann', 9)).toBe('404 key_not_found')
  })
})
