import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WireError } from '../../formats/error.ts'
import type { PresetChange } from '../../http/page/page-api.ts'
import { LedgerUnavailable, type NewEntry } from '../../ledger/ledger.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { presetFile, type PresetFile } from './preset-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-preset-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

const unrecorded = { log: { info: () => undefined }, record: () => undefined, now: () => 5 }

function opened(content?: string): { readonly file: PresetFile; readonly path: string } {
  const path = join(folder, crypto.randomUUID(), 'presets.json')
  mkdirSync(join(path, '..'))
  if (content !== undefined) writeFileSync(path, content)
  return { file: presetFile({ ...unrecorded, file: path }), path }
}

/** The presets after a change to the current version; or status and code of the error. */
async function outcome(file: PresetFile, change: Partial<PresetChange>): Promise<unknown> {
  try {
    const { version = 'none' } = await file.state()
    return (await file.change({ version, name: 'a', preset: {}, ...change }, 'ann')).presets
  } catch (error) {
    if (error instanceof WireError) return [error.status, error.code, error.param]
    throw error
  }
}

describe('presets.json on the page', () => {
  test('is recorded with fingerprints before it is written, else not changed', async () => {
    const { path } = opened()
    const entries: NewEntry[] = []
    const file = presetFile({
      ...unrecorded,
      file: path,
      record: () => async (entry) => {
        if (entries.length > 0) throw new LedgerUnavailable('the disk is full')
        expect(existsSync(path)).toBe(false)
        entries.push(entry)
        return { seq: 1, chain: 'abc' }
      },
    })
    expect(await outcome(file, { name: 'brief' })).toEqual([{ name: 'brief' }])
    const text = readFileSync(path, 'utf8')
    expect(entries).toEqual([
      {
        ...{ time: 5, actor: 'ann', via: 'page', action: 'file.changed', object: 'presets.json' },
        before: { fingerprint: 'missing' },
        after: { fingerprint: fingerprint(text) },
      },
    ])
    expect(await outcome(file, { name: 'more' })).toEqual([503, 'store_unavailable', null])
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('is made by the first preset, and keeps comments', async () => {
    const { file, path } = opened()
    expect(await file.state()).toEqual({ presets: [], file: path, version: 'missing' })
    expect(await outcome(file, { name: 'brief', preset: { system: 'Be brief.' } })).toEqual([
      { name: 'brief', system: 'Be brief.' },
    ])
    writeFileSync(path, `// Ours\n${readFileSync(path, 'utf8')}`)
    expect(await outcome(file, { name: 'long', preset: { prompt: 'Tell {{all}}' } })).toEqual([
      { name: 'brief', system: 'Be brief.' },
      { name: 'long', prompt: 'Tell {{all}}' },
    ])
    expect(await outcome(file, { name: 'longer', before: 'long', preset: { prompt: 'More' } })).toEqual([
      { name: 'brief', system: 'Be brief.' },
      { name: 'longer', prompt: 'More' },
    ])
    expect(await outcome(file, { name: 'longer', before: 'longer', preset: { prompt: 'Most' } })).toMatchObject([
      { name: 'brief' },
      { name: 'longer', prompt: 'Most' },
    ])
    expect(await outcome(file, { name: 'brief', preset: null })).toEqual([{ name: 'longer', prompt: 'Most' }])
    expect(readFileSync(path, 'utf8')).toStartWith('// Ours\n')
  })

  test.each<readonly [string, Partial<PresetChange>, readonly unknown[]]>([
    ['an invalid name', { name: 'two words' }, [400, 'invalid_value', 'preset']],
    ['an invalid preset', { preset: { system: 5 } }, [400, 'invalid_value', 'preset']],
    ['an unknown member', { preset: { api_key: 'x' } }, [400, 'invalid_value', 'preset']],
    ['a name that is there', { name: 'known' }, [400, 'invalid_value', 'name']],
    ['a name that is not there', { name: 'gone', preset: null }, [404, 'not_found', 'name']],
    ['a change of a name that is not there', { before: 'gone' }, [404, 'not_found', 'name']],
    ['another version', { version: 'old' }, [409, 'conflict', null]],
  ])('refuses %s, and leaves the file as it is', async (_, change, expected) => {
    const text = '{"presets":{"known":{}}}'
    const { file, path } = opened(text)
    expect(await outcome(file, change)).toEqual(expected)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('of a faulty text are those before, with the fault, and nothing is written', async () => {
    const { file, path } = opened('{"presets":{"known":{}}}')
    await file.state()
    writeFileSync(path, '{"presets":{"known":5}}')
    const state = await file.state()
    expect(state).toEqual({ presets: [{ name: 'known' }], file: path, fault: expect.stringContaining('presets.known') })
    expect(await outcome(file, { version: fingerprint('{"presets":{"known":5}}') })).toEqual([409, 'faulty_file', null])
    expect(readFileSync(path, 'utf8')).toBe('{"presets":{"known":5}}')
  })

  test('cannot grow beyond the size that is read', async () => {
    const { file } = opened()
    for (let index = 0; index < 17; index++) {
      const preset = { system: 'x'.repeat(32_000), prompt: 'x'.repeat(32_000) }
      const after = await outcome(file, { name: `p${index}`, preset })
      if (Array.isArray(after) && after[0] === 400) return expect(index).toBe(16)
    }
    return expect.unreachable('17 presets of 64 KB fit into 1 MiB')
  })

  test('is not written where it is read-only, or without a home folder', async () => {
    const { file, path } = opened('{"presets":{}}')
    chmodSync(path, 0o444)
    expect(await outcome(file, {})).toEqual([409, 'not_writable', null])
    const homeless = presetFile({ ...unrecorded, file: undefined })
    expect(await homeless.state()).toEqual({ presets: [] })
    expect(await outcome(homeless, {})).toEqual([409, 'no_folder', null])
  })
})
