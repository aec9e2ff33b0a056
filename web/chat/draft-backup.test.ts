import { describe, expect, test } from 'bun:test'
import { draftBackup } from './draft-backup.ts'

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const stored = new Map<string, string>()
  return {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  }
}

describe('draftBackup', () => {
  test('is restored, once', () => {
    const tab = storage()
    draftBackup('ada', 'new', tab).put('Half a thought')
    const { take } = draftBackup('ada', 'new', tab)
    expect([take(), take()]).toEqual(['Half a thought', undefined])
  })

  test.each([
    ['another user', 'grace', 'new'],
    ['another conversation', 'ada', 'x'],
  ])('is not restored to %s', (_, owner, id) => {
    const tab = storage()
    draftBackup('ada', 'new', tab).put('Half a thought')
    expect(draftBackup(owner, id, tab).take()).toBeUndefined()
  })

  test('is lost without storage, or if it is full', () => {
    const full = {
      ...storage(),
      setItem: () => {
        throw new Error('full')
      },
    }
    for (const each of [undefined, full]) {
      const { put, take } = draftBackup('ada', 'new', each)
      put('Half a thought')
      expect(take()).toBeUndefined()
    }
  })
})
