import { describe, expect, test } from 'bun:test'
import { detectProviders, type Probe } from './detect.ts'

function answersAt(...ports: number[]): Probe {
  return async (port) => (ports.includes(port) ? ['some-model'] : undefined)
}

describe('detectProviders', () => {
  test('returns servers on this machine first, then free tiers, then paid brands, each in order', async () => {
    const names = ['OPENROUTER_API_KEY', 'GROQ_API_KEY', 'GOOGLE_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY']
    const environment = Object.fromEntries(names.map((name) => [name, 'key-for-tests']))
    const config = await detectProviders({ environment, probe: answersAt(8000, 8080, 1234, 11434) })
    expect(config.providers.map(({ id }) => id)).toEqual([
      'ollama',
      'lmstudio',
      'llamacpp',
      'vllm',
      'gemini',
      'groq',
      'openai',
      'anthropic',
      'openrouter',
    ])
    expect(config.source).toEqual({ kind: 'detected' })
    expect(config.providers.every(({ unavailable }) => unavailable === undefined)).toBe(true)
  })

  test('does not ask itself for models', async () => {
    const config = await detectProviders({ environment: {}, ownPort: 8000, probe: answersAt(8000, 11434) })
    expect(config.providers.map(({ id }) => id)).toEqual(['ollama'])
  })

  test('returns the echo when nothing is found', async () => {
    const config = await detectProviders({ environment: { OPENAI_API_KEY: '' }, probe: answersAt() })
    expect(config).toMatchObject({
      source: { kind: 'echo' },
      providers: [{ id: 'echo', protocol: 'echo', baseUrl: '', models: [{ name: 'echo' }] }],
    })
  })

  test('ignores keys that commonly serve other purposes', async () => {
    const config = await detectProviders({
      environment: { GITHUB_TOKEN: 'key-for-tests', HF_TOKEN: 'key-for-tests' },
      probe: answersAt(),
    })
    expect(config.source.kind).toBe('echo')
  })

  test('asks all ports concurrently', async () => {
    const asked: number[] = []
    let answer = (): void => undefined
    const silence = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)))
    const detected = detectProviders({
      environment: {},
      probe: (port) => {
        asked.push(port)
        return silence
      },
    })
    expect(asked).toEqual([11434, 1234, 8080, 8000])
    answer()
    expect((await detected).source.kind).toBe('echo')
  })
})
