import { describe, expect, test } from 'bun:test'
import { detectProviders } from '../detect.ts'
import { parseConfig } from '../file/parse-config.ts'
import { initialConfig } from './initial-config.ts'

const environment = { GOOGLE_API_KEY: 'key-for-tests', GROQ_API_KEY: 'key-for-tests' }

const schema = './providers.schema.json'

describe('initialConfig', () => {
  test.each([
    ['servers and keys', [11434], environment],
    ['nothing', [], {}],
  ])('parses to the detected providers: %s', async (_, ports: number[], variables: Record<string, string>) => {
    const detected = await detectProviders({
      environment: variables,
      probe: async (port) => (ports.includes(port) ? [] : undefined),
    })
    const text = initialConfig(detected, { environment: variables, schema })
    const config = parseConfig(text, { file: 'providers.json', environment: variables })
    expect(config.providers).toEqual([...detected.providers])
  })

  test('contains names of keys, never their values', async () => {
    const text = initialConfig(await detectProviders({ environment, probe: async () => undefined }), {
      environment,
      schema,
    })
    expect(text).toContain('"$GOOGLE_API_KEY"')
    expect(text).not.toContain('key-for-tests')
  })

  test('puts free tiers before paid brands, and marks them', async () => {
    const variables = { OPENAI_API_KEY: 'key-for-tests', GROQ_API_KEY: 'key-for-tests' }
    const text = initialConfig(await detectProviders({ environment: variables, probe: async () => undefined }), {
      environment: variables,
      schema,
    })
    expect(
      text.split('\n').filter((line) => line.startsWith('    // Groq') || line.startsWith('    // OpenAI')),
    ).toEqual([
      '    // Groq: its key is in the environment (it has a free tier)',
      '    // OpenAI: its key is in the environment',
    ])
  })

  test('points to an existing schema', async () => {
    expect(
      initialConfig(await detectProviders({ environment, probe: async () => undefined }), { environment, schema }),
    ).toContain('"$schema": "./providers.schema.json"')
  })
})
