import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable, type NewEntry } from '../../ledger/ledger.ts'
import { parseAccess } from '../file/parse-access.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { accessEditor, type AccessEditorOptions } from './access-editor.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-access-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

const text = '{ "time_zone": "Europe/Berlin" } // ours\r\n'
const missing = fingerprint(undefined)

function opened(content?: string, more: Partial<AccessEditorOptions> = {}) {
  const path = join(folder, crypto.randomUUID(), 'access.json')
  mkdirSync(join(path, '..'))
  if (content !== undefined) writeFileSync(path, content)
  const entries: NewEntry[] = []
  const lines: unknown[] = []
  let reloads = 0
  let isActive = true
  const file = accessEditor({
    file: path,
    access: () => ({
      check: async (checked) => parseAccess(checked, path),
      reload: async () => (reloads++, isActive),
    }),
    record: () => async (entry) => (entries.push(entry), { seq: 7, chain: 'abc' }),
    now: () => 5,
    log: { info: (...line) => void lines.push(line) },
    ...more,
  })
  return { file, path, entries, lines, reloads: () => reloads, isActive: (is: boolean) => void (isActive = is) }
}

/** Status, code and message of the error. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((thrown: unknown) => thrown)
  return error instanceof WireError ? [error.status, error.code, error.message] : error
}

describe('access.json on the page', () => {
  test('is read as it is, also with faults, or as missing', async () => {
    for (const content of [text, '{ "limit": ['])
      expect(await opened(content).file.read()).toMatchObject({ version: fingerprint(content), text: content })
    const { file, path } = opened()
    expect(await file.read()).toEqual({ file: path, version: missing })
  })

  test('is checked as a reload checks it, with positions, and nothing is written', async () => {
    const { file, path } = opened()
    expect(await file.check(text)).toEqual({ faults: [] })
    const { faults } = await file.check('{\n  "limits": [{ "for": "everyone", "usd": "5" }],\n  "zone": 1,\n}')
    expect(faults).toEqual([
      { line: 2, column: 42, message: expect.stringMatching(/^limits\[0\]\.usd: found "5", allowed: a number/) },
      { line: 2, column: 42, message: expect.stringMatching(/^limits\[0\]\.usd: found "5", allowed: "per" beside it/) },
      { line: 3, column: 3, message: expect.stringMatching(/^zone: found an unknown field, allowed: \$schema/) },
    ])
    expect(await file.check('['.repeat(500_000))).toMatchObject({
      faults: [{ line: 1, message: expect.stringContaining('64 levels') }],
    })
    expect(await file.check(`"${'x'.repeat(1024 * 1024)}"`)).toEqual({
      faults: [{ message: 'found 1048578 bytes, allowed: at most 1048576' }],
    })
    expect(existsSync(path)).toBe(false)
  })

  test('is drafted with a limit, and nothing is written', async () => {
    const { file, path } = opened('{ "limits": [\n  { "for": "everyone", "usd": 9, "per": "month" }, // ours\n] }')
    const limit = { for: 'each person', usd: 5, per: 'day' }
    const added = await file.draft({ limit }, undefined)
    expect(added.text).toBe(
      '{ "limits": [\n  { "for": "everyone", "usd": 9, "per": "month" }, // ours\n' +
        '  { "for": "each person", "usd": 5, "per": "day" },\n] }',
    )
    expect(added.policy?.limits).toHaveLength(2)
    expect(await file.draft({ place: 0 }, added.base.version)).toMatchObject({
      entry: { for: 'everyone', usd: 9, per: 'month' },
      faults: [],
    })
    const { faults, policy } = await file.draft(
      { place: 0, limit: { for: 'everyone', usd: -1, per: 'month' } },
      undefined,
    )
    expect([faults, policy]).toEqual([
      [{ line: 2, column: 31, message: expect.stringMatching(/^limits\[0\]\.usd: found -1/) }],
      undefined,
    ])
    expect(readFileSync(path, 'utf8')).toBe(added.base.text ?? '')
  })

  test('is drafted only of the version that was read, of a limit that is there, and without faults', async () => {
    const { file } = opened(text)
    const refused = (work: Promise<unknown>) => errorOf(work).then((error) => Array.isArray(error) && error.slice(0, 2))
    expect(await refused(file.draft({ limit: { for: 'everyone', at_once: 1 } }, 'other'))).toEqual([409, 'conflict'])
    expect(await refused(file.draft({ place: 0, limit: null }, undefined))).toEqual([404, 'not_found'])
    expect(await refused(opened('{ "limit": [] }').file.draft({}, undefined))).toEqual([409, 'faulty_file'])
  })

  test('is recorded with fingerprints, replaced, and taken over by the reload', async () => {
    const { file, path, entries, lines, reloads } = opened(text)
    const next = text.replace('Berlin', 'Paris')
    expect(await file.change({ version: fingerprint(text), text: next }, 'ann')).toEqual({
      ...{ file: path, version: fingerprint(next), text: next },
    })
    expect(readFileSync(path, 'utf8')).toBe(next)
    expect(entries).toEqual([
      {
        ...{ time: 5, actor: 'ann', via: 'page', action: 'file.changed', object: 'access.json' },
        before: { fingerprint: fingerprint(text) },
        after: { fingerprint: fingerprint(next) },
      },
    ])
    expect(lines).toEqual([['access.json was changed on the page', { user: 'ann', audit: 7, chain: 'abc' }]])
    // The same text again changes nothing.
    await file.change({ version: fingerprint(next), text: next }, 'ann')
    expect([entries.length, reloads()]).toEqual([1, 2])
  })

  test('is not said to be saved while a process may use the file before, also when it is saved again', async () => {
    const { file, path, isActive } = opened(text)
    isActive(false)
    const refusal = [503, 'not_active', expect.stringMatching(/is written, but .* SIGHUP/)]
    expect(await errorOf(file.change({ version: fingerprint(text), text: '{}' }, undefined))).toEqual(refusal)
    expect(readFileSync(path, 'utf8')).toBe('{}')
    expect(await errorOf(file.change({ version: fingerprint('{}'), text: '{}' }, undefined))).toEqual(refusal)
    isActive(true)
    expect(await file.change({ version: fingerprint('{}'), text: '{}' }, undefined)).toMatchObject({ text: '{}' })
  })

  test('is made where there is none', async () => {
    const { file, path } = opened()
    expect(await file.change({ version: missing, text: '{}' }, undefined)).toMatchObject({ text: '{}' })
    expect(readFileSync(path, 'utf8')).toBe('{}')
  })

  test('stays as it is when it was changed meanwhile: of two savings of one version, one is a conflict', async () => {
    const { file, path, entries } = opened(text)
    const version = fingerprint(text)
    const saved = ['{}', '[]', '{ }'].map((next) => errorOf(file.change({ version, text: next }, undefined)))
    const conflict = [409, 'conflict', expect.stringContaining('access.json was changed in the meantime')]
    expect((await Promise.all(saved)).slice(1)).toEqual([conflict, conflict])
    expect([readFileSync(path, 'utf8'), entries.length]).toEqual(['{}', 1])
    rmSync(path)
    expect(await errorOf(file.change({ version: fingerprint('{}'), text }, undefined))).toEqual(conflict)
    expect(existsSync(path)).toBe(false)
  })

  test.each([
    [
      'faults',
      { text: '{ "limits": 1 }' },
      {},
      [400, 'invalid_value', expect.stringMatching(/left as it is: .*:1:13:/)],
    ],
    [
      'a change that cannot be recorded',
      {},
      { record: () => () => Promise.reject(new LedgerUnavailable('the disk is full')) },
      [503, 'store_unavailable', expect.stringContaining('cannot be recorded')],
    ],
    ['no home folder', {}, { file: undefined }, [409, 'no_folder', expect.stringContaining('set SVC_HOME')]],
  ])('is not written with %s', async (_, change, more, expected) => {
    const { file, path, reloads } = opened(text, more)
    expect(await errorOf(file.change({ version: fingerprint(text), text: '{}', ...change }, 'ann'))).toEqual(expected)
    expect([readFileSync(path, 'utf8'), reloads()]).toEqual([text, 0])
  })
})
