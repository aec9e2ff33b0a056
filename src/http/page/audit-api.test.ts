import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable, type AuditTable, type Ledger } from '../../ledger/ledger.ts'
import { openLedger } from '../../ledger/open-ledger.ts'
import { storableKey, temporaryFolder } from '../../ledger/testing.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { auditApi } from './audit-api.ts'

let place: ReturnType<typeof temporaryFolder>
let ledger: Ledger
beforeEach(async () => {
  place = temporaryFolder()
  ledger = await openLedger({ path: place.path })
})
afterEach(async () => {
  await ledger.close()
  place.remove()
})

interface Asked {
  readonly audit?: AuditTable | undefined
  readonly isOwner?: boolean
  readonly verifyMs?: number
}

async function ask(path: string, given: Asked = {}): Promise<unknown> {
  const { isOwner = true, verifyMs = 5_000 } = given
  const audit = 'audit' in given ? given.audit : ledger.audit
  const routes = router(auditApi({ audit: () => audit, isOwner: () => isOwner, verifyMs }))
  const url = new URL(`http://x${path}`)
  const response = await routes.find('GET', url.pathname).handle(contextOf(new Request(url.href)))
  return response.json()
}

async function refusal(path: string, given: Asked = {}): Promise<unknown> {
  const error = await ask(path, given).catch((thrown: unknown) => thrown)
  return error instanceof WireError ? [error.status, error.code, error.param].filter((fact) => fact !== null) : error
}

async function changes(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await ledger.keys.add(storableKey({ madeBy: 'ann' }))
}

describe('GET /api/audit', () => {
  test('lists the newest first, a page at a time, without salts', async () => {
    await changes(5)
    const first = await ask('/api/audit?limit=2')
    expect(first).toMatchObject({ hasMore: true, entries: [{ seq: 5, actor: 'ann', action: 'key.made' }, { seq: 4 }] })
    expect(JSON.stringify(first)).not.toMatch(/salt|actorHash/i)
    expect(await ask('/api/audit?limit=2&before=4')).toMatchObject({ hasMore: true, entries: [{ seq: 3 }, { seq: 2 }] })
    expect(await ask('/api/audit?limit=2&before=2')).toMatchObject({ hasMore: false, entries: [{ seq: 1 }] })
    expect(await ask('/api/audit?before=1')).toEqual({ hasMore: false, entries: [] })
  })

  test('names keys, while they are there', async () => {
    await ledger.keys.add(storableKey({ name: 'laptop' }))
    await ledger.keys.add(storableKey({ name: '' }))
    await ledger.record({ time: 1, actor: 'ann', via: 'file', action: 'file.changed', object: '1' })
    const { entries } = (await ask('/api/audit')) as { entries: { object: string; keyName?: string }[] }
    expect(entries.map(({ object, keyName }) => [object, keyName])).toEqual([
      ['1', undefined],
      ['2', undefined],
      ['1', 'laptop'],
    ])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e3', 'limit'],
    ['before=', 'before'],
    ['before=0', 'before'],
    ['before=9999999999999999', 'before'],
    ["before=1'--", 'before'],
  ])('refuses %s', async (query, param) => {
    expect(await refusal(`/api/audit?${query}`)).toEqual([400, 'invalid_value', param])
  })

  test('is for owners, where changes are recorded', async () => {
    for (const path of ['/api/audit', '/api/audit/verify']) {
      expect(await refusal(path, { isOwner: false })).toEqual([403, 'owners_only'])
      expect(await refusal(path, { audit: undefined })).toEqual([404, 'audit_not_kept'])
      expect(await refusal(path, { audit: undefined, isOwner: false })).toEqual([403, 'owners_only'])
    }
  })

  test('is 503 while the database cannot be read', async () => {
    const away = async (): Promise<never> => {
      throw new LedgerUnavailable('locked')
    }
    const audit: AuditTable = { list: away, slice: away, given: away, keyNames: away }
    for (const path of ['/api/audit', '/api/audit/verify'])
      expect(await refusal(path, { audit })).toEqual([503, 'store_unavailable'])
  })
})

describe('GET /api/audit/verify', () => {
  test('finds no fault in a whole chain', async () => {
    await changes(3)
    expect(await ask('/api/audit/verify')).toMatchObject({ entries: 3, newest: { seq: 3 }, faults: [] })
  })

  test('names a changed entry', async () => {
    await changes(3)
    const other = new Database(place.path)
    other.run(`UPDATE audit SET object = '9' WHERE seq = 2`)
    other.close()
    expect(await ask('/api/audit/verify')).toMatchObject({
      entries: 3,
      faults: ['entry 2 does not follow from entry 1: changed or moved'],
    })
  })

  test('walks once for questions at the same time, and again for later ones', async () => {
    await changes(1)
    let walks = 0
    const audit: AuditTable = {
      ...ledger.audit,
      given: () => {
        walks += 1
        return ledger.audit.given()
      },
    }
    const routes = router(auditApi({ audit: () => audit, isOwner: () => true }))
    const verify = () =>
      routes.find('GET', '/api/audit/verify').handle(contextOf(new Request('http://x/api/audit/verify')))
    await Promise.all([verify(), verify(), verify()])
    expect(walks).toBe(1)
    await verify()
    expect(walks).toBe(2)
  })

  test('ends at its deadline, with the way out', async () => {
    const entry = { time: 1, actorHash: 'a', via: 'page', action: 'x', object: '1', chain: 'c' }
    const audit: AuditTable = {
      list: async () => [],
      given: async () => 1,
      keyNames: async () => new Map(),
      // Without an end.
      slice: async (after, limit) =>
        Array.from({ length: limit }, (_, index) => ({ ...entry, seq: Math.max(0, after) + index + 1 })),
    }
    expect(await refusal('/api/audit/verify', { audit, verifyMs: 20 })).toEqual([503, 'deadline_exceeded'])
  })
})
