import { describe, expect, test } from 'bun:test'
import type { ModelsState } from '../models/models-store.ts'
import { defaultModel } from './default-model.ts'

/** Models in this order. The first is an embedding model, and hidden. */
function ready(...names: readonly string[]): ModelsState {
  const models = names.map((name, index) => ({
    name,
    offers: [{ provider: 'p', upstream: name }],
    ...(index === 0 ? { isHidden: true as const } : {}),
  }))
  return {
    kind: 'ready',
    answer: { isEchoOnly: false, models, ...(names[1] === undefined ? {} : { firstModel: names[1] }) },
  }
}

describe('defaultModel', () => {
  test.each([
    ['the one used last', ready('ada', 'a', 'b'), ['b', 'a'], 'b'],
    ['the last used one that is still available', ready('ada', 'a', 'b'), ['gone', 'b'], 'b'],
    ['the first one of the service', ready('ada', 'a', 'b'), [], 'a'],
    ['a hidden one that a person chose', ready('ada', 'a', 'b'), ['ada'], 'ada'],
    ['none if there are no models', ready(), ['gone'], undefined],
    ['the one used last until the list has loaded', { kind: 'loading' }, ['b'], 'b'],
    ['none if nothing is known', { kind: 'failed', error: new Error('x') }, [], undefined],
  ] as const)('is %s', (_, state, recent, expected) => {
    expect(defaultModel(state, recent)).toBe(expected)
  })
})
