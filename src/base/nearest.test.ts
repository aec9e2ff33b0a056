import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { didYouMean, nearestName } from './nearest.ts'

const names = ['restrict_to', 'redirect_uri', 'client_id', 'base_url', 'models', 'timeouts']

describe('nearestName', () => {
  test.each([
    ['restrict_to', 'restrict_to'],
    ['RestrictTo', 'restrict_to'],
    ['restrict-too', 'restrict_to'],
    ['redirect_url', 'redirect_uri'],
    ['clientId', 'client_id'],
    ['baseUrl', 'base_url'],
    ['BASE-URL', 'base_url'],
    ['__base--url__', 'base_url'],
    ['modles', 'models'],
    ['model', 'models'],
    ['timeout', 'timeouts'],
    ['xyz', undefined],
    ['x', undefined],
    ['', undefined],
    ['-', undefined],
    ['callback', undefined],
    ['idp', undefined],
    ['a'.repeat(1_000_000), undefined],
  ])('for %.20s is %p', (written, name) => {
    expect(nearestName(written, names)).toBe(name)
  })

  test('is one of the names or undefined, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (written) => {
        expect([undefined, ...names]).toContain(nearestName(written, names))
      }),
    )
  })
})

describe('didYouMean', () => {
  test.each([
    ['modles', ' (did you mean "models"?)'],
    ['xyz', ''],
    [5, ''],
  ])('for %p is %p', (written, question) => {
    expect(didYouMean(written, names)).toBe(question)
  })
})
