import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BilledFacts } from '../formats/answer.ts'
import type { Usage } from '../formats/usage.ts'
import { countOf, measureUnits, type Units } from './units.ts'

const plain: Usage = { promptTokens: 1_000, completionTokens: 200, totalTokens: 1_200 }

/** The units of a usage that are not 0, without the request. */
function unitsOf(usage: Usage): Partial<Units> {
  const { request, ...units } = measureUnits(usage).units
  expect(request).toBe(1)
  return Object.fromEntries(Object.entries(units).filter(([, count]) => count !== 0))
}

describe('the units of an answer', () => {
  test.each<[string, Partial<Usage>, Partial<Units>]>([
    ['a prompt and an answer', {}, { input: 1_000, output: 200 }],
    ['cached tokens', { cachedTokens: 400 }, { input: 600, cached: 400, output: 200 }],
    ['a prompt that was cached as a whole', { cachedTokens: 1_000 }, { cached: 1_000, output: 200 }],
    [
      'cache writes of both kinds',
      { cachedTokens: 100, cacheWriteTokens: 300, cacheWriteHourTokens: 50 },
      { input: 600, cached: 100, write5: 250, write60: 50, output: 200 },
    ],
    ['reasoning within the answer', { reasoningTokens: 150 }, { input: 1_000, output: 50, reasoning: 150 }],
    [
      'audio and images',
      { cachedTokens: 100, billed: { audioIn: 300, imageIn: 200, audioOut: 40, imageOut: 60 } },
      { input: 400, cached: 100, audioIn: 300, imageIn: 200, output: 100, audioOut: 40, imageOut: 60 },
    ],
    [
      'audio that was partly cached',
      { cachedTokens: 900, billed: { audioIn: 800 } },
      { cached: 900, audioIn: 100, output: 200 },
    ],
    ['searches', { billed: { searches: 3 } }, { input: 1_000, output: 200, search: 3, searchRequest: 1 }],
  ])('are apart for %s', (_, more, units) => {
    const usage = { ...plain, ...more }
    expect(unitsOf(usage)).toEqual(units)
    expect(measureUnits(usage)).toMatchObject({ isPromptKnown: true, isAnswerKnown: true, hasConflict: false })
  })

  test.each<[string, Partial<Usage>, Partial<Units>]>([
    ['more cached tokens than the prompt has', { cachedTokens: 5_000 }, { cached: 5_000, output: 200 }],
    [
      'more cached and written tokens than the prompt has',
      { cachedTokens: 600, cacheWriteTokens: 600 },
      { cached: 600, write5: 600, output: 200 },
    ],
    [
      'more writes for an hour than the prompt has',
      { cacheWriteTokens: 100, cacheWriteHourTokens: 1_500 },
      { write60: 1_500, output: 200 },
    ],
    ['more audio than the prompt has', { billed: { audioIn: 1_200 } }, { audioIn: 1_200, output: 200 }],
    [
      'more reasoning than the answer has',
      { reasoningTokens: 500, totalTokens: undefined },
      { input: 1_000, output: 200, reasoning: 500 },
    ],
  ])('are the larger ones, and marked, for %s', (_, more, units) => {
    const usage = { ...plain, ...more }
    expect(unitsOf(usage)).toEqual(units)
    expect(measureUnits(usage).hasConflict).toBe(true)
  })

  test.each<[string, Usage | undefined, boolean, boolean]>([
    ['no usage', undefined, false, false],
    ['no prompt', { ...plain, promptTokens: undefined }, false, true],
    ['no answer', { ...plain, completionTokens: undefined }, true, false],
    ['negative counts', { promptTokens: -1, completionTokens: -1, totalTokens: -2 }, false, false],
    ['fractions', { promptTokens: 0.5, completionTokens: 0.5, totalTokens: 1 }, false, false],
    ['huge counts', { promptTokens: 1e300, completionTokens: 1_000_000_001, totalTokens: 1 }, false, false],
    ['zeros', { promptTokens: 0, completionTokens: 0, totalTokens: 0 }, true, true],
  ])('tell what is known with %s', (_, usage, isPromptKnown, isAnswerKnown) => {
    expect(measureUnits(usage)).toMatchObject({ isPromptKnown, isAnswerKnown, hasConflict: false })
  })

  test('are counts, and sum to the prompt and the answer unless these contradict them', () => {
    const count = fc.option(fc.oneof(fc.nat(2_000), fc.double(), fc.integer()), { nil: undefined })
    const billed: fc.Arbitrary<BilledFacts> = fc.record({ audioIn: count, imageIn: count, audioOut: count })
    const usages: fc.Arbitrary<Usage> = fc.record({
      promptTokens: count,
      completionTokens: count,
      totalTokens: count,
      cachedTokens: count,
      cacheWriteTokens: count,
      cacheWriteHourTokens: count,
      reasoningTokens: count,
      billed,
    })
    fc.assert(
      fc.property(usages, (usage) => {
        const { units, hasConflict, isPromptKnown } = measureUnits(usage)
        for (const unit of Object.values(units)) expect(unit >= 0 && Number.isSafeInteger(unit)).toBe(true)
        const { input, cached, write5, write60, audioIn, imageIn } = units
        const prompt = input + cached + write5 + write60 + audioIn + imageIn
        if (isPromptKnown && !hasConflict) expect(prompt).toBe((usage.promptTokens ?? 0) + 0)
        else expect(prompt).toBeGreaterThanOrEqual(countOf(usage.promptTokens) ?? 0)
      }),
      { numRuns: 1_000 },
    )
  })
})
