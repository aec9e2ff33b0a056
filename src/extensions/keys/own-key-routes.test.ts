import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import { fakeHost, type FakeHost } from '../testing.ts'
import { ownKeyRoutes } from './own-key-routes.ts'

let place: TemporaryLedger
let host: FakeHost
beforeEach(async () => {
  place = await temporaryLedger()
  host = fakeHost()
  host.leads.set('search', ['ann'])
})
afterEach(() => place.remove())

/** The body of the answer, or status and code of the refusal. */
async function ask(user: string, method: string, path = '/api/keys', body?: object): Promise<unknown> {
  const url = new URL(path, 'http://svc.test')
  const route = ownKeyRoutes(place.ledger, host).find(
    (each) =>
      each.method === method &&
      (each.path.endsWith('/') ? url.pathname.startsWith(each.path) : each.path === url.pathname),
  )
  try {
    const response = await route?.handle({
      request: new Request(url.href, { method }),
      path: url.pathname,
      address: '',
      id: 'request-1',
      user,
      visitor: { user },
      body: async () => new TextEncoder().encode(JSON.stringify(body)),
    })
    return await response?.json()
  } catch (error) {
    return error instanceof WireError ? `${error.status} ${error.code}` : error
  }
}

const make = (user: string, team?: string, name = 'nightly') => ask(user, 'POST', '/api/keys', { name, team })

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
