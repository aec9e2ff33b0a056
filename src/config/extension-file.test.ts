import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { ConfigError } from './config.ts'
import { exposureOf, readExtensionFile } from './extension-file.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-extension-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(text: string | Uint8Array, environment: Readonly<Record<string, string>> = {}) {
  const path = join(folder, 'config.json')
  await Bun.write(path, text)
  return readExtensionFile(path, environment)
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
    expect(await readExtensionFile(join(folder, 'none', 'config.json'), {})).toBeUndefined()
  })

  test('is JSON with comments and trailing commas', async () => {
    expect((await read('{ // who\n "a": 1, "b": [true, null, {"c": "d",},], }'))?.values).toEqual({
      a: 1,
      b: [true, null, { c: 'd' }],
    })
  })

  test('has its variables resolved, however deep they stand', async () => {
    const file = await read('{"a":"$A","b":["$A","x"],"c":{"d":"$A"}}', { A: 'one' })
    expect(file?.values).toEqual({ a: 'one', b: ['one', 'x'], c: { d: 'one' } })
    expect(file?.unset.size).toBe(0)
  })

  test('is without the members whose variable is not set or empty, and says so', async () => {
    const file = await read('{"a":"$NOT_SET","b":"$EMPTY","c":["$NOT_SET","x"],"d":"kept"}', { EMPTY: ' ' })
    expect(file?.values).toEqual({ c: ['x'], d: 'kept' })
    expect([...(file?.unset ?? [])]).toEqual([
      ['a', 'NOT_SET'],
      ['b', 'EMPTY'],
      ['c', 'NOT_SET'],
    ])
  })

  test('does not resolve what a variable holds', async () => {
    expect((await read('{"a":"$A"}', { A: '$B', B: 'two' }))?.values).toEqual({ a: '$B' })
  })

  test.each([
    ['', 'no value'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['{"a":1', 'the end of the file'],
    ['{"a":1,"a":2}', 'the same field again'],
    ['{"__proto__":{"isAdmin":true}}', '__proto__'],
    ['{"a":{"__proto__":1}}', '__proto__'],
    ['{"a":1e999}', 'a number that would not be sent'],
    [`${'['.repeat(100)}`, 'more than 64 levels'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 'UTF-8'],
    [`{"a":"${'x'.repeat(1024 * 1024)}"}`, 'at most 1048576'],
  ])('that is %p is a fault', async (text, expected) => {
    expect(await faultOf(read(text))).toContain(expected)
  })

  test('that is a folder is a fault', async () => {
    const path = join(folder, 'folder.json')
    await mkdir(path)
    expect(await faultOf(readExtensionFile(path, {}))).toContain('a folder')
  })

  test('that is a link to nowhere is a fault, not no file', async () => {
    const path = join(folder, 'link.json')
    await symlink(join(folder, 'not-mounted-yet'), path)
    expect(await faultOf(readExtensionFile(path, {}))).toContain('a link that leads nowhere')
  })

  test('does not show what begins like a variable and is none: it may be a secret', async () => {
    const fault = await faultOf(read('{\n  "client_secret": "$ecret!word"\n}'))
    expect(fault).toBe(
      '/config.json:2:20: client_secret: found a text (not shown), allowed: "$NAME" of an environment variable, or a text that does not begin with "$"',
    )
  })

  test.each([
    ['b', '/config.json:3:8: b: found 5, allowed: a text'],
    ['c.d', '/config.json:4:14: c.d: found 5, allowed: a text'],
    ['c.other', '/config.json:4:8: c.other: found 5, allowed: a text'],
    ['missing', '/config.json:1:1: missing: found 5, allowed: a text'],
  ])('knows where its member %s stands', async (field, expected) => {
    const file = await read('{\n  "a": 1,\n  "b": 5,\n  "c": {"d": 5}\n}')
    expect(file?.fault(field, '5', 'a text').message.replaceAll(folder, '')).toBe(expected)
  })

  test('whatever it holds, it is read or refused with a place', async () => {
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
  test.each([
    [0o600, undefined],
    [0o400, undefined],
    [0o640, 'others can read it'],
    [0o644, 'others can read it'],
    [0o620, 'others can write to it'],
    [0o666, 'others can write to it'],
  ])('with mode %o is %p', async (mode, expected) => {
    const path = join(folder, `mode-${mode}`)
    await Bun.write(path, '{}')
    await chmod(path, mode)
    expect(await exposureOf(path)).toBe(expected)
  })
})
