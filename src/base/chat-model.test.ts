import { describe, expect, test } from 'bun:test'
import { firstChatModel, isChatModel } from './chat-model.ts'

describe('isChatModel', () => {
  test.each([
    'gpt-4o',
    'gpt-6-mini',
    'o3',
    'claude-sonnet-4-5',
    'gemini-2.5-flash',
    'meta-llama/llama-4-maverick',
    'deepseek-r1:14b',
    'qwen3-vl-30b',
    'llava:13b',
    'mistral-small3.2',
    'command-a-03-2025',
    'vendor/imaginary-70b',
    'democratic-ocracoke',
    'vanguard-1',
    'echo',
  ])('%s chats', (name) => {
    expect(isChatModel(name)).toBe(true)
  })

  test.each([
    'text-embedding-ada-002',
    'nomic-embed-text:latest',
    'all-minilm',
    'BAAI/bge-m3',
    'intfloat/e5-large-v2',
    'omni-moderation-latest',
    'whisper-large-v3-turbo',
    'tts-1-hd',
    'gpt-4o-mini-tts',
    'dall-e-3',
    'gpt-image-1',
    'imagen-4.0-generate',
    'sora-2',
    'veo-3.1',
    'gpt-4o-transcribe',
    'gpt-realtime',
    'gpt-audio',
    'llama-guard-4-12b',
    'rerank-v3.5',
    'davinci-002',
    'babbage-002',
    'mistral-ocr-latest',
    'black-forest-labs/FLUX.1-dev',
    'stable-diffusion-3.5',
  ])('%s does not', (name) => {
    expect(isChatModel(name)).toBe(false)
  })
})

describe('firstChatModel', () => {
  const named = (...names: readonly string[]) => names.map((name) => ({ name }))

  test.each([
    ['passes over models that embed or listen', named('text-embedding-ada-002', 'whisper-1', 'llama', 'gpt'), 'llama'],
    ['is the first where none seems to chat', named('tts-1', 'whisper-1'), 'tts-1'],
    ['is none of none', [], undefined],
  ] as const)('%s', (_, models, expected) => {
    expect(firstChatModel(models)?.name).toBe(expected)
  })
})
