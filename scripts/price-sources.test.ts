import { expect, test } from 'bun:test'
import { modelsDevPrice } from '../src/config/file/models-dev.ts'
import { agreed, fromLiteLlm } from './price-sources.ts'

const entry = { mode: 'chat', litellm_provider: 'openai', input_cost_per_token: 2.5e-7, output_cost_per_token: 2e-6 }

test('an entry of LiteLLM becomes a price for a million tokens, with steps and tiers', () => {
  expect(
    fromLiteLlm({
      ...entry,
      cache_read_input_token_cost: 2.5e-8,
      input_cost_per_token_above_200k_tokens: 5e-7,
      input_cost_per_token_flex: 1.25e-7,
      input_cost_per_token_above_200k_tokens_flex: 2e-7,
      input_cost_per_token_batches: 1,
      search_context_cost_per_query: { search_context_size_medium: 0.01 },
    }),
  ).toEqual({
    input: 0.25,
    output: 2,
    cached_input: 0.025,
    above: [{ tokens: 200_000, input: 0.5 }],
    flex: { input: 0.125, above: [{ tokens: 200_000, input: 0.2 }] },
  })
})

test('embeddings cost nothing for the answer; what is not billed by the token has no price', () => {
  const { output_cost_per_token: _, ...input } = entry
  expect(fromLiteLlm({ ...input, mode: 'embedding' })).toEqual({ input: 0.25, output: 0 })
  expect([fromLiteLlm(input), fromLiteLlm({ ...entry, mode: 'image_generation' })]).toEqual([undefined, undefined])
})

test('a file of models.dev becomes a price', () => {
  const tiers = [{ tier: { size: 272_000 }, input: 5 }]
  expect(modelsDevPrice({ cost: { input: 2.5, output: 15, cache_read: 0.25, input_audio: 3, tiers } })).toEqual({
    input: 2.5,
    output: 15,
    cached_input: 0.25,
    audio_input: 3,
    above: [{ tokens: 272_000, input: 5 }],
  })
  expect([modelsDevPrice({}), modelsDevPrice({ cost: { input: 1 } })]).toEqual([undefined, undefined])
})

test('both lists are joined when they agree, and a price of 0 is none', () => {
  expect(agreed({ input: 1, output: 2 }, { input: 1.004, output: 2, cached_input: 0.1 })).toEqual({
    input: 1,
    output: 2,
    cached_input: 0.1,
  })
  expect(agreed({ input: 1, output: 2 }, { input: 1.1, output: 2 })).toBe('conflict')
  expect([agreed({ input: 0, output: 0 }, undefined), agreed(undefined, undefined)]).toEqual([undefined, undefined])
})
