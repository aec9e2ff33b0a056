import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { ConfigError } from '../config.ts'
import { exposureOf, parseExtensionFile, type ExtensionFile } from './extension-file.ts'
import { readConfigText } from './read-text.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-extension-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function readFile(file: string, environment = {}): Promise<ExtensionFile | undefined> {
  return parseExtensionFile(await readConfigText(file), { file, environment })
}

async function read(text: string | Uint8Array, environment: Readonly<Record<string, string>> = {}) {
  const path = join(folder, 'config.json')
  await Bun.write(path, text)
  return readFile(path, environment)
}

async function faultOf(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConfigError) return error.message.replaceAll(folder, '')
  throw new Error(`no ConfigError: ${String(error)}`)
}

describe('an extension’s file', () => {
  test('may be missing', async () => {
    expect(await readFile(join(folder, 'none', 'config.json'))).toBeUndefined()
  })

  test('is JSON with comments and trailing commas', async () => {
    expect((await read('{ // who\n "a": 1, "b": [true, null, {"c": "d",},], }'))?.values).toEqual({
      a: 1,
      b: [true, null, { c: 'd' }],
    })
  })

  test('has its variables resolved at any depth', async () => {
    const file = await read('{"a":"$A","b":["$A","x"],"c":{"d":"$A"}}', { A: 'one' })
    expect(file?.values).toEqual({ a: 'one', b: ['one', 'x'], c: { d: 'one' } })
    expect(file?.unset.size).toBe(0)
  })

  test('omits and reports members whose variable is unset or empty', async () => {
    const file = await read('{"a":"$NOT_SET","b":"$EMPTY","c":["$NOT_SET","x"],"d":"kept"}', { EMPTY: ' ' })
    expect(file?.values).toEqual({ c: ['x'], d: 'kept' })
    expect([...(file?.unset ?? [])]).toEqual([
      ['a', 'NOT_SET'],
      ['b', 'EMPTY'],
      ['c', 'NOT_SET'],
    ])
  })

  test("does not resolve variables in a variable's value", async () => {
    expect((await read('{"a":"$A"}', { A: '$B', B: 'two' }))?.values).toEqual({ a: '$B' })
  })

  test.each([
    ['', 'no value'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['{"a":1', 'the end of the file'],
    ['{"a":1,"a":2}', 'a duplicate field'],
    ['{"__proto__":{"isAdmin":true}}', '__proto__'],
    ['{"a":{"__proto__":1}}', '__proto__'],
    ['{"a":1e999}', 'a number that cannot be sent exactly'],
    ['['.repeat(100), 'more than 64 levels'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 'UTF-8'],
    [`{"a":"${'x'.repeat(1024 * 1024)}"}`, 'at most 1048576'],
  ])('that is %p is a fault', async (text, expected) => {
    expect(await faultOf(read(text))).toContain(expected)
  })

  test('that is a folder is a fault', async () => {
    const path = join(folder, 'folder.json')
    await mkdir(path)
    expect(await faultOf(readFile(path))).toContain('a folder')
  })

  test('that is a dangling link is a fault, not a missing file', async () => {
    const path = join(folder, 'link.json')
    await symlink(join(folder, 'not-mounted-yet'), path)
    expect(await faultOf(readFile(path))).toContain('a dangling symbolic link')
  })

  test('does not show texts that begin with $ but name no variable', async () => {
    const fault = await faultOf(read('{\n  "client_secret": "$ecret!word"\n}'))
    expect(fault).toBe(
      '/config.json:2:20: client_secret: found a string (not shown), ' +
        'allowed: "$NAME" of an environment variable, or a string that does not begin with "$"',
    )
  })

  test.each([
    ['b', '/config.json:3:8: b: found 5, allowed: a text'],
    ['c.d', '/config.json:4:14: c.d: found 5, allowed: a text'],
    ['c.other', '/config.json:4:8: c.other: found 5, allowed: a text'],
    ['missing', '/config.json:1:1: missing: found 5, allowed: a text'],
  ])('locates its member %s', async (field, expected) => {
    const file = await read('{\n  "a": 1,\n  "b": 5,\n  "c": {"d": 5}\n}')
    expect(file?.fault(field, '5', 'a text').message.replaceAll(folder, '')).toBe(expected)
  })

  test('with any content is parsed, or rejected with a location', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string(), fc.uint8Array({ maxLength: 200 })), async (text) => {
        const outcome = await read(text).catch((error: unknown) => error)
        expect(
          outcome instanceof ConfigError || (typeof outcome === 'object' && outcome !== null && 'values' in outcome),
        ).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe.skipIf(process.platform === 'win32')('the exposure of a file', () => {
  async function exposureWith(mode: number): Promise<string | undefined> {
    const path = join(folder, `mode-${mode}`)
    await Bun.write(path, '{}')
    await chmod(path, mode)
    return await exposureOf(path)
  }

  test.each([
    [0o600, undefined],
    [0o400, undefined],
    [0o640, 'others can read it'],
    [0o644, 'others can read it'],
    [0o620, 'others can write to it'],
    [0o666, 'others can write to it'],
  ])('with mode %o is %p', async (mode, expected) => {
    expect(await exposureWith(mode)).toBe(expected)
  })

  test.skipIf(process.getuid?.() !== 0).each([
    [0o440, undefined],
    [0o444, 'others can read it'],
    [0o460, 'others can write to it'],
  ])('of root, read by its group with mode %o, is %p', async (mode, expected) => {
    const user = spyOn(process, 'getuid').mockReturnValue(10_001)
    expect(await exposureWith(mode)).toBe(expected)
    user.mockRestore()
  })
})
