import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backUp } from './back-up.ts'
import type { Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { openDatabase } from './open-database.ts'
import { openLedger } from './open-ledger.ts'
import { storableKey, temporaryFolder, verifiedChain } from './testing.ts'

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

async function makeKeys(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await ledger.keys.add(storableKey())
}

test('the audit begins in a database of the version before, whose keys stay', async () => {
  await ledger.close()
  const path = join(place.folder, 'old.db')
  const old = await openDatabase({ path, migrations: migrations.slice(0, 3), lockMs: 60 })
  old.run(`INSERT INTO key (line, hash, hint, name, kind, made, made_by, grants, version)
             VALUES (1, x'00', 'h', 'n', 'program', 1, 'ann', '{"scopes":[]}', 1)`)
  old.close()
  ledger = await openLedger({ path })
  expect(await ledger.keys.list(0, 9)).toMatchObject([{ id: 1 }])
  expect(await verifiedChain(ledger.audit)).toEqual({ entries: 0, faults: [] })
  await ledger.keys.end(1, { at: 5, by: 'ann' })
  expect(await verifiedChain(ledger.audit)).toMatchObject({ entries: 1, newest: { seq: 1 }, faults: [] })
})

describe('a backup', () => {
  test('is the whole database, while others write, for its owner alone', async () => {
    await makeKeys(3)
    const copy = join(place.folder, 'copy.db')
    await backUp(place.path, copy)
    await makeKeys(1)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const restored = await openLedger({ path: copy })
    expect(await restored.keys.list(0, 9)).toHaveLength(3)
    expect(await verifiedChain(restored.audit)).toMatchObject({ entries: 3, faults: [] })
    await restored.close()
  })

  test('never replaces a file, and leaves nothing when it fails', async () => {
    const copy = join(place.folder, 'copy.db')
    writeFileSync(copy, 'mine')
    await expect(backUp(place.path, copy)).rejects.toThrow(`${copy} exists`)
    expect(readFileSync(copy, 'utf8')).toBe('mine')
    const nowhere = join(place.folder, 'no', 'copy.db')
    await expect(backUp(place.path, nowhere)).rejects.toThrow(`${nowhere} cannot be written (ENOENT)`)
    const damaged = join(place.folder, 'damaged.db')
    writeFileSync(damaged, 'text'.repeat(999))
    await expect(backUp(damaged, join(place.folder, 'other.db'))).rejects.toThrow(`${damaged} is damaged`)
    expect(Array.from(new Bun.Glob('{copy,other}*').scanSync(place.folder))).toEqual(['copy.db'])
  })
})
