import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { parseConfig } from '../file/parse-config.ts'
import { importFile, type Imported } from './import-file.ts'
import { importSources } from './import-list.ts'
import { readSource } from './read-source.ts'

const folder = `${import.meta.dir}/fixtures`
const files = readdirSync(folder).toSorted()

async function imported(
  text: string,
  source?: string,
  beside: Readonly<Record<string, string>> = {},
): Promise<Imported> {
  return await importFile(text, {
    file: 'config',
    source: importSources.find(({ name }) => name === source),
    readBeside: async (name) => beside[name],
  })
}

/** Where each name is asked, in order: `provider/upstream`. */
function routesOf({ files: emitted }: Imported): Readonly<Record<string, readonly string[]>> {
  const { providers, aliases } = parseConfig(emitted?.providers ?? '', { file: 'providers.json', environment: {} })
  const routes: Record<string, string[]> = {}
  for (const { id, models } of providers)
    for (const model of models === '*' ? [{ name: '*', upstream: '*', aliases: [] }] : models)
      for (const name of [model.name, ...model.aliases]) (routes[name] ??= []).push(`${id}/${model.upstream}`)
  for (const [alias, target] of Object.entries(aliases)) routes[alias] = routes[target] ?? []
  return routes
}

test.each([
  [
    'litellm',
    {
      model_list: [
        {
          model_name: 'a',
          litellm_params: { model: 'groq/x', extra_body: { api_key: 'HUSH', top_k: 4, in: { Token: 'HUSH' } } },
        },
      ],
    },
  ],
  ['one-api', [{ type: 1, key: 'k', name: 'a', models: 'm', param_override: '{"password":["HUSH"],"top_k":4}' }]],
  ['portkey', { provider: 'openai', api_key: 'k', override_params: { model: 'm', secret: 'HUSH', top_k: 4 } }],
])('%s › copies no secret of a request field', async (source, given) => {
  const { files, findings } = await imported(JSON.stringify(given), source)
  expect(files?.providers).toContain('"top_k": 4')
  expect(files?.providers).not.toContain('HUSH')
  expect(findings.filter(({ status }) => status === 'manual').length).toBeGreaterThan(0)
})

describe('thirty configurations in the shapes of other gateways', () => {
  test.each(files)('%s › becomes a valid file, and each value has one finding', async (file) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8')
    const result = await imported(text)
    expect(file).toContain(result.source)
    const root = await readSource(
      text,
      file,
      importSources.find(({ name }) => name === result.source)?.syntax ?? 'json',
    )
    expect(result.findings.map(({ path }) => path)).toEqual([...root.leaves()].map(({ path }) => path))
    expect(result.findings.filter(({ line }) => line < 1 || line > text.split('\n').length)).toEqual([])
    expect(Object.keys(routesOf(result)).length).toBeGreaterThan(0)
    expect(`${result.files?.providers}${JSON.stringify(result.findings)}`).not.toContain('made-up')
  })

  test('have at least 90 % of their models and fallbacks exact', async () => {
    const statuses: string[] = []
    for (const file of files) {
      const { findings } = await imported(readFileSync(`${folder}/${file}`, 'utf8'))
      const counted = findings.filter(({ path }) =>
        /model_name$|(?:params|targets\[\d\])\.model$|fallbacks|\.models?(?:\[|$)|model_ids|map_models/.test(path),
      )
      statuses.push(...counted.map(({ status, path }) => (status === 'exact' ? status : `${status} ${file} ${path}`)))
    }
    const exact = statuses.filter((status) => status === 'exact').length
    expect(exact / statuses.length).toBeGreaterThan(0.9)
  })
})

const groq = 'api_key: os.environ/GROQ_API_KEY'
const head = 'model_list:\n'
const entry = (name: string, params: string, more = '') =>
  `  - {model_name: ${name}, litellm_params: {${params}}${more}}\n`
const statusOf = ({ findings }: Imported, path: string) => findings.find((finding) => finding.path.endsWith(path))

