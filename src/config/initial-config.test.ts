import { describe, expect, test } from 'bun:test'
import { detectProviders } from './detect.ts'
import { initialConfig } from './initial-config.ts'
import { parseConfig } from './parse-config.ts'

const environment = { GOOGLE_API_KEY: 'key-for-tests', GROQ_API_KEY: 'key-for-tests' }

const schema = './providers.schema.json'

describe('initialConfig', () => {
  test.each([
    ['servers and keys', [11434], environment],
    ['nothing', [], {}],
  ])('reads back as what was detected: %s', async (_, ports: number[], variables: Record<string, string>) => {
    const detected = await detectProviders({
      environment: variables,
      probe: async (port) => (ports.includes(port) ? [] : undefined),
    })
    const text = initialConfig(detected, { environment: variables, schema })
    const config = parseConfig(text, { file: 'providers.json', environment: variables })
    expect(config.providers).toEqual([...detected.providers])
  })

  test('names keys and never writes them', async () => {
    const text = initialConfig(await detectProviders({ environment, probe: async () => undefined }), {
      environment,
      schema,
    })
    expect(text).toContain('"$GOOGLE_API_KEY"')
    expect(text).not.toContain('key-for-tests')
  })

  test('points to a schema that is there', async () => {
    expect(
      initialConfig(await detectProviders({ environment, probe: async () => undefined }), { environment, schema }),
    ).toContain('"$schema": "./providers.schema.json"')
  })
})
