import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ExtensionConfig } from '../../extensions/extension.ts'
import { extensionContract } from '../../extensions/testing.ts'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable, type Ledger } from '../../ledger/ledger.ts'
import { openLedger } from '../../ledger/open-ledger.ts'
import { storableKey, temporaryLedger, type TemporaryLedger } from '../../ledger/testing.ts'
import type { Caller } from '../person.ts'
import { lineOfFileKey, type FileKey } from './file-key.ts'
import { newKey } from './key-form.ts'
import { makeFileKey, makeKey, parseKeyRequest, type MadeKey } from './manage-keys.ts'
import { serviceKeys, type KeysContribution } from './service-keys.ts'
import { fakeKeyHost, type FakeKeyHost } from './testing.ts'

const shared = await temporaryLedger()
afterAll(() => shared.remove())

extensionContract(serviceKeys(fakeKeyHost(undefined, shared.ledger)), {
  folder: 'keys',
  values: { trusted_proxies: ['10.0.0.0/8'] },
  needsNoFile: true,
})

let place: TemporaryLedger
let ledger: Ledger
let host: FakeKeyHost
let keys: KeysContribution
beforeEach(async () => {
  place = await temporaryLedger()
  ledger = place.ledger
  keys = await start()
})
afterEach(async () => {
  await keys.close?.()
  await place.remove()
})

async function start(config?: ExtensionConfig): Promise<KeysContribution> {
  host = fakeKeyHost(config, ledger)
  return (await serviceKeys(host).start(host)) ?? {}
}

const make = (request: object = {}): Promise<MadeKey> =>
  makeKey(ledger.keys, parseKeyRequest({ name: 'indexer', ...request }), { by: 'ann', now: host.now() })