describe('faults of other importers', () => {
  test('a deployment with an unknown prefix is reported, with all of its values', async () => {
    const unknown = entry('a', 'model: nowhere/a, api_key: os.environ/A, rpm: 3')
    const text = head + unknown + entry('b', `model: groq/b, ${groq}`)
    const { findings } = await imported(text)
    expect(findings.slice(0, 4).map(({ status }) => status)).toEqual(['manual', 'manual', 'manual', 'manual'])
    expect(findings[1]?.message).toContain('"nowhere"')
  })

  test.each(['hosted_vllm', 'ollama_chat', 'cerebras', 'perplexity', 'lm_studio', 'nvidia_nim'])(
    '%s/ is known',
    async (prefix) => {
      const result = await imported(`${head}${entry('a', `model: ${prefix}/x, api_base: "http://10.0.0.1:9/v1"`)}`)
      expect(Object.values(routesOf(result))).toEqual([[expect.stringMatching(/\/x$/)]])
    },
  )

  test('with fallbacks in both sections, those that do not hold are reported', async () => {
    const result = await imported(readFileSync(`${folder}/13-litellm-both-fallbacks.yaml`, 'utf8'))
    expect(routesOf(result)).toEqual({ x: ['groq/x', 'mistral/y'], y: ['mistral/y'], z: ['xai/z'] })
    expect(statusOf(result, 'litellm_settings.fallbacks[0].y[0]')).toMatchObject({ status: 'unsupported', line: 8 })
  })

  test('requests a minute are never said to be used as they are', async () => {
    const result = await imported(readFileSync(`${folder}/06-litellm-rpm.yaml`, 'utf8'))
    const rates = result.findings.filter(({ path }) => /rpm|tpm|strategy/.test(path))
    expect(new Set(rates.map(({ status }) => status))).toEqual(new Set(['approximate']))
    expect(routesOf(result)['llama']).toEqual([
      'groq/llama-3.3-70b-versatile',
      'groq-2/llama-3.3-70b-versatile',
      'cerebras/llama-3.3-70b',
    ])
    expect(result.files?.providers).toMatch(/GROQ_B[^]*GROQ_A/)
  })

  test('order, weight, times and concurrency have their places', async () => {
    const text =
      head +
      entry('m', 'model: groq/a, weight: 1, timeout: 5, stream_timeout: 2, max_parallel_requests: 7') +
      entry('m', 'model: mistral/b, weight: 9') +
      entry('n', 'model: xai/c, order: 2') +
      entry('n', 'model: deepseek/d, order: 1')
    const result = await imported(text)
    expect(routesOf(result)).toEqual({ m: ['mistral/b', 'groq/a'], n: ['deepseek/d', 'xai/c'] })
    const { providers } = parseConfig(result.files?.providers ?? '', { file: '', environment: {} })
    const provider = providers.find(({ id }) => id === 'groq')
    expect(provider).toMatchObject({ maxConcurrent: 7, timeouts: { attemptMs: 5000, firstTokenMs: 2000 } })
  })

  test('what is not written is never said to be exact', async () => {
    const result = await imported(
      `${head}${entry('a', `model: groq/a, ${groq}, mock_response: hi, made_up: 3, temperature: 1`)}`,
    )
    expect(statusOf(result, 'mock_response')?.status).toBe('unsupported')
    expect(statusOf(result, 'made_up')?.status).toBe('unsupported')
    expect(statusOf(result, 'temperature')?.status).toBe('exact')
    expect(result.files?.providers).toContain('"defaults": { "temperature": 1 }')
  })

  test('included files are read, from the same folder alone', async () => {
    const text = `include: [more.yaml, ../other.yaml]\n${head}${entry('a', `model: groq/a, ${groq}`)}`
    const beside = { 'more.yaml': `${head}${entry('b', 'model: mistral/b')}`, '../other.yaml': 'x: 1' }
    const result = await imported(text, 'litellm', beside)
    expect(routesOf(result)).toEqual({ a: ['groq/a'], b: ['mistral/b'] })
    expect(result.findings.map(({ status, file }) => [status, file]).slice(0, 2)).toEqual([
      ['exact', undefined],
      ['manual', undefined],
    ])
    expect(result.findings.at(-1)).toMatchObject({ file: 'more.yaml', line: 2, status: 'exact' })
  })

  test('a name without a prefix is of the provider that LiteLLM guesses', async () => {
    const result = await imported(
      `${head}${entry('a', 'model: claude-opus-4-1')}${entry('b', 'model: o3-mini')}${entry('c', 'model: qwen')}`,
    )
    expect(routesOf(result)).toEqual({ a: ['anthropic/claude-opus-4-1'], b: ['openai/o3-mini'] })
    expect(statusOf(result, 'model_list[2].litellm_params.model')?.status).toBe('manual')
  })
})

