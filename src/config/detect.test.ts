import { describe, expect, test } from 'bun:test'
import { detectProviders, type Probe } from './detect.ts'

function answersAt(...ports: number[]): Probe {
  return async (port) => (ports.includes(port) ? ['some-model'] : undefined)
}

describe('detectProviders', () => {
  test('puts servers on this machine before keys, each in order', async () => {
    const environment = {
      OPENROUTER_API_KEY: 'key-for-tests',
      GOOGLE_API_KEY: 'key-for-tests',
      OPENAI_API_KEY: 'key-for-tests',
    }
    const config = await detectProviders({ environment, probe: answersAt(8000, 8080, 1234, 11434) })
    expect(config.providers.map(({ id }) => id)).toEqual([
      'ollama',
      'lmstudio',
      'llamacpp',
      'vllm',
      'openai',
      'gemini',
      'openrouter',
    ])
    expect(config.source).toEqual({ kind: 'detected' })
    expect(config.providers.every(({ unavailable }) => unavailable === undefined)).toBe(true)
  })

  test('does not take itself for a model server', async () => {
    const config = await detectProviders({ environment: {}, ownPort: 8000, probe: answersAt(8000, 11434) })
    expect(config.providers.map(({ id }) => id)).toEqual(['ollama'])
  })

  test('gives the echo when there is nothing', async () => {
    const config = await detectProviders({ environment: { OPENAI_API_KEY: '' }, probe: answersAt() })
    expect(config).toMatchObject({
      source: { kind: 'echo' },
      providers: [{ id: 'echo', protocol: 'echo', baseUrl: '', models: [{ name: 'echo' }] }],
    })
  })

  test('leaves alone keys that commonly serve other purposes', async () => {
    const config = await detectProviders({
      environment: { GITHUB_TOKEN: 'key-for-tests', HF_TOKEN: 'key-for-tests' },
      probe: answersAt(),
    })
    expect(config.source.kind).toBe('echo')
  })

  test('asks all ports at once', async () => {
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