/** The caller of a request, or the code of the refusal. */
async function recognised(
  headers: Readonly<Record<string, string>>,
  url = '/',
  address = '203.0.113.9',
  refusal = (error: WireError) => `${error.status} ${error.code}`,
) {
  const request = new Request(`http://svc.test${url}`, { headers })
  try {
    return await keys.recognise?.({ request, path: '/v1/models', address, id: 'request-1' })
  } catch (error) {
    return error instanceof WireError ? refusal(error) : error
  }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

function callerIn(found: unknown): Caller {
  if (typeof found !== 'object' || found === null || !('name' in found)) throw new Error(String(found))
  // Only the extension makes it.
  return found as Caller
}

describe('a key', () => {
  test('is recognised in each header, with its name', async () => {
    const { key } = await make()
    for (const headers of [
      bearer(key),
      { authorization: `bearer  ${key}` },
      { 'x-api-key': key },
      { 'x-goog-api-key': key },
    ])
      expect(await recognised(headers)).toMatchObject({ name: 'key:indexer' })
    expect(await recognised(bearer(key.slice(3)))).toMatchObject({ name: 'key:indexer' })
  })

  test('of a team has it, and is refused while access.json has no such team', async () => {
    host.leads.set('search', [])
    const { key } = await make({ team: 'search' })
    expect(await recognised(bearer(key))).toMatchObject({ name: 'key:indexer', key: { team: 'search' } })
    host.leads.clear()
    expect(await recognised(bearer(key))).toBe('401 invalid_api_key')
  })

  test('is not taken from the address, and other credentials are left to the guards', async () => {
    const { key } = await make()
    expect(await recognised({}, `/?key=${key}&api_key=${key}`)).toBeUndefined()
    for (const headers of [
      {},
      bearer('sk-proj-abc'),
      { authorization: `Basic ${btoa(`a:${key}`)}` },
      { cookie: `token=${key}` },
    ])
      expect(await recognised(headers)).toBeUndefined()
  })

  test('that is malformed, unknown, ended or expired is refused at once', async () => {
    const unknown = (await make()).key
    await ledger.keys.end(1, { at: 5, by: 'ann' })
    const { key: expiring } = await make({ days: 1 })
    expect(await recognised(bearer(expiring))).toMatchObject({ name: 'key:indexer' })
    host.clock.ms += 86_400_000
    for (const key of [expiring, unknown, unknown.slice(0, -1), `${unknown.slice(0, -1)}-`, 'sk-svc_', 'svcm_x'])
      expect(await recognised(bearer(key))).toBe('401 invalid_api_key')
  })

  test('that is mistyped has another error than one that is unknown', async () => {
    const { key } = await make()
    const last = key.endsWith('0') ? '1' : '0'
    const refusal = async (sent: string) =>
      String(await recognised(bearer(sent), '/', undefined, (error) => error.message))
    expect(await refusal(key.slice(0, -1) + last)).toContain('a part of it is missing or changed')
    expect(await refusal(key.slice(0, -1))).toContain('a part of it is missing or changed')
    expect(await refusal(newKey('program'))).toContain('it is unknown, has ended or has expired')
  })

  test('decides by the first credential of ours', async () => {
    const { key } = await make()
    expect(await recognised({ ...bearer(key), 'x-api-key': 'sk-svc_bad' })).toMatchObject({ name: 'key:indexer' })
    expect(await recognised({ ...bearer('sk-svc_bad'), 'x-api-key': key })).toBe('401 invalid_api_key')
    expect(await recognised({ ...bearer('sk-other'), 'x-api-key': key })).toMatchObject({ name: 'key:indexer' })
  })

  test('that is made, rotated or ended by another process is known at once', async () => {
    const other = await openLedger({ path: place.path })
    for (let round = 1; round <= 30; round += 1) {
      const { key, id } = await makeKey(other.keys, parseKeyRequest({ name: `n${round}` }), {
        by: 'ann',
        now: host.now(),
      })
      expect(await recognised(bearer(key))).toMatchObject({ name: `key:n${round}` })
      await other.keys.end(id, { at: host.now(), by: 'ann' })
      expect(await recognised(bearer(key))).toBe('401 invalid_api_key')
    }
    await other.close()
  })

  test('with grants that cannot be read is refused, and the log names it', async () => {
    await ledger.keys.add(storableKey({ grants: '{"scopes":["all"]}' }))
    const { key } = await make()
    expect(await recognised(bearer(key))).toMatchObject({ name: 'key:indexer' })
    expect(host.lines).toEqual([
      ['error', expect.stringContaining('a key is refused'), expect.objectContaining({ key: 1 })],
    ])
  })

  test('notes its last use, to the minute', async () => {
    const { key } = await make()
    await recognised(bearer(key))
    await recognised(bearer(key))
    await keys.close?.()
    expect((await ledger.keys.find(1))?.used).toBe(host.now() - (host.now() % 60_000))
  })
})

describe('grants', () => {
  test('limit models by name or beginning, without regard to case, and providers by id', async () => {
    const { key } = await make({ models: ['gpt-5*', 'Claude-Haiku'], providers: ['groq'] })
    const { access } = callerIn(await recognised(bearer(key)))
    const names = ['gpt-5', 'GPT-5-mini', 'claude-haiku', 'claude-haiku-4', 'gpt-4', 'x/gpt-5', '']
    expect(names.filter((name) => access?.mayUseModel(name))).toEqual(['gpt-5', 'GPT-5-mini', 'claude-haiku'])
    expect(['groq', 'Groq', 'openai'].filter((id) => access?.mayUseProvider(id))).toEqual(['groq'])
    expect([access?.mayDo('chat'), access?.mayDo('keys:write')]).toEqual([true, false])
  })

  test('without lists limit nothing', async () => {
    const { access } = callerIn(await recognised(bearer((await make()).key)))
    expect([access?.mayUseModel('any'), access?.mayUseProvider('any')]).toEqual([true, true])
  })

  test('limit networks, behind trusted proxies by the address that they report', async () => {
    const { key } = await make({ networks: ['192.0.2.0/24', '2001:db8::/32'] })
    expect(await recognised(bearer(key), '/', '192.0.2.77')).toMatchObject({ name: 'key:indexer' })
    expect(await recognised(bearer(key), '/', '2001:db8::1')).toMatchObject({ name: 'key:indexer' })
    for (const address of ['192.0.3.1', '', '::1'])
      expect(await recognised(bearer(key), '/', address)).toBe('403 network_not_allowed')
    const forwarded = { ...bearer(key), 'x-forwarded-for': '192.0.2.1' }
    expect(await recognised(forwarded, '/', '10.0.0.1')).toBe('403 network_not_allowed')
    await keys.close?.()
    keys = await start({ values: { trusted_proxies: '10.0.0.0/8' }, unset: new Map() })
    expect(await recognised(forwarded, '/', '10.0.0.1')).toMatchObject({ name: 'key:indexer' })
  })
})

describe('a key in access.json', () => {
  const made = (request: object = {}) => makeFileKey(parseKeyRequest({ name: 'ci', ...request }), host.now())

  /** As the parser of the file makes it. */
  function inFile({ entry }: ReturnType<typeof made>, more: Partial<FileKey> = {}): FileKey {
    const { name, hash, scopes = [] } = entry
    return {
      ...{ name, line: lineOfFileKey(name), hash: Buffer.from(hash, 'hex').toString('base64'), grants: { scopes } },
      ...more,
    }
  }

  test('is recognised by its hash until the file has it no more, or it expires', async () => {
    const one = made()
    expect(await recognised(bearer(one.key))).toBe('401 invalid_api_key')
    host.keysOfFile = [inFile(one, { grants: { models: ['gpt-5*'], scopes: ['chat'] }, expires: host.now() + 1 })]
    const { name, access, key, keyFacts } = callerIn(await recognised(bearer(one.key)))
    expect([name, key?.line, keyFacts?.id]).toEqual(['key:ci', lineOfFileKey('ci'), lineOfFileKey('ci')])
    expect([access?.mayUseModel('gpt-5'), access?.mayUseModel('o3'), access?.mayDo('models:read')]).toEqual([
      ...[true, false, false],
    ])
    host.clock.ms += 1
    expect(await recognised(bearer(one.key))).toBe('401 invalid_api_key')
    host.keysOfFile = [inFile(one)]
    expect(await recognised({ 'x-api-key': one.key })).toMatchObject({ name: 'key:ci' })
    host.keysOfFile = []
    expect(await recognised(bearer(one.key))).toBe('401 invalid_api_key')
  })

  test('goes on in its line with another hash, which has its name in lists of use', async () => {
    const [one, other] = [made(), made()]
    host.keysOfFile = [inFile(one)]
    const { key: before } = callerIn(await recognised(bearer(one.key)))
    host.keysOfFile = [inFile(other)]
    expect(await recognised(bearer(one.key))).toBe('401 invalid_api_key')
    expect(callerIn(await recognised(bearer(other.key))).key?.line).toBe(before?.line)
    await keys.close?.()
    expect(await ledger.keys.find(before?.line ?? 0)).toMatchObject({ name: 'ci', used: expect.any(Number) })
  })

  test('belongs to a team, while the file has it', async () => {
    const one = made()
    host.keysOfFile = [inFile(one, { team: 'search' })]
    expect(await recognised(bearer(one.key))).toBe('401 invalid_api_key')
    host.leads.set('search', [])
    expect(callerIn(await recognised(bearer(one.key))).key).toMatchObject({ team: 'search' })
  })

  test('has no effect if the database has the same key, also an ended one, and is named at a load', async () => {
    const { key, id } = await make()
    const hash = (await ledger.keys.find(id))?.hash ?? ''
    host.keysOfFile = [inFile(made(), { hash })]
    expect(callerIn(await recognised(bearer(key))).keyFacts?.id).toBe(id)
    await ledger.keys.end(id, { at: 5, by: 'ann' })
    await keys.checkFileKeys?.()
    expect(await recognised(bearer(key))).toBe('401 invalid_api_key')
    const message = 'a key of access.json has no effect: the database has the same key, which counts'
    expect(host.lines).toEqual([['error', message, { name: 'ci' }]])
  })

  test('is never a management key', async () => {
    const boss = newKey('management')
    const hash = Bun.SHA256.hash(boss, 'base64')
    host.keysOfFile = [inFile(made(), { hash })]
    expect(await recognised(bearer(boss))).toBe('401 invalid_api_key')
  })
})

describe('a ledger that cannot be read', () => {
  test('leaves known keys in force, and refuses all with 503 once they have changed', async () => {
    const { key } = await make()
    let isAway = false
    let stamp = 0
    const failing: Ledger = {
      ...ledger,
      keys: {
        ...ledger.keys,
        stamp: () => stamp,
        changes: (mark) => (isAway ? Promise.reject(new LedgerUnavailable('away')) : ledger.keys.changes(mark)),
      },
    }
    const failingHost = fakeKeyHost(undefined, failing)
    keys = (await serviceKeys(failingHost).start(failingHost)) ?? {}
    isAway = true
    expect(await recognised(bearer(key))).toMatchObject({ name: 'key:indexer' })
    stamp = 1
    expect(await recognised(bearer(key))).toBe('503 store_unavailable')
    isAway = false
    expect(await recognised(bearer(key))).toMatchObject({ name: 'key:indexer' })
  })

  test('ends the start', async () => {
    const away = { ...fakeKeyHost(), ledger: () => Promise.reject(new LedgerUnavailable('away')) }
    await expect(serviceKeys(away).start(away)).rejects.toThrow('away')
  })
})

test.each([
  [{ trusted_proxies: ['home'] }, 'trusted_proxies'],
  [{ trusted_proxies: 7 }, 'trusted_proxies'],
  [{ trusted_proxy: '10.0.0.0/8' }, 'trusted_proxy'],
])('the settings %j are refused', async (values, field) => {
  await expect(start({ values, unset: new Map() })).rejects.toThrow(expect.objectContaining({ field }))
})