describe('the order of providers', () => {
  test.each<[string, Readonly<Record<string, readonly string[]>>]>([
    [
      '04-litellm-opposite-orders.yaml',
      {
        scout: ['together/meta/scout', 'groq/scout', 'openrouter/meta/scout'],
        maverick: ['groq/maverick', 'openrouter/meta/maverick', 'together-2/meta/maverick'],
      },
    ],
    ['05-litellm-circle.yaml', { a: ['groq/one', 'groq-2/two', 'mistral/three'], b: ['groq/two', 'groq-2/one'] }],
    [
      '12-litellm-alias.yaml',
      { 'gpt-4': ['xai/grok-4', 'perplexity/sonar'], 'gpt-4o': ['xai/grok-4', 'perplexity/sonar'] },
    ],
    [
      '14-litellm-special-fallbacks.yaml',
      { short: ['openai/gpt-4o-mini', 'deepseek/deepseek-chat', 'gemini/gemini-2.5-pro'] },
    ],
    ['15-litellm-wildcard.yaml', { '*': ['openai/*', 'anthropic/*'], 'gpt-4o': ['openai-2/gpt-4o'] }],
    ['23-one-api.json', { 'gpt-4o': ['openai/gpt-4o', 'deepseek/deepseek-chat'] }],
    ['24-new-api.json', { qwen3: ['pool/qwen3', 'pool-2/qwen3', 'deepseek/deepseek-chat'] }],
    [
      '27-bifrost.json',
      { 'gpt-4o': ['openai/gpt-4o', 'openai-2/gpt-4o'], fast: ['openai/gpt-4o-mini'], qwen3: ['lab/qwen3'] },
    ],
    ['28-aisix.yaml', { chat: ['lab/qwen3', 'openai/gpt-4o-2024-11-20'] }],
    ['26-claude-code-router.json', { default: ['deepseek/deepseek-chat'], longContext: ['gemini/gemini-2.5-pro'] }],
    ['29-open-webui.env', { 'oa.gpt-4o': ['openai/gpt-4o'], qwen3: ['10-0-0-7-8000/qwen3'] }],
    ['25-llms.json', { 'kimi-k2': ['openrouter/moonshotai/kimi-k2:free'] }],
  ])('%s', async (file, expected) => {
    expect(routesOf(await imported(readFileSync(`${folder}/${file}`, 'utf8')))).toMatchObject(expected)
  })
})

test('conditions of Portkey are done by hand, and their targets are no spares of each other', async () => {
  const target = (name: string, model: string) => ({ name, provider: 'groq', override_params: { model } })
  const config = {
    strategy: {
      mode: 'conditional',
      conditions: [{ query: { 'metadata.plan': 'paid' } }],
      default: 'small',
    },
    targets: [target('big', 'llama-70b'), target('small', 'llama-8b'), { provider: 'mistral-ai' }],
  }
  const result = await imported(JSON.stringify(config))
  expect(routesOf(result)).toEqual({
    'llama-70b': ['groq/llama-70b'],
    'llama-8b': ['groq/llama-8b'],
    '*': ['mistral/*'],
  })
  expect(statusOf(result, 'strategy.mode')?.status).toBe('manual')
  expect(statusOf(result, 'targets[2].provider')?.status).toBe('approximate')
})

test('callbacks of LiteLLM are done by hand, over OTLP', async () => {
  const litellm_settings = { callbacks: ['otel'], success_callback: ['langfuse'] }
  const result = await imported(JSON.stringify({ model_list: [], litellm_settings }))
  for (const field of ['callbacks[0]', 'success_callback[0]'])
    expect(statusOf(result, `litellm_settings.${field}`)).toMatchObject({
      status: 'manual',
      message: expect.stringContaining('OTLP'),
    })
})
