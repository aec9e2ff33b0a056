import { describe, expect, test } from 'bun:test'
import { isSendKey } from './send-key.ts'

const enter = { key: 'Enter', keyCode: 13, shiftKey: false, isComposing: false }

describe('isSendKey', () => {
  test.each([
    ['Enter', enter, true],
    ['Shift+Enter', { ...enter, shiftKey: true }, false],
    ['Enter of a composition', { ...enter, isComposing: true }, false],
    ['Enter that ends a composition', { ...enter, keyCode: 229 }, false],
    ['another key', { ...enter, key: 'a' }, false],
  ])('%s', (_, key, expected) => {
    expect(isSendKey(key)).toBe(expected)
  })
})
