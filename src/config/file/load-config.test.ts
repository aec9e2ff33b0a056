import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HomeError } from '../../base/user-home.ts'
import { ConfigError } from '../config.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { loadConfig, type LoadOptions } from './load-config.ts'
import { configBytesMax } from './parse-config.ts'
import { readConfigText } from './read-text.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-load-'))
})
afterAll(() => rm(folder, { recursive: true }))

const nobodyAnswers = async (): Promise<undefined> => undefined

async function faultOf(options: LoadOptions): Promise<unknown> {
  try {
    await loadConfig(options)
  } catch (error) {
    return error instanceof ConfigError ? error.faults[0] : error
  }
  return undefined
}

async function writeFile(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name)
  await Bun.write(path, content)
  return path
}

describe('loadConfig', () => {
  test('reads providers.json in the home folder', async () => {
    await writeFile('providers.json', '{"providers":[{"id":"ollama"}]}')
    const config = await loadConfig({ environment: { SVC_HOME: folder } })
    expect(config.providers[0]?.id).toBe('ollama')
    const path = join(folder, 'providers.json')
    expect(config.source).toEqual({ kind: 'file', path, fingerprint: fingerprint(await Bun.file(path).bytes()) })
  })

  test('detects providers without a file', async () => {
    const environment = { SVC_HOME: join(folder, 'nothing-here'), GROQ_API_KEY: 'key-for-tests' }
    const config = await loadConfig({ environment, probe: nobodyAnswers })
    expect([config.source.kind, config.providers.map(({ id }) => id)]).toEqual(['detected', ['groq']])
  })

  test('requires a named file to exist', async () => {
    expect(await faultOf({ file: join(folder, 'typo.json'), environment: {} })).toMatchObject({
      field: '',
      found: 'nothing',
    })
  })

  test('requires a home folder when no file is named', async () => {
    expect(await faultOf({ environment: {} })).toBeInstanceOf(HomeError)
  })

  test('refuses a folder', async () => {
    await mkdir(join(folder, 'folder.json'))
    expect(await faultOf({ file: join(folder, 'folder.json'), environment: {} })).toMatchObject({ found: 'a folder' })
  })

  test('refuses bytes that are not UTF-8', async () => {
    const file = await writeFile('latin.json', new Uint8Array([0x7b, 0x22, 0xe4, 0x22, 0x7d]))
    expect(await faultOf({ file, environment: {} })).toMatchObject({ found: 'bytes that are not UTF-8' })
  })

  test('refuses a file above 1 MiB', async () => {
    const file = await writeFile('large.json', ' '.repeat(configBytesMax + 1))
    expect(await faultOf({ file, environment: {} })).toMatchObject({ found: `${configBytesMax + 1} bytes` })
  })

  test.skipIf(process.getuid?.() === 0)('refuses a file that it may not read', async () => {
    const file = await writeFile('closed.json', '{}')
    await chmod(file, 0)
    expect(await faultOf({ file, environment: {} })).toMatchObject({ found: 'a file without read permission' })
  })

  test.each([
    [0o644, '"key-for-tests"', 1],
    [0o600, '"key-for-tests"', 0],
    [0o644, '"$A_KEY"', 0],
  ])('warns when every user can read a key: mode %o, key %s', async (mode, key, count) => {
    const file = await writeFile(
      `mode-${mode}.json`,
      `{"providers":[{"id":"a","base_url":"https://a.test","api_key":${key}}]}`,
    )
    await chmod(file, mode)
    const warnings: string[] = []
    await loadConfig({ file, environment: {}, warn: (message) => warnings.push(message) })
    expect(warnings).toHaveLength(count)
    expect(warnings.join()).not.toContain('key-for-tests')
  })
})

describe('a path through a symbolic link', () => {
  let place = ''
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'svc-link-'))
  })
  afterEach(() => rm(place, { recursive: true }))
  const at = (...names: readonly string[]): string => join(place, ...names)
  const found = (path: string): Promise<string> =>
    readConfigText(path).then(
      (text) => text ?? 'no file',
      (error: unknown) => String(error),
    )

  test.each([
    ['the file', [], 'found a dangling symbolic link, allowed'],
    ['its folder', ['access.json'], 'found a dangling symbolic link at'],
    ['a folder above', ['deep', 'access.json'], 'found a dangling symbolic link at'],
  ])('that dangles is a fault, not a missing file: %s', async (_name, below, fault) => {
    await symlink(at('not-mounted'), at('link'))
    expect(await found(at('link', ...below))).toContain(fault)
  })

  test.each([
    ['the file', []],
    ['its folder', ['access.json']],
  ])('that loops is a fault: %s', async (_name, below) => {
    await symlink(at('b'), at('a'))
    await symlink(at('a'), at('b'))
    expect(await found(at('a', ...below))).toContain('a loop of symbolic links')
  })

  test('to a folder without the file is no fault: there is no file', async () => {
    await mkdir(at('home'))
    await symlink(at('home'), at('link'))
    expect(await found(at('link', 'access.json'))).toBe('no file')
    expect(await found(at('link', 'no', 'such', 'access.json'))).toBe('no file')
    await Bun.write(at('home', 'access.json'), '{}')
    expect(await found(at('link', 'access.json'))).toBe('{}')
  })
})
