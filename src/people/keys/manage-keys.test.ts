import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Ledger } from '../../ledger/ledger.ts'
import { storableKey, temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import { hashOfKey, readKey } from './key-form.ts'
import { endKey, makeKey, parseKeyRequest, rotateKey, viewOfKey, type MadeKey } from './manage-keys.ts'

let place: TemporaryLedger
let ledger: Ledger
beforeEach(async () => {
  place = await temporaryLedger()
  ledger = place.ledger
})
afterEach(() => place.remove())

const now = Date.UTC(2026, 10, 23, 9)
const day = 86_400_000
const maker = { by: 'ann', now }
const make = (request: object): Promise<MadeKey> => makeKey(ledger.keys, parseKeyRequest(request), maker)

describe('a request for a key', () => {
  test('has a name, and defaults', () => {
    expect(parseKeyRequest({ name: 'indexer' })).toEqual({
      name: 'indexer',
      kind: 'program',
      grants: { scopes: ['chat', 'models:read'] },
    })
  })

  test.each([
    [undefined, ''],
    [[], ''],
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'a\u202eb' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'a', kind: 'root' }, 'kind'],
    [{ name: 'a', days: 0 }, 'days'],
    [{ name: 'a', days: 1.5 }, 'days'],
    [{ name: 'a', days: 3_651 }, 'days'],
    [{ name: 'a', days: '30' }, 'days'],
    [{ name: 'a', budget: 5 }, 'budget'],
  ])('is refused: %j', (value, field) => {
    expect(() => parseKeyRequest(value)).toThrow(expect.objectContaining({ name: 'KeyFault', field }))
  })
})

test('a new key is shown with its text, which is stored nowhere', async () => {
  const made = await make({ name: 'indexer', models: ['gpt-5*'], days: 30 })
  const formed = readKey(made.key)
  if (formed === undefined || formed === 'malformed') throw new Error('no key')
  expect(made).toMatchObject({
    id: 1,
    line: 1,
    name: 'indexer',
    state: 'active',
    made: '2026-11-23T09:00:00.000Z',
    made_by: 'ann',
    expires: '2026-12-23T09:00:00.000Z',
    models: ['gpt-5*'],
    providers: null,
    scopes: ['chat', 'models:read'],
  })
  const stored = await ledger.keys.find(1)
  expect(stored?.hash).toBe(hashOfKey(formed))
  const bytes = await Promise.all(
    ['', '-wal'].map((end) =>
      Bun.file(place.path + end)
        .bytes()
        .catch(() => new Uint8Array()),
    ),
  )
  const stays = ['indexer', made.key.slice(12, 40)].map((text) => Buffer.concat(bytes).includes(text))
  expect(stays).toEqual([true, false])
})

describe('a rotation', () => {
  test('gives a successor of the same name, grants, team, life and line', async () => {
    const first = await make({ name: 'indexer', team: 'search', providers: ['groq'], days: 30 })
    const next = await rotateKey(ledger.keys, 1, { by: 'bob', now: now + day, overlapDays: 2 })
    expect(next).toMatchObject({
      id: 2,
      line: 1,
      name: 'indexer',
      made_by: 'bob',
      expires: '2026-12-24T09:00:00.000Z',
      providers: ['groq'],
    })
    expect(next).not.toMatchObject({ key: first.key })
    expect(next).toMatchObject({ team: 'search' })
    const old = await ledger.keys.find(1)
    expect(old?.expires).toBe(now + 3 * day)
  })

  test('without an overlap ends the old key at once', async () => {
    await make({ name: 'indexer', kind: 'management' })
    const next = await rotateKey(ledger.keys, 1, { ...maker, overlapDays: 0 })
    expect(next).toMatchObject({ kind: 'management', expires: null, key: expect.stringMatching(/^svcm_/) })
    const old = await ledger.keys.find(1)
    expect(old === undefined ? old : viewOfKey(old, now).state).toBe('expired')
  })

  test('is refused for an unknown and for an ended key', async () => {
    await make({ name: 'indexer' })
    await endKey(ledger.keys, 1, maker)
    expect(await rotateKey(ledger.keys, 1, { ...maker, overlapDays: 1 })).toBe('over')
    expect(await rotateKey(ledger.keys, 2, { ...maker, overlapDays: 1 })).toBe('unknown')
  })
})

test('an ended key is shown with the time and who ended it', async () => {
  await make({ name: 'indexer' })
  expect(await endKey(ledger.keys, 1, { by: 'bob', now: now + 5 })).toMatchObject({
    state: 'ended',
    ended: '2026-11-23T09:00:00.005Z',
    ended_by: 'bob',
  })
  expect(await endKey(ledger.keys, 2, maker)).toBeUndefined()
})

test('grants that cannot be read are shown as none', async () => {
  const stored = await ledger.keys.add(storableKey({ grants: '{"scopes":["everything"]}' }))
  expect(viewOfKey(stored, now)).toMatchObject({ scopes: [], models: null })
})
