import { describe, expect, test } from 'bun:test'
import { modelsCommandWith } from './models.ts'
import { providersCommandWith } from './providers.ts'
import { fakeAccess, namedModel, runCommand } from './testing.ts'

const access = fakeAccess([
  {
    id: 'groq',
    models: [
      namedModel('llama-3.3', { context: 131_072, maxOutput: 8_192, price: { input: 0.59, output: 0.79 } }),
      namedModel('gpt-4o'),
    ],
  },
  {
    id: 'openai',
    models: [namedModel('gpt-4o', { price: { input: 2.5, output: 10, cachedInput: 1.25 } })],
    probe: { status: 401 },
  },
  { id: 'silent', models: undefined, probe: { reason: 'connection refused or unreachable' } },
  { id: 'spare', config: { enabled: false } },
  { id: 'mistral', config: { unavailable: 'MISTRAL_API_KEY is not set' } },
])

describe('svc providers', () => {
  test('lists the providers in order, and why one cannot be used', async () => {
    expect(await runCommand(providersCommandWith(access), [])).toEqual({
      code: 0,
      err: '',
      out: `providers.json: valid, 5 providers

#  provider  protocol  state        health                             models
1  groq      openai    on           ok 12 ms                           2
2  openai    openai    on           401: the key is refused            1
3  silent    openai    on           connection refused or unreachable  unknown: the provider did not list them
4  spare     openai    off
5  mistral   openai    unavailable                                     MISTRAL_API_KEY is not set

provider  model
groq      llama-3.3
groq      gpt-4o
openai    gpt-4o
`,
    })
  })

  test('lists no models when there are none', async () => {
    const { out } = await runCommand(providersCommandWith(fakeAccess([{ id: 'silent', models: undefined }])), [])
    expect(out.trimEnd().split('\n').at(-1)).toStartWith('1  silent')
  })

  test('cuts the models to the width of a terminal', async () => {
    const { out } = await runCommand(providersCommandWith(access), [], { stdout: { isTerminal: true, columns: 80 } })
    expect(out.split('\n').every((line) => Bun.stringWidth(line) <= 80)).toBe(true)
    expect(out).toContain('2: llama')
  })

  test('prints JSON', async () => {
    expect(JSON.parse((await runCommand(providersCommandWith(access), ['--json'])).out).slice(1)).toEqual([
      {
        id: 'openai',
        protocol: 'openai',
        state: 'on',
        base_url: 'http://127.0.0.1:1/v1',
        health: '401: the key is refused',
        models: ['gpt-4o'],
      },
      {
        id: 'silent',
        protocol: 'openai',
        state: 'on',
        base_url: 'http://127.0.0.1:1/v1',
        health: 'connection refused or unreachable',
        models: null,
      },
      { id: 'spare', protocol: 'openai', state: 'off', base_url: 'http://127.0.0.1:1/v1', health: null, models: null },
      {
        id: 'mistral',
        protocol: 'openai',
        state: 'unavailable',
        reason: 'MISTRAL_API_KEY is not set',
        base_url: 'http://127.0.0.1:1/v1',
        health: null,
        models: null,
      },
    ])
  })
})

describe('svc models', () => {
  test('lists each model once, its providers in order, price and context', async () => {
    expect(await runCommand(modelsCommandWith(access), [])).toEqual({
      code: 0,
      err: "svc: no list of models from silent (run 'svc check' for the reasons)\n",
      out: `model      providers      USD per million in/out  context
llama-3.3  groq                      0.59 / 0.79  131,072
gpt-4o     groq → openai                       –        –
`,
    })
  })

  test('prints no table without a model', async () => {
    const { out } = await runCommand(modelsCommandWith(fakeAccess([{ id: 'silent', models: undefined }])), [])
    expect(out).toBe('')
  })

  test('prints JSON', async () => {
    expect(JSON.parse((await runCommand(modelsCommandWith(access), ['--json'])).out)).toEqual([
      {
        id: 'llama-3.3',
        providers: ['groq'],
        context: 131_072,
        max_output: 8_192,
        price: { input: 0.59, output: 0.79 },
      },
      { id: 'gpt-4o', providers: ['groq', 'openai'] },
    ])
  })
})
