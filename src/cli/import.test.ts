import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importCommand } from './import.ts'
import { runCommand } from './testing.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-import-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const literal = 'made-up-value'
const config = `model_list:
  - {model_name: a, litellm_params: {model: groq/a, api_key: ${literal}}}
  - {model_name: b, litellm_params: {model: mistral/b}}
`

const opposite = `model_list:
  - {model_name: a, litellm_params: {model: groq/a}}
  - {model_name: b, litellm_params: {model: mistral/b}}
router_settings:
  fallbacks: [{a: [b]}, {b: [a]}]
`

async function run(argv: readonly string[], input?: string) {
  const result = await runCommand(importCommand, argv, {
    environment: { SVC_HOME: home, MISTRAL_API_KEY: 'set' },
    ...(input === undefined ? {} : { input }),
  })
  return { ...result, at: (name: string) => readFileSync(join(home, name), 'utf8') }
}

describe('svc import', () => {
  test('writes providers.json, and says what became of each value and which variables to set', async () => {
    writeFileSync(join(home, 'config.yaml'), config)
    const { code, out, err, at } = await run(['litellm', join(home, 'config.yaml')])
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(err).toContain('exact        model_list[0].litellm_params.model (line 2) → providers[0].models[0]\n')
    expect(err).toContain('svc: 4 exact, 1 approximate, 0 by hand, 0 not at all\nsvc: variables to set: GROQ_API_KEY\n')
    expect(err).toEndWith(`svc: written: ${join(home, 'providers.json')}\nsvc: Next: svc check\n`)
    expect(at('providers.json')).toContain('"api_key": "$GROQ_API_KEY"')
    expect(at('providers.json') + err).not.toContain(literal)
    expect(existsSync(join(home, 'keys.env'))).toBe(false)
    expect(statSync(join(home, 'providers.json')).mode & 0o777).toBe(0o600)
  })

  test('never replaces a file without --force', async () => {
    writeFileSync(join(home, 'providers.json'), 'mine')
    const refused = await run(['-'], config)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('already exists; --force replaces it') })
    expect(refused.at('providers.json')).toBe('mine')
    const report = join(home, 'providers.json')
    expect((await run(['-', '--output', '-', '--report', report], config)).code).toBe(1)
    expect(refused.at('providers.json')).toBe('mine')
    expect((await run(['-', '--force'], config)).code).toBe(0)
    expect(refused.at('providers.json')).not.toBe('mine')
  })

  test('writes keys into keys.env with --with-keys alone, and keeps its other lines', async () => {
    writeFileSync(join(home, 'keys.env'), 'OTHER=x\n')
    const { code, err, at } = await run(['-', '--with-keys'], config)
    expect(code).toBe(0)
    expect(at('keys.env')).toBe(`OTHER=x\nGROQ_API_KEY=${literal}\n`)
    expect(err).not.toContain('variables to set')
    expect(at('providers.json')).not.toContain(literal)
  })

  test('writes no line into keys.env that is no key', async () => {
    const lines = JSON.stringify({ providers: { openai: { keys: [{ value: 'x\nEVIL=1', models: ['m'] }] } } })
    expect((await run(['-', '--with-keys'], lines)).code).toBe(0)
    expect(existsSync(join(home, 'keys.env'))).toBe(false)
  })

  test('prints the file, or a report in JSON, and writes neither', async () => {
    const printed = await run(['-', '--output', '-'], config)
    expect(printed.out).toStartWith('// Made by svc import')
    const { out, at } = await run(['-', '--output', '-', '--json', '--report', join(home, 'report.json')], config)
    const report: unknown = JSON.parse(out)
    expect(report).toMatchObject({
      source: 'litellm',
      counts: { exact: 4, approximate: 1 },
      variables: ['GROQ_API_KEY'],
    })
    expect(JSON.parse(at('report.json'))).toEqual(report)
    expect(existsSync(join(home, 'providers.json'))).toBe(false)
  })

  test('writes limits of money beside it', async () => {
    const limited = `${config}litellm_settings: {max_budget: 50, budget_duration: 30d}\n`
    expect((await run(['-'], limited)).at('access.json')).toBe(
      '{\n  "limits": [{ "for": "everyone", "usd": 50, "per": "month" }]\n}\n',
    )
  })

  test.each<[string, readonly string[], string, number]>([
    ['without a provider that svc can use', ['litellm', '-'], 'model_list: []', 1],
    ['with --strict, unless all is exact', ['-', '--strict'], config, 1],
    ['with --strict, if an account is there twice', ['-', '--strict'], opposite, 1],
  ])('writes nothing %s', async (_name, argv, input, code) => {
    expect((await run(argv, input)).code).toBe(code)
    expect(existsSync(join(home, 'providers.json'))).toBe(false)
  })

  test.each<[string, readonly string[], RegExp]>([
    ['an unknown source', ['helicone', '-'], /unknown source "helicone": the sources are litellm/],
    ['no file', ['litellm'], /name the file/],
    ['a file that is not there', ['/nowhere/config.yaml'], /does not exist/],
    ['a shape that is not known', ['-'], /the shape of none of/],
  ])('refuses %s', async (_name, argv, message) => {
    expect(run(argv, 'a: 1')).rejects.toThrow(message)
  })
})
