import { describe, expect, test } from 'bun:test'
import { isSendKey, setEnterSends } from './send-key.ts'

const enter = { key: 'Enter', keyCode: 13, shiftKey: false, ctrlKey: false, metaKey: false, isComposing: false }

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

  test('where Enter begins a new line, with Ctrl or ⌘', () => {
    setEnterSends(false)
    expect([enter, { ...enter, ctrlKey: true }, { ...enter, metaKey: true }].map(isSendKey)).toEqual([
      false,
      true,
      true,
    ])
    expect(isSendKey({ ...enter, ctrlKey: true, isComposing: true })).toBe(false)
    setEnterSends(true)
    expect(isSendKey(enter)).toBe(true)
  })
})
