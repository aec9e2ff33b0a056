import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import { ClientLeft } from '../entrance/read-body.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { programKeyApi, type ProgramKeyApiOptions } from './program-key-api.ts'

const wanted = { key: { name: 'indexer', days: 90 }, limit: { usd: 10, per: 'month' } }
const asked: unknown[] = []
const editor: ProgramKeyApiOptions['editor'] = {
  async draft({ limit }) {
    asked.push(limit)
    const faults = limit['usd'] === 'ten' ? [{ message: 'limits[0].usd: found "ten"' }] : []
    return { base: { file: 'access.json', version: 'v1', text: 'before' }, text: 'after', faults }
  },
  async change(change, user) {
    asked.push([change, user])
    return { file: 'access.json', version: 'v2' }
  },
}

let place: TemporaryLedger
beforeEach(async () => {
  place = await temporaryLedger()
  asked.length = 0
})
afterEach(() => place.remove())

/** The answer, or status and code of the refusal. */
async function make(body: object = wanted, more: Partial<ProgramKeyApiOptions> = {}, left?: AbortSignal) {
  const path = '/api/program-keys'
  const routes = router(
    programKeyApi({
      keys: () => place.ledger,
      hasTeam: (name) => name === 'data',
      log: { debug() {}, info() {}, warn() {}, error() {} },
      now: () => 1_800_000_000_000,
      isOwner: () => true,
      mayEdit: () => true,
      bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
      editor,
      ...more,
    }),
  )
  const request = new Request(`http://x${path}`, { method: 'POST', body: JSON.stringify(body) })
  const context = { ...contextOf(request), caller: { name: 'ann' }, ...(left && { left }) }
  try {
    const response = await routes.find('POST', path).handle(context)
    expect(response.headers.get('cache-control')).toBe('no-store')
    return await response.json()
  } catch (error) {
    return error instanceof WireError ? `${error.status} ${error.code}` : error
  }
}

/** Who ended each key. */
async function endings(): Promise<unknown> {
  return (await place.ledger.keys.list(0, 9)).map(({ endedBy }) => endedBy)
}

describe('a key of a program with its limit', () => {
  test('is made with a limit for its line', async () => {
    expect(await make()).toMatchObject({ line: 1, key: expect.stringMatching(/^sk-svc_/), name: 'indexer' })
    expect(asked).toEqual([
      { for: 'key:999999999999999', usd: 10, per: 'month' },
      { for: 'key:1', usd: 10, per: 'month' },
      [{ version: 'v1', text: 'after' }, 'ann'],
    ])
    expect(await endings()).toEqual([undefined])
  })

  test('is made alone without a limit, where access.json may not be edited too', async () => {
    expect(await make({ key: wanted.key }, { mayEdit: () => false })).toMatchObject({ line: 1 })
    expect(asked).toEqual([])
  })

  test.each<[string, object, Partial<ProgramKeyApiOptions>, string]>([
    ['by others than owners', wanted, { isOwner: () => false }, '403 owners_only'],
    ['from another machine without sign-in', wanted, { mayEdit: () => false }, '403 not_from_here'],
    ['without keys', wanted, { keys: () => undefined }, '404 no_keys'],
    ['with a wrong limit', { ...wanted, limit: { usd: 'ten' } }, {}, '400 invalid_value'],
    ['with a limit for others', { ...wanted, limit: { for: 'everyone', usd: 1 } }, {}, '400 invalid_value'],
    ['with an unknown member', { ...wanted, key: { name: 'x', line: 5 } }, {}, '400 invalid_value'],
    ['for an unknown team', { ...wanted, key: { name: 'x', team: 'web' } }, {}, '400 invalid_value'],
    ['without a key', { limit: wanted.limit }, {}, '400 missing_required_parameter'],
  ])('is not made %s', async (_, body, more, refusal) => {
    expect(await make(body, more)).toBe(refusal)
    expect(await endings()).toEqual([])
  })

  test('ends when its limit cannot be written', async () => {
    const change = (): never => {
      throw new WireError(409, 'invalid_request_error', 'conflict', 'changed')
    }
    expect(await make(wanted, { editor: { ...editor, change } })).toBe('409 conflict')
    expect(await endings()).toEqual(['ann'])
  })

  test('ends when its maker leaves, and its limit goes', async () => {
    const tab = new AbortController()
    const change: typeof editor.change = (...given) => {
      tab.abort()
      return editor.change(...given)
    }
    expect(await make(wanted, { editor: { ...editor, change } }, tab.signal)).toBeInstanceOf(ClientLeft)
    expect(asked.at(-1)).toEqual([{ version: 'v2', text: 'before' }, 'ann'])
    expect(await endings()).toEqual(['ann'])
    expect(await make(wanted, {}, tab.signal)).toBeInstanceOf(ClientLeft)
    expect(await endings()).toEqual(['ann', 'ann'])
  })
})
