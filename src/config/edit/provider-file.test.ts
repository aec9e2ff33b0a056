import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WireError } from '../../formats/error.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { changeFile, fileVersion } from './provider-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-provider-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

const text = '{ "providers": [{ "id": "echo" }, { "id": "groq" }] } // mine\n'

function fileWith(content: string | Uint8Array, name = `${crypto.randomUUID()}.json`): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

/** Whether it was changed, or the status, code and message of the error. */
async function outcome(file: string, change: object = {}): Promise<unknown> {
  try {
    return await changeFile(
      // Object.assign keeps the type of a change.
      Object.assign({ version: fingerprint(text), id: 'groq', change: 'up' as const }, change),
      undefined,
      {
        ...{ record: () => undefined, now: () => 5, log: { info: () => undefined } },
        file,
        environment: {},
        program: 'svc',
        firstText: () => '{\n  "providers": [\n    { "id": "ollama" }\n  ]\n}\n',
      },
    )
  } catch (error) {
    return error instanceof WireError ? [error.status, error.code, error.message] : error
  }
}

describe('a change of the file', () => {
  test('is written, comments and all', async () => {
    const file = fileWith(text)
    expect(await outcome(file)).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('{ "providers": [{ "id": "groq" }, { "id": "echo" }] } // mine\n')
  })

  test('that changes nothing writes nothing', async () => {
    expect(await outcome(fileWith(text), { change: 'enable' })).toBe(false)
  })

  test('adds a provider, comments and all, with the variable of its key', async () => {
    const file = fileWith(text)
    const entry = { baseUrl: 'http://127.0.0.1:9/v1', keyVariable: 'SVC_KEY_LAB', models: ['m'] }
    expect(await outcome(file, { id: 'lab', change: 'add', entry })).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(
      text.replace(
        '{ "id": "groq" }',
        '{ "id": "groq" }, ' +
          '{ "id": "lab", "base_url": "http://127.0.0.1:9/v1", "api_key": "$SVC_KEY_LAB", "models": [ "m" ] }',
      ),
    )
    expect(await outcome(file, { version: fingerprint(readFileSync(file)), id: 'lab', change: 'remove' })).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('adds a provider at a place', async () => {
    const file = fileWith(text)
    const entry = { baseUrl: 'http://127.0.0.1:9/v1' }
    expect(await outcome(file, { id: 'lab', change: 'add', entry, to: 1 })).toBe(true)
    expect(readFileSync(file, 'utf8')).toMatch(/"echo" \}, .*"lab".*, .*"groq" \}/)
  })

  test.each([
    [{ input: 0, output: 0 }, '0'],
    [{ input: 0.5, output: 2 }, '{"input":0.5,"output":2}'],
  ])('sets the price of a provider: %j', async (price, written) => {
    const file = fileWith(text)
    expect(await outcome(file, { change: 'edit', edit: { price } })).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(text.replace('"groq"', `"groq", "price": ${written}`))
  })

  test('edits a provider: the rest of it stays, comments and all', async () => {
    const before = `{
  "providers": [
    {
      "id": "lab", // ours
      "base_url": "http://127.0.0.1:9/v1", // the cellar
      "api_key": "$SVC_KEY_LAB",
      "models": [
        "a", // fast
        { "name": "b", "upstream": "b-1", "price": { "input": 1, "output": 2 } }, // dear
        "c"
      ],
      "retries": 1
    }
  ]
}
`
    const file = fileWith(before)
    const edit = { baseUrl: 'http://127.0.0.1:8/v1', keyVariable: 'SVC_KEY_NEW', models: ['b-1', 'd'] }
    expect(await outcome(file, { version: fingerprint(before), id: 'lab', change: 'edit', edit })).toBe(true)
    const after = readFileSync(file, 'utf8')
    expect(after).toBe(
      before
        .replace(':9/', ':8/')
        .replace('KEY_LAB', 'KEY_NEW')
        .replace('        "a", // fast\n', '')
        .replace('}, // dear', '}, // dear')
        .replace('        "c"\n', '        "d"\n'),
    )
    const all = { keyVariable: null, models: null }
    expect(await outcome(file, { version: fingerprint(after), id: 'lab', change: 'edit', edit: all })).toBe(true)
    const least = readFileSync(file, 'utf8')
    expect(least).not.toMatch(/api_key|models/)
    expect(least).toContain('"retries": 1')
    expect(least).toContain('// the cellar')
    const again = { version: fingerprint(least), id: 'lab', change: 'edit', edit: all }
    expect(await outcome(file, again)).toBe(false)
    expect(await outcome(file, { ...again, version: fingerprint(before) })).toEqual([
      409,
      'conflict',
      expect.any(String),
    ])
    expect(await outcome(file, { ...again, id: 'none' })).toEqual([404, 'not_found', expect.any(String)])
    expect(await outcome(file, { ...again, edit: { baseUrl: 'ftp://x' } })).toEqual([
      409,
      'faulty_file',
      expect.any(String),
    ])
    expect(readFileSync(file, 'utf8')).toBe(least)
  })

  test.each([
    '"base_url": "http://a.test", "base_url": "http://b.test"',
    '"base_url": "http://a.test", "api_key": "$SVC_KEY_A", "api_key": "$SECRET"',
    '"base_url": "http://a.test", "id": "lab"',
  ])('edits no entry with a member twice: %s', async (members) => {
    const twice = `{ "providers": [{ "id": "lab", ${members} }] }`
    const file = fileWith(twice)
    const edit = { baseUrl: 'http://evil.test', keyVariable: 'SVC_KEY_A' }
    expect(await outcome(file, { version: fingerprint(twice), id: 'lab', change: 'edit', edit })).toEqual([
      409,
      'faulty_file',
      expect.any(String),
    ])
    expect(readFileSync(file, 'utf8')).toBe(twice)
  })

  test('adds no second provider with an id, and none that the file may not have', async () => {
    const file = fileWith(text)
    expect(await outcome(file, { change: 'add', entry: { brand: 'groq' } })).toEqual([
      400,
      'invalid_value',
      expect.any(String),
    ])
    const entry = { baseUrl: 'http://u:p@x.test' }
    expect(await outcome(file, { id: 'lab', change: 'add', entry })).toEqual([409, 'faulty_file', expect.any(String)])
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('writes the first file for a provider that is added, unless there is one by then', async () => {
    const file = join(folder, `${crypto.randomUUID()}.json`)
    const add = { version: 'missing', id: 'groq', change: 'add', entry: { brand: 'groq' } }
    expect(await outcome(file, { ...add, version: fingerprint('{}') })).toEqual([409, 'conflict', expect.any(String)])
    expect(await outcome(file, add)).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(
      '{\n  "providers": [\n    { "id": "ollama" },\n    { "id": "groq" }\n  ]\n}\n',
    )
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await outcome(file, { ...add, id: 'openai', entry: { brand: 'openai' } })).toEqual([
      409,
      'conflict',
      expect.any(String),
    ])
  })

  test('for another version is a conflict', async () => {
    const file = fileWith(text)
    expect(await outcome(file, { version: fingerprint('{}') })).toEqual([409, 'conflict', expect.any(String)])
    expect(await outcome(file, { version: fingerprint('{}'), change: 'enable' })).toEqual([
      409,
      'conflict',
      expect.any(String),
    ])
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('does not undo a change made after the file was read', async () => {
    const file = fileWith(text)
    const outcomes = await Promise.all([outcome(file), outcome(file, { id: 'echo', change: 'disable' })])
    expect(outcomes.map((each) => (each === true ? 'made' : Array.isArray(each) ? each[1] : each)).toSorted()).toEqual([
      'conflict',
      'made',
    ])
  })

  test('of an unknown provider is refused', async () => {
    expect(await outcome(fileWith(text), { id: 'unknown' })).toEqual([404, 'not_found', 'No provider has this id'])
  })

  test('without a file says how to create one', async () => {
    expect(await outcome(join(folder, 'none.json'), { version: fingerprint(undefined) })).toEqual([
      409,
      'no_file',
      expect.stringMatching(/none\.json, so there is nothing to change: 'svc init' writes one$/),
    ])
  })

  test('that cannot be written says why', async () => {
    // The name is too long for a draft beside the file, for every user.
    const file = fileWith(text, 'x'.repeat(240))
    expect(await outcome(file)).toEqual([
      409,
      'not_writable',
      expect.stringContaining('xxx cannot be written (ENAMETOOLONG)'),
    ])
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('of a faulty file lists at most five faults with their positions', async () => {
    const members = [1, 2, 3, 4, 5, 6, 7].map((number) => `"x${number}": "secret"`).join(', ')
    const faulty = `{ "providers": [{ "id": "echo" }, { "id": "groq", ${members} }] }`
    const file = fileWith(faulty)
    const found = await outcome(file, { version: fingerprint(faulty) })
    expect(found).toEqual([
      409,
      'faulty_file',
      expect.stringMatching(
        /providers\.json has faults, and was left as it is: .*providers\[1\]\.x1: .*providers\[1\]\.x5: .*; 2 more$/,
      ),
    ])
    expect(JSON.stringify(found)).not.toContain('secret')
    expect(readFileSync(file, 'utf8')).toBe(faulty)
  })

  test.each([
    ['a folder', () => folder],
    ['bytes that are no text', () => fileWith(new Uint8Array([0xff, 0xfe]))],
  ])('of %s is refused', async (_, make) => {
    expect(await outcome(make())).toEqual([409, 'faulty_file', expect.any(String)])
  })
})

describe('the version', () => {
  test('is the fingerprint of the text', async () => {
    expect(await fileVersion(fileWith(text))).toBe(fingerprint(text))
    expect(await fileVersion(fileWith(`\uFEFF${text}`))).toBe(fingerprint(`\uFEFF${text}`))
  })

  test('is none without a readable file', async () => {
    expect([await fileVersion(join(folder, 'none.json')), await fileVersion(folder)]).toEqual([undefined, undefined])
  })
})
