import { describe, expect, test } from 'bun:test'
import { nearestName } from './nearest.ts'

describe('nearestName', () => {
  test.each([
    ['baseUrl', 'base_url'],
    ['BASE-URL', 'base_url'],
    ['modles', 'models'],
    ['model', 'models'],
    ['timeout', 'timeouts'],
    ['xyz', undefined],
    ['', undefined],
    ['a'.repeat(10_000), undefined],
  ])('for %.20s is %p', (written, name) => {
    expect(nearestName(written, ['base_url', 'models', 'timeouts'])).toBe(name)
  })
})
