import { describe, expect, test } from 'bun:test'
import { rescuedDraft } from './rescued-draft.ts'

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

describe('a rescued draft', () => {
  test('is given back, once', () => {
    const tab = storage()
    rescuedDraft('ada', 'new', tab).put('Half a thought')
    const { take } = rescuedDraft('ada', 'new', tab)
    expect([take(), take()]).toEqual(['Half a thought', undefined])
  })

  test.each([
    ['somebody else', 'grace', 'new'],
    ['another conversation', 'ada', 'x'],
  ])('is not given to %s', (_, owner, id) => {
    const tab = storage()
    rescuedDraft('ada', 'new', tab).put('Half a thought')
    expect(rescuedDraft(owner, id, tab).take()).toBeUndefined()
  })

  test('is lost where there is no storage, or one that is full', () => {
    const full = {
      ...storage(),
      setItem: () => {
        throw new Error('full')
      },
    }
    for (const each of [undefined, full]) {
      const { put, take } = rescuedDraft('ada', 'new', each)
      put('Half a thought')
      expect(take()).toBeUndefined()
    }
  })
})
