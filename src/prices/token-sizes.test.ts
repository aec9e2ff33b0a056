import { describe, expect, test } from 'bun:test'
import { LearnedSizes, TokenScale } from './token-sizes.ts'

describe('the sizes of tokens', () => {
  test('are 1.4 bytes before 100 answers, and then what nearly all texts reach', () => {
    const sizes = new TokenScale(1_000)
    for (let answer = 0; answer < 99; answer++) sizes.learn(4_000, answer < 3 ? 2_000 : 1_000)
    expect(sizes.least()).toBe(1.4)
    for (let answer = 0; answer < 3; answer++) sizes.learn(4_000, 2_000)
    expect(sizes.least()).toBeCloseTo(2)
    for (let answer = 0; answer < 50; answer++) sizes.learn(4_000, 1_000)
    expect(sizes.least()).toBeWithin(3.8, 4.01)
  })

  test('ignore short texts and faulty counts', () => {
    const sizes = new TokenScale(1_000)
    for (let answer = 0; answer < 200; answer++) {
      sizes.learn(100, 5)
      for (const count of [0, -1, NaN]) sizes.learn(5_000, count)
    }
    expect(sizes.least()).toBe(1.4)
  })

  test('forget old answers', () => {
    const sizes = new TokenScale(1_000)
    for (let answer = 0; answer < 10_000; answer++) sizes.learn(4_000, 4_000)
    for (let answer = 0; answer < 120_000; answer++) sizes.learn(4_000, 1_000)
    expect(sizes.least()).toBeGreaterThan(3.5)
  })

  test('stay between 1 and 16 bytes', () => {
    const [dense, wide] = [new TokenScale(1_000), new TokenScale(1_000)]
    for (let answer = 0; answer < 200; answer++) {
      dense.learn(1_000, 1e9)
      wide.learn(1e9, 1)
    }
    expect(dense.least()).toBe(1)
    expect(wide.least()).toBeWithin(15, 16)
  })
})

describe('the usual size of tokens', () => {
  test('is 4 bytes before 100 texts, and then the mean by their length', () => {
    const sizes = new TokenScale(1_000)
    for (let text = 0; text < 99; text++) sizes.learn(2_000, 1_000)
    expect(sizes.usual()).toBe(4)
    sizes.learn(102_000, 17_000)
    expect(sizes.usual()).toBeCloseTo(300_000 / 116_000)
  })

  test('follows a model whose text changes, and has bounds', () => {
    const sizes = new TokenScale(1_000)
    for (let text = 0; text < 10_000; text++) sizes.learn(4_000, 4_000)
    for (let text = 0; text < 120_000; text++) sizes.learn(4_000, 1_000)
    expect(sizes.usual()).toBeWithin(3.9, 4.01)
    const [hidden, wide] = [new TokenScale(1_000), new TokenScale(1_000)]
    for (let text = 0; text < 100; text++) {
      hidden.learn(1_000, 1e9)
      wide.learn(1e9, 1)
    }
    expect([hidden.usual(), wide.usual()]).toEqual([1 / 64, 16])
  })
})

describe('learning from an answer', () => {
  const served = { provider: 'p', model: 'm' }
  const usage = { promptTokens: 1_000, completionTokens: 500, totalTokens: 1_500 }

  function learned(change: object, bytes = { prompt: 3_000, answer: 1_000 }) {
    const sizes = new LearnedSizes()
    for (let answer = 0; answer < 100; answer++) sizes.learn(served, { ...usage, ...change }, bytes)
    const { prompts, answers } = sizes.of(served)
    return [prompts.usual(), answers.usual()]
  }

  test('counts all tokens of the prompt, also cached ones, and all of the answer, also reasoning', () => {
    expect(learned({})).toEqual([3, 2])
    expect(learned({ cachedTokens: 900 })).toEqual([3, 2])
    expect(learned({ completionTokens: 1_000, reasoningTokens: 500 })).toEqual([3, 1])
  })

  test('leaves out counts that contradict each other, sounds, pictures and unknown sizes', () => {
    expect(learned({ cachedTokens: 5_000 })).toEqual([4, 4])
    expect(learned({ billed: { audioIn: 10, audioOut: 10 } })).toEqual([4, 4])
    expect(learned({}, { prompt: 0, answer: 1_000 })).toEqual([4, 2])
    expect(learned({}, { prompt: 3_000, answer: 0 })).toEqual([3, 4])
  })
  test('is of one model, and forgets the models that were learned first', () => {
    const sizes = new LearnedSizes()
    const bytes = { prompt: 3_000, answer: 0 }
    for (let answer = 0; answer < 100; answer++) sizes.learn(served, usage, bytes)
    expect(sizes.of({ provider: 'p', model: 'other' }).prompts.usual()).toBe(4)
    expect(sizes.of({ provider: 'q', model: 'm' }).prompts.usual()).toBe(4)
    for (let model = 0; model < 999; model++) sizes.learn({ provider: 'q', model: `m${model}` }, usage, bytes)
    expect(sizes.of(served).prompts.usual()).toBe(3)
    sizes.learn({ provider: 'q', model: 'one more' }, usage, bytes)
    expect(sizes.of(served).prompts.usual()).toBe(4)
  })

  test('is due for all answers at first, and for each 16th when 1,000 are known', () => {
    const sizes = new LearnedSizes()
    const bytes = { prompt: 3_000, answer: 0 }
    const due = (more = {}) => Array.from({ length: 160 }, () => sizes.isDue(served, { ...bytes, ...more }))
    expect(due()).not.toContain(false)
    for (let answer = 0; answer < 1_000; answer++) sizes.learn(served, usage, bytes)
    expect(due().filter(Boolean)).toHaveLength(10)
    // Nothing is known of the texts of answers.
    expect(due({ answer: 500 })).not.toContain(false)
    expect(due({ prompt: 900 })).not.toContain(true)
  })
})
