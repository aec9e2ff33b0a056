import { describe, expect, test } from 'bun:test'
import type { ModelsState } from '../models/models-store.ts'
import { defaultModel } from './default-model.ts'

const ready = (...names: readonly string[]): ModelsState => ({
  kind: 'ready',
  answer: { isEchoOnly: false, models: names.map((name) => ({ name, offers: [{ provider: 'p', upstream: name }] })) },
})

describe('defaultModel', () => {
  test.each([
    ['the one used last', ready('a', 'b'), ['b', 'a'], 'b'],
    ['the last one that is still there', ready('a', 'b'), ['gone', 'b'], 'b'],
    ['the first of the list', ready('a', 'b'), [], 'a'],
    ['none where there are none', ready(), ['gone'], undefined],
    ['the one used last while there is no list', { kind: 'loading' }, ['b'], 'b'],
    ['none while nothing is known', { kind: 'failed', error: new Error('x') }, [], undefined],
  ] as const)('is %s', (_, state, recent, expected) => {
    expect(defaultModel(state, recent)).toBe(expected)
  })
})
