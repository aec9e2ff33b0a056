import 'fake-indexeddb/auto'
import { describe, expect, test } from 'bun:test'
import type { HistoryStore } from './conversation.ts'
import { connectionTo, type Connection } from './database.ts'
import { indexWords } from './index-words.ts'
import { openHistory } from './open-history.ts'
import { conversationOf, questionOf } from './testing.ts'

let users = 0

/** Opens a history of conversations `c0`, `c1`, … with the words `all`, `even` or `odd`, and `one0`, `one1`. */
async function historyOf(count: number): Promise<{
  readonly history: HistoryStore
  readonly connection: Connection
  /** Indexes words. @returns the numbers of segments and of records of words after it */
  readonly index: () => Promise<readonly [number, number]>
}> {
  const connection = connectionTo(`indexed ${++users}`)
  const history = await openHistory('', { connection })
  for (let at = 0; at < count; at++) await history.put(numbered(at))
  return {
    history,
    connection,
    index: () =>
      connection.use(async (database) => {
        await indexWords(database, async () => undefined)
        return [await database.count('segments'), await database.count('words')]
      }),
  }
}

const numbered = (at: number, text = `all ${at % 2 === 0 ? 'even' : 'odd'} one${at}.`) =>
  conversationOf({ id: `c${at}`, title: `Title${at}`, updated: at, messages: [questionOf('m', text)] })

async function found(history: HistoryStore, query: string): Promise<string> {
  return (await history.search(query, 1_000)).map(({ head }) => head.id).join(' ')
}

describe('the index of words', () => {
  test('changes no result', async () => {
    const { history, index } = await historyOf(450)
    const queries = ['all', 'odd', 'ONE44', 'one44. even', 'title7 odd', 'none', 'title10 title100']
    const before: string[] = []
    for (const query of queries) before.push(await found(history, query))
    expect(before[0]?.split(' ')).toHaveLength(450)
    expect(before[6]).toBe('c100')
    expect(await index()).toEqual([1, 50])
    for (const [at, query] of queries.entries()) expect(await found(history, query)).toBe(before[at] ?? '')
    expect((await history.search('one44.'))[0]?.excerpt?.messageId).toBe('m')
    history.close()
  })

  test('follows changed, renamed and removed conversations, of other tabs, too', async () => {
    const { history, connection, index } = await historyOf(250)
    const other = await openHistory('', { connection })
    expect([await index(), await found(other, 'one7.')]).toEqual([[1, 0], 'c7'])
    await other.put(numbered(7, 'changed'))
    await other.amend('c8', { title: 'Renamed' })
    await other.remove('c9')
    const seen = async (): Promise<readonly string[]> =>
      await Promise.all(['one7.', 'changed', 'renamed one8.', 'one9.', 'title8'].map((query) => found(history, query)))
    const expected = ['', 'c7', 'c8', '', 'c89 c88 c87 c86 c85 c84 c83 c82 c81 c80']
    // Changes of other tabs arrive as messages.
    for (let tries = 0; tries < 1_000 && (await seen()).join() !== expected.join(); tries++)
      await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await seen()).toEqual(expected)
    // Nothing of removed conversations and of earlier texts stays in the database.
    expect(await index()).toEqual([1, 1])
    expect(await seen()).toEqual(expected)
    expect(await connection.use(async (database) => JSON.stringify(await database.getAll('segments')))).not.toMatch(
      /one[79]\./,
    )
    await other.restore(numbered(9))
    expect(await found(other, 'one9.')).toBe('c9')
    await other.clear()
    expect(await found(other, 'all')).toBe('')
    history.close()
    other.close()
  })

  test.each([['damaged'], ['lost']])('changes no result when a part of it is %s', async (how) => {
    const { history, connection, index } = await historyOf(250)
    expect(await index()).toEqual([1, 0])
    await connection.use(async (database) => {
      const [key = 0] = await database.getAllKeys('segments')
      await (how === 'lost' ? database.delete('segments', key) : database.put('segments', { ids: 5 }, key))
    })
    expect([
      await found(history, 'ONE44.'),
      await found(history, 'title7 one7.'),
      await found(history, 'title9'),
    ]).toEqual([...['c44', 'c7', 'c99 c98 c97 c96 c95 c94 c93 c92 c91 c90 c9']])
    history.close()
  })

  test('is right whenever a change comes', async () => {
    const { history, index } = await historyOf(250)
    await Promise.all([index(), history.put(numbered(3, 'late')), history.remove('c4')])
    for (let round = 0; round < 2; round++) {
      expect([await found(history, 'late'), await found(history, 'one3.'), await found(history, 'one4.')]).toEqual([
        'c3',
        '',
        '',
      ])
      await index()
    }
    history.close()
  })
})
