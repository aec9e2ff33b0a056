import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, chown, lstat, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fingerprint } from '../watch/fingerprint.ts'
import { ConfigChangedError, ReadOnlyConfigError, writeConfig } from './write-config.ts'

const folders: string[] = []
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-write-'))
  folders.push(folder)
})
afterAll(() => Promise.all(folders.map((path) => rm(path, { recursive: true }))))

describe('writeConfig', () => {
  test('creates the file and its folders for the owner only', async () => {
    const path = join(folder, 'deep', 'er', 'providers.json')
    expect(await writeConfig(path, 'text')).toBe(fingerprint('text'))
    expect(await readFile(path, 'utf8')).toBe('text')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'deep'))).mode & 0o777).toBe(0o700)
  })

  test('replaces the file and leaves no other files', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'old')
    const before = await stat(path)
    await writeConfig(path, 'new', fingerprint('old'))
    expect(await readFile(path, 'utf8')).toBe('new')
    expect((await stat(path)).ino).not.toBe(before.ino)
    expect(await readdir(folder)).toEqual(['providers.json'])
  })

  test('refuses when the file has changed', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'theirs')
    await expect(writeConfig(path, 'mine', fingerprint('old'))).rejects.toBeInstanceOf(ConfigChangedError)
    expect(await readFile(path, 'utf8')).toBe('theirs')
    expect(await readdir(folder)).toEqual(['providers.json'])
  })

  test('refuses when the file was created meanwhile', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'theirs')
    await expect(writeConfig(path, 'mine', fingerprint(undefined))).rejects.toBeInstanceOf(ConfigChangedError)
  })

  test('does not change a read-only file, even for root', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'old')
    await chmod(path, 0o444)
    await expect(writeConfig(path, 'new', fingerprint('old'))).rejects.toBeInstanceOf(ReadOnlyConfigError)
    expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual(['old', ['providers.json']])
  })

  test.if(process.getuid?.() === 0)('keeps the owner of the file when root changes it', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'old')
    await chown(path, 12_345, 54_321)
    await writeConfig(path, 'new', fingerprint('old'))
    const { uid, gid, mode } = await stat(path)
    expect([uid, gid, mode & 0o777]).toEqual([12_345, 54_321, 0o600])
  })

  test('accepts only one of several concurrent writes', async () => {
    const path = join(folder, 'providers.json')
    await Bun.write(path, 'old')
    const results = await Promise.allSettled(['a', 'b', 'c'].map((text) => writeConfig(path, text, fingerprint('old'))))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })

  test.each([true, false])('writes through a symbolic link (its target is there: %p)', async (isThere) => {
    const link = join(folder, 'providers.json')
    const target = join(folder, 'real.json')
    if (isThere) await Bun.write(target, 'old')
    await symlink('real.json', link)
    await writeConfig(link, 'new')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect(await readFile(target, 'utf8')).toBe('new')
  })
})
