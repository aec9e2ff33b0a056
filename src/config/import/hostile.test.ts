import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ConfigError } from '../config.ts'
import { parseConfig } from '../file/parse-config.ts'
import { arrange } from './arrange.ts'
import { emit } from './emit.ts'
import { importFile } from './import-file.ts'
import { importSources } from './import-list.ts'
import { Planner } from './planner.ts'

const named = (source: string) => importSources.find(({ name }) => name === source)
const read = (text: string, source = 'litellm') =>
  importFile(text, { file: 'c.yaml', source: named(source), readBeside: async () => undefined })

async function faultOf(text: string, source?: string): Promise<string> {
  try {
    await read(text, source)
    return 'none'
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefgh'.split('').map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]`),
]

describe('a hostile file', () => {
  test.each<[string, string, string | undefined, RegExp]>([
    ['aliases for millions of values', bomb.join('\n'), undefined, /^c\.yaml:\d+:\d+: .*aliases/],
    ['an alias within its value', 'a: &a\n  b: *a\n', undefined, /^c\.yaml:2:\d+: a\.b: found an alias within/],
    ['an alias without an anchor', 'a: 1\nb: *nothing\n', undefined, /^c\.yaml:2:/],
    ['a name twice', 'a: 1\nb: 2\na: 3\n', undefined, /^c\.yaml:3:1: .*unique/],
    ['a name twice in JSON', '{"a": 1,\n "a": 2}', 'portkey', /^c\.yaml:2:\d+: a: found a second "a"/],
    ['tabs', 'a:\n\tb: 1\n', undefined, /^c\.yaml:2:/],
    ['NUL', 'a: 1\nb: \u0000\n', undefined, /^c\.yaml:2:4: found a NUL character/],
    ['two documents', 'a: 1\n---\nb: 1\n', undefined, /^c\.yaml:\d+:\d+: found a second document/],
    ['more than 1 MiB', `# ${'x'.repeat(1024 * 1024)}`, undefined, /found 1048578 bytes, allowed: at most 1048576/],
    ['many levels', `a: ${'['.repeat(200)}${']'.repeat(200)}`, undefined, /^c\.yaml:1:\d+: .*levels/],
    ['very many levels', '['.repeat(100_000), undefined, /^c\.yaml:1:\d+: .*levels/],
    ['very many levels of maps', `{a: `.repeat(50_000), undefined, /^c\.yaml:1:\d+: .*levels/],
    ['very many levels of JSON', '['.repeat(100_000), 'portkey', /^c\.yaml:1:\d+: .*levels/],
    ['an open quotation mark', 'a: "secret-value\n', undefined, /^c\.yaml:(?!.*secret-value)/],
    ['a broken line with a value', 'a: b: secret-value\n', undefined, /^c\.yaml:1:(?!.*secret-value)/],
    ['no JSON', '{"a": secret-value}', 'bifrost', /^c\.yaml:1:\d+: (?!.*secret-value)/],
    ['nothing', '', undefined, /^c\.yaml:1:1: found no value/],
  ])('with %s is refused, with its line', async (_name, text, source, expected) => {
    const start = performance.now()
    expect(await faultOf(text, source)).toMatch(expected)
    expect(performance.now() - start).toBeLessThan(15_000)
  })

  test('never ends in another error, whatever its values are', async () => {
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(
          null,
          true,
          -1,
          0.5,
          '',
          '*',
          'groq/x',
          'os.environ/A',
          '$A',
          'http://h/v1',
          '__proto__',
          'a,b',
        ),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            ...[
              'model_list',
              'model_name',
              'litellm_params',
              'model',
              'api_key',
              'api_base',
              'targets',
              'strategy',
              'mode',
            ],
            ...[
              'provider',
              'override_params',
              'data',
              'type',
              'models',
              'providers',
              'keys',
              'value',
              'Providers',
              'name',
            ],
            ...['api_base_url', 'Router', 'default', 'provider_keys', 'display_name', 'routing', 'fallbacks', 'openai'],
            ...[
              'router_settings',
              'litellm_settings',
              'model_group_alias',
              'api_base_urls',
              'api_keys',
              '__proto__',
              'toString',
            ],
          ),
          tie('node'),
          { maxKeys: 5 },
        ),
      ),
    })).node
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(...importSources), async (given, source) => {
        const text = JSON.stringify(given)
        const result = await read(text, source.name).catch((error: unknown) => error)
        expect(result instanceof Error ? result.constructor : undefined).toBeOneOf([undefined, ConfigError])
      }),
      { numRuns: 1_500 },
    )
  })
})

describe('a plan', () => {
  const ids = ['one', 'two', 'lab', 'openai-x']
  const steps = fc.array(fc.record({ id: fc.constantFrom(...ids), upstream: fc.constantFrom('u', 'v', 'w') }), {
    minLength: 1,
    maxLength: 5,
  })
  const routes = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), steps, { minKeys: 1 })

  test('comes back from its file with the same steps of each name', () => {
    fc.assert(
      fc.property(routes, (given) => {
        const plan = new Planner()
        const models = new Map<string, Parameters<Planner['add']>[0]>()
        for (const [name, list] of Object.entries(given))
          for (const { id, upstream } of list) {
            const account = plan.account({
              id,
              baseUrl: `https://${id}.example/v1`,
              key: { variable: `KEY_${ids.indexOf(id)}` },
            })
            const known = models.get(`${name} ${id} ${upstream}`)
            const model = known ?? { account, name, upstream }
            models.set(`${name} ${id} ${upstream}`, model)
            plan.add(model, name)
          }
        const environment = Object.fromEntries(ids.map((id, index) => [`KEY_${index}`, `key-${id}`]))
        const { providers } = parseConfig(emit(plan, 'test').providers, { file: '', environment })
        for (const [name, planned] of plan.routes) {
          const asked = providers.flatMap(({ baseUrl, apiKey, models: offered }) =>
            (offered === '*' ? [] : offered).flatMap((model) =>
              model.name === name || model.aliases.includes(name) ? [`${baseUrl} ${apiKey} ${model.upstream}`] : [],
            ),
          )
          expect(asked).toEqual(
            planned.map(({ account: { baseUrl, id }, upstream }) => `${baseUrl} key-${id} ${upstream}`),
          )
        }
        expect(arrange(plan).length).toBeLessThanOrEqual([...plan.routes.values()].flat().length)
      }),
      { numRuns: 500 },
    )
  })
})
