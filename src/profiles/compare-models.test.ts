import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compareModels } from './compare-models.ts'

const same: readonly (readonly [asked: string, answered: string])[] = [
  ['gpt-5', 'gpt-5-2025-08-07'],
  ['gpt-4o', 'gpt-4o-2024-11-20'],
  ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18'],
  ['gpt-4-turbo-preview', 'gpt-4-0125-preview'],
  ['gpt-3.5-turbo', 'gpt-3.5-turbo-0125'],
  ['gpt-35-turbo', 'gpt-3.5-turbo-1106'],
  ['my-gpt4o', 'gpt-4o-2024-11-20'],
  ['o3', 'o3-2025-04-16'],
  ['o4-mini', 'o4-mini-2025-04-16'],
  ['chatgpt-4o-latest', 'gpt-4o-2024-11-20'],
  ['ft:gpt-4o-mini-2024-07-18:acme::abc123', 'ft:gpt-4o-mini-2024-07-18:acme::abc123'],
  ['gpt-4o-mini', 'ft:gpt-4o-mini-2024-07-18:acme::abc123'],
  ['gpt-oss:20b', 'openai/gpt-oss-20b'],
  ['text-embedding-3-small', 'text-embedding-3-small'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
  ['claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet-20250219'],
  ['anthropic/claude-sonnet-4.5', 'anthropic/claude-4.5-sonnet-20250929'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929'],
  ['anthropic.claude-3-haiku-20240307-v1:0', 'claude-3-haiku-20240307'],
  ['claude-opus-4-1@20250805', 'claude-opus-4-1-20250805'],
  ['anthropic/claude-3.7-sonnet:thinking', 'anthropic/claude-3.7-sonnet'],
  ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['gemini-flash-latest', 'gemini-2.5-flash-preview-09-2025'],
  ['gemini-2.5-pro', 'gemini-2.5-pro-preview-05-06'],
  ['gemini-1.5-pro-latest', 'gemini-1.5-pro-002'],
  ['google/gemini-2.0-flash-001', 'gemini-2.0-flash'],
  ['llama3.2', 'llama3.2:latest'],
  ['llama3.2:latest', 'llama3.2'],
  ['llama3.1:8b', 'meta-llama/Llama-3.1-8B-Instruct'],
  ['qwen2.5:7b-instruct-q4_K_M', 'qwen2.5:7b'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'llama-3.3-70b-versatile'],
  ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 'meta-llama/llama-3.3-70b-instruct'],
  ['accounts/fireworks/models/llama-v3p1-8b-instruct', 'llama-3.1-8b-instruct'],
  ['us.meta.llama3-3-70b-instruct-v1:0', 'llama-3.3-70b-instruct'],
  ['Meta-Llama-3.1-8B-Instruct', '/data/models/Meta-Llama-3.1-8B-Instruct'],
  ['llama-4-scout', 'meta-llama/llama-4-scout-17b-16e-instruct'],
  ['meta/llama-4-maverick-17b-128e-instruct-maas', 'Llama-4-Maverick-17B-128E-Instruct-FP8'],
  ['qwen2.5-7b-instruct', '/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf'],
  ['qwen2.5-7b-instruct', 'C:\\models\\Qwen2.5-7B-Instruct-Q8_0.gguf'],
  ['qwen-max', 'qwen-max-2025-01-25'],
  ['qwen3-235b', 'Qwen/Qwen3-235B-A22B-Instruct-2507'],
  ['Qwen/Qwen3-32B:cerebras', 'qwen-3-32b'],
  ['mistral-large-latest', 'mistral-large-2411'],
  ['mistral-small-latest', 'mistral-small-3.2-24b-instruct-2506'],
  ['open-mixtral-8x22b', 'mixtral-8x22b-instruct-v0.1'],
  ['codestral-latest', 'codestral-2508'],
  ['deepseek-chat', 'deepseek-v3'],
  ['deepseek-ai/DeepSeek-V3-0324', 'deepseek-v3'],
  ['deepseek/deepseek-r1:free', 'deepseek/deepseek-r1'],
  ['deepseek/deepseek-r1/community', 'deepseek/deepseek-r1'],
  ['deepseek-r1-distill-llama-70b', 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B'],
  ['grok-4', 'grok-4-0709'],
  ['grok-4-fast', 'grok-4-fast-reasoning'],
  ['command-r-plus', 'command-r-plus-08-2024'],
  ['kimi-k2', 'moonshotai/Kimi-K2-Instruct-0905'],
  ['kimi-latest', 'kimi-k2.5'],
  ['moonshot-v1-8k', 'moonshot-v1-32k'],
  ['zai-org/GLM-4.5-Air-FP8', 'glm-4.5-air'],
  ['microsoft/phi-4', 'phi4:14b'],
  ['google/gemma-3n-e4b-it', 'gemma3n:e4b'],
  ['amazon.nova-pro-v1:0', 'nova-pro'],
  ['nomic-embed-text', 'nomic-embed-text-v1.5'],
  // The answer names no model that svc knows.
  ['llama-3.3-70b', 'default'],
  ['gpt-4o', ''],
  ['gpt-4o', '/models/current'],
  ['claude-sonnet-4-5', 'prod-7'],
  ['internal-model', 'lora-12'],
]

const other: typeof same = [
  ['gpt-5', 'gpt-4o'],
  ['gpt-5', 'gpt-5-mini-2025-08-07'],
  ['gpt-5', 'gpt-5.1'],
  ['gpt-4o', 'gpt-4o-mini-2024-07-18'],
  ['gpt-4', 'gpt-4o'],
  ['gpt-4o', 'gpt-4o-audio-preview'],
  ['o3', 'o3-mini'],
  ['o3', 'o4'],
  ['gpt-oss-120b', 'gpt-oss:20b'],
  ['claude-opus-4-1', 'claude-haiku-4-5-20251001'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-20250514'],
  ['anthropic/claude-3.5-sonnet', 'openai/gpt-4o'],
  ['gemini-2.5-pro', 'gemini-2.5-flash'],
  ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  ['llama-3.3-70b-instruct', 'llama-3.1-8b-instruct'],
  ['llama3.1:70b', 'llama3.1:8b'],
  ['llama-3.3-70b', 'Qwen/Qwen2.5-72B-Instruct'],
  ['deepseek-r1', 'deepseek-r1-distill-llama-70b'],
  ['deepseek-r1', 'deepseek-v3'],
  ['mistral-large-latest', 'mistral-small-2503'],
  ['grok-4', 'grok-4-fast'],
  ['command-r-plus', 'command-r'],
  ['kimi-k2', 'kimi-k1.5'],
  ['qwen2.5-coder:7b', 'qwen2.5:7b'],
  ['text-embedding-3-large', 'text-embedding-3-small'],
  ['my-gpt-4-deployment', 'gpt-35-turbo'],
]

const unnamed: typeof same = [
  ['openrouter/auto', 'anthropic/claude-sonnet-4.5'],
  ['auto', 'gpt-4o'],
  ['my-deployment', 'gpt-4o-2024-11-20'],
  ['prod', 'gpt-35-turbo'],
  ['chat-latest', 'gpt-5-2025-08-07'],
  ['default', 'qwen2.5-7b-instruct'],
  ['model-router', 'gpt-5-nano-2025-08-07'],
]

describe('the model that an answer names', () => {
  test.each(same)('%s is answered by %s', (asked, answered) => {
    expect(compareModels(asked, answered)).toBe('same')
  })
  test.each(other)('%s is not answered by %s', (asked, answered) => {
    expect(compareModels(asked, answered)).toBe('other')
  })
  test.each(unnamed)('%s, which is no model, is answered by %s', (asked, answered) => {
    expect(compareModels(asked, answered)).toBe('unnamed')
  })

  test('a model is never another one for its date, its maker, its spelling or its path', () => {
    const names = [...same, ...other].map(([asked]) => asked).filter((name) => !/[:@/\\]/.test(name))
    const forms = [
      (name: string) => `${name}-2026-01-31`,
      (name: string) => `${name}-20260131`,
      (name: string) => `maker/${name}`,
      (name: string) => `${name}:free`,
      (name: string) => `${name}-preview`,
      (name: string) => `${name}-fp8`,
      (name: string) => name.toUpperCase(),
    ]
    for (const name of names)
      for (const form of forms) expect([form(name), compareModels(name, form(name))]).toEqual([form(name), 'same'])
  })

  test('any two texts can be compared, and each is itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (one, two) => {
        expect(['same', 'other', 'unnamed']).toContain(compareModels(one, two))
        expect(compareModels(one, one)).toBe('same')
      }),
    )
  })
})
