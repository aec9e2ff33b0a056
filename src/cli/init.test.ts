import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../config/file/parse-config.ts'
import { initCommandWith } from './init.ts'
import { runCommand } from './testing.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-init-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const nothingLocal = initCommandWith(async () => undefined)

describe('svc init', () => {
  test('writes the detected providers and prints the next step', async () => {
    const file = join(home, 'providers.json')
    const environment = { SVC_HOME: home, GROQ_API_KEY: 'key-for-tests' }
    const { code, out } = await runCommand(nothingLocal, [], { environment })
    expect({ code, out }).toEqual({ code: 0, out: `${file} was written: groq\nNext: svc check\n` })
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('key-for-tests')
    expect(parseConfig(text, { file, environment }).providers).toMatchObject([{ id: 'groq', apiKey: 'key-for-tests' }])
  })

  test('reports that nothing was found', async () => {
    const { code, out } = await runCommand(nothingLocal, [], { environment: { SVC_HOME: home } })
    expect(code).toBe(0)
    expect(out).toContain('No provider was found, so the echo answers.')
  })

  test('does not replace an existing file, unless forced', async () => {
    const file = join(home, 'mine.json')
    writeFileSync(file, 'mine')
    const kept = await runCommand(nothingLocal, ['--config', file], { environment: { SVC_HOME: home } })
    expect(kept).toEqual({
      code: 1,
      out: '',
      err: `svc: ${file} already exists; --force replaces it\n`,
    })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(
      (await runCommand(nothingLocal, ['--config', file, '--force'], { environment: { SVC_HOME: home } })).code,
    ).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('"providers"')
    expect(existsSync(join(home, 'providers.json'))).toBe(false)
  })
})
