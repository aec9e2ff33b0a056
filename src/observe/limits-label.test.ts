import { expect, test } from 'bun:test'
import { limitsLabel, limitsOfLabel } from './record.ts'
import type { MetLimit } from './request-entry.ts'

const limit = (...models: string[]): MetLimit => ({
  met: 'refused',
  for: 'each key',
  kind: 'tokens',
  limit: 5,
  models,
})

test('the limits of a request are read from their label as they were written', () => {
  expect(limitsOfLabel(limitsLabel([limit('a')]))).toEqual([limit('a')])
  expect([limitsLabel([]), limitsLabel(undefined)]).toEqual(['', ''])
})

test('a label of limits is short: of many models and limits some are left out', () => {
  const many = Array.from({ length: 20 }, (_, index) => `model-${index}`)
  expect(limitsOfLabel(limitsLabel([limit(...many)]))[0]?.models).toEqual(many.slice(0, 8))
  const long = limitsLabel(Array.from({ length: 20 }, () => limit('x'.repeat(256))))
  expect([long.length < 2_000, limitsOfLabel(long).length]).toEqual([true, 8])
  const wide = limitsLabel([limit(...many.map((name) => `${'模'.repeat(150)}${name}`))])
  expect(Buffer.byteLength(wide)).toBeLessThan(2_000)
})

test('the label that stands for further ones has no limits', () => {
  expect([limitsOfLabel('other'), limitsOfLabel('label 7'), limitsOfLabel('')]).toEqual([[], [], []])
})
