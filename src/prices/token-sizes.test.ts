import { describe, expect, test } from 'bun:test'
import { learnedSizes, learnSizes, tokenSizes } from './token-sizes.ts'

describe('the sizes of tokens', () => {
  test('are 1.4 bytes before 100 answers, and then what nearly all texts reach', () => {
    const sizes = tokenSizes(1_000)
    for (let answer = 0; answer < 99; answer++) sizes.learn('m', 4_000, answer < 3 ? 2_000 : 1_000)
    expect(sizes.least('m')).toBe(1.4)
    for (let answer = 0; answer < 3; answer++) sizes.learn('m', 4_000, 2_000)
    expect(sizes.least('m')).toBeCloseTo(2)
    for (let answer = 0; answer < 50; answer++) sizes.learn('m', 4_000, 1_000)
    expect(sizes.least('m')).toBeWithin(3.8, 4.01)
    expect(sizes.least('other')).toBe(1.4)
  })

  test('ignore short texts and faulty counts', () => {
    const sizes = tokenSizes(1_000)
    for (let answer = 0; answer < 200; answer++) {
      sizes.learn('m', 100, 5)
      for (const count of [0, -1, NaN]) sizes.learn('m', 5_000, count)
    }
    expect(sizes.least('m')).toBe(1.4)
  })

  test('forget old answers, and the models that were learned first', () => {
    const sizes = tokenSizes(1_000)
    for (let answer = 0; answer < 10_000; answer++) sizes.learn('m', 4_000, 4_000)
    for (let answer = 0; answer < 120_000; answer++) sizes.learn('m', 4_000, 1_000)
    expect(sizes.least('m')).toBeGreaterThan(3.5)
    for (let model = 0; model < 1_000; model++) sizes.learn(`m${model}`, 4_000, 1_000)
    expect(sizes.least('m')).toBe(1.4)
  })

  test('stay between 1 and 16 bytes', () => {
    const sizes = tokenSizes(1_000)
    for (let answer = 0; answer < 200; answer++) {
      sizes.learn('dense', 1_000, 1e9)
      sizes.learn('wide', 1e9, 1)
    }
    expect(sizes.least('dense')).toBe(1)
    expect(sizes.least('wide')).toBeWithin(15, 16)
  })
})

describe('the usual size of tokens', () => {
  test('is 4 bytes before 100 texts, and then the mean by their length', () => {
    const sizes = tokenSizes(1_000)
    for (let text = 0; text < 99; text++) sizes.learn('m', 2_000, 1_000)
    expect(sizes.usual('m')).toBe(4)
    sizes.learn('m', 102_000, 17_000)
    expect(sizes.usual('m')).toBeCloseTo(300_000 / 116_000)
    expect(sizes.usual('other')).toBe(4)
  })

  test('follows a model whose text changes, and has bounds', () => {
    const sizes = tokenSizes(1_000)
    for (let text = 0; text < 10_000; text++) sizes.learn('m', 4_000, 4_000)
    for (let text = 0; text < 120_000; text++) sizes.learn('m', 4_000, 1_000)
    expect(sizes.usual('m')).toBeWithin(3.9, 4.01)
    for (let text = 0; text < 100; text++) {
      sizes.learn('hidden', 1_000, 1e9)
      sizes.learn('wide', 1e9, 1)
    }
    expect([sizes.usual('hidden'), sizes.usual('wide')]).toEqual([1 / 64, 16])
  })
})

describe('learning from an answer', () => {
  const served = { provider: 'p', model: 'm' }
  const usage = { promptTokens: 1_000, completionTokens: 500, totalTokens: 1_500 }

  function learned(change: object, bytes = { prompt: 3_000, answer: 1_000 }) {
    const sizes = learnedSizes()
    for (let answer = 0; answer < 100; answer++) learnSizes(sizes, served, { ...usage, ...change }, bytes)
    return [sizes.prompts.usual('p/m'), sizes.answers.usual('p/m')]
  }

  test('counts all tokens of the prompt, also cached ones, and all of the answer, also reasoning', () => {
    expect(learned({})).toEqual([3, 2])
    expect(learned({ cachedTokens: 900 })).toEqual([3, 2])
    expect(learned({ reasoningTokens: 500, totalTokens: 2_000 })).toEqual([3, 1])
  })

  test('leaves out counts that contradict each other, sounds, pictures and unknown sizes', () => {
    expect(learned({ cachedTokens: 5_000 })).toEqual([4, 4])
    expect(learned({ billed: { audioIn: 10, audioOut: 10 } })).toEqual([4, 4])
    expect(learned({}, { prompt: 0, answer: 1_000 })).toEqual([4, 2])
    expect(learned({}, { prompt: 3_000, answer: 0 })).toEqual([3, 4])
  })
})
