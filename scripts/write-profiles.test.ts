import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { wordsOf } from './profile-words.ts'
import { profileLists } from './write-profiles.ts'

test.each(profileLists.map((list) => [list.file, list] as const))(
  '%s has the profiles of the table, as `npm run profiles` writes them',
  async (file, { updated }) => {
    const text = await Bun.file(join(import.meta.dir, '..', file)).text()
    expect(text).toBe(updated(text))
  },
)

test('what a profile does is said in words, one field after the other', () => {
  const said = wordsOf({
    system: 'first',
    sampling: { temperature: [0, 1], top_p: 'refused', n: [1, 1] },
    efforts: [],
    drop: ['store', 'user'],
    thinks: 'always',
  })
  expect(said).toEqual([
    'one system message, at the beginning; later ones are sent as marked user text',
    '`top_p` left out; `temperature` is kept within 0 and 1; `n` is 1',
    '`reasoning_effort` is left out',
    '`store`, `user` left out',
  ])
})
