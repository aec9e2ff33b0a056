import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../base/start-errors.ts'
import { ledgerPlace } from './ledger-place.ts'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-place-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const placeOf = (environment: Readonly<Record<string, string>>) => ledgerPlace({ SVC_HOME: home, ...environment })
const server = () =>
  ({ kind: 'server', url: 'postgres://svc@db/svc?sslmode=disable', cachePath: join(home, 'keys.cache') }) as const

describe('the ledger', () => {
  test('is svc.db without the variable, also if it is empty', () => {
    for (const environment of [{}, { SVC_DATABASE: '' }])
      expect(placeOf(environment)).toEqual({ kind: 'file', path: join(home, 'svc.db') })
  })

  test('is at the URL, or at the URL in a file', () => {
    expect(placeOf({ SVC_DATABASE: server().url })).toEqual({ ...server(), keysGraceMs: 600_000 })
    const file = join(home, 'url')
    writeFileSync(file, `${server().url}\n`)
    expect(placeOf({ SVC_DATABASE: file, SVC_KEYS_GRACE_MS: '5000' })).toEqual({ ...server(), keysGraceMs: 5_000 })
  })

  test.each([
    [{ SVC_DATABASE: 'postgres://svc:secret-word@db' }, 'SVC_DATABASE: no name of a database'],
    [{ SVC_DATABASE: '/nowhere/url' }, 'SVC_DATABASE: the file /nowhere/url cannot be read (ENOENT)'],
    [{ SVC_DATABASE: '/etc/hostname' }, 'SVC_DATABASE (/etc/hostname): not a URL'],
    [{ SVC_DATABASE: 'postgres://svc@db/svc', SVC_KEYS_GRACE_MS: '999' }, 'SVC_KEYS_GRACE_MS must be'],
  ])('%j is refused', (environment, words) => {
    expect(() => placeOf(environment)).toThrow(UsageError)
    expect(() => placeOf(environment)).toThrow(words)
    expect(() => placeOf(environment)).not.toThrow('secret-word')
  })
})
