import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nearestName } from './nearest-name.ts'

const names = ['restrict_to', 'redirect_uri', 'client_id', 'issuer']

describe('nearestName', () => {
  test.each([
    ['restrict_to', 'restrict_to'],
    ['RestrictTo', 'restrict_to'],
    ['restrict-too', 'restrict_to'],
    ['redirect_url', 'redirect_uri'],
    ['clientId', 'client_id'],
    ['isuer', 'issuer'],
    ['x', undefined],
    ['', undefined],
    ['-', undefined],
    ['callback', undefined],
    ['idp', undefined],
  ])('takes %j for %p', (written, meant) => {
    expect(nearestName(written, names)).toBe(meant)
  })

  test('answers with one of the names, whatever is written and however long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (written) => {
        expect([undefined, ...names]).toContain(nearestName(written, names))
      }),
    )
    expect(nearestName('x'.repeat(1_000_000), names)).toBeUndefined()
  })
})
