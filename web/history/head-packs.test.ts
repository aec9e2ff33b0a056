import 'fake-indexeddb/auto'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ConversationHead, HistoryStore } from './conversation.ts'
import { connectionTo } from './database.ts'
import { packHeads } from './head-packs.ts'
import { headOf, inOrder } from './heads.ts'
import { openHistory } from './open-history.ts'
import { conversationOf, questionOf } from './testing.ts'

const numbered = (at: number, title = `Title ${at}`) =>
  conversationOf({ id: `c${at}`, title, updated: 1_000 + at, messages: [questionOf('m', 'Hi')] })

let users = 0

/** A database, and a history that reads it anew at each look. */
function subject() {
  const connection = connectionTo(`packed ${++users}`)
  const opened = (): Promise<HistoryStore> => openHistory('', { connection })
  const count = (name: 'headPacks' | 'changedHeads') => connection.use((database) => database.count(name))
  return {
    connection,
    opened,
    pack: () => connection.use(packHeads),
    counts: async () => [await count('headPacks'), await count('changedHeads')],
  }
}

/** A history of 600 conversations, in packs. */
async function packed() {
  const { opened, pack, counts, connection } = subject()
  const history = await opened()
  for (let at = 0; at < 600; at++) await history.put(numbered(at))
  await pack()
  expect(await counts()).toEqual([3, 0])
  return { history, opened, pack, counts, connection }
}

const everyone = Array.from({ length: 600 }, (_, at) => headOf(numbered(at))).toSorted(inOrder)

describe('copies of heads', () => {
  test('are made of many, and anew after many changes', async () => {
    const { history, pack, counts, connection } = await packed()
    expect(await history.heads()).toEqual(everyone)
    await Promise.all([history.amend('c1', { title: 'Renamed' }), history.remove('c2'), history.put(numbered(600))])
    await pack()
    expect(await counts()).toEqual([3, 3])
    for (let at = 100; at < 200; at++) await history.amend(`c${at}`, { isPinned: true })
    const before = await history.heads()
    expect([before.length, before[0]?.id, before.find(({ id }) => id === 'c1')?.title]).toEqual([
      600,
      'c199',
      'Renamed',
    ])
    await pack()
    expect([await counts(), await history.heads()]).toEqual([[3, 0], before])
    await history.clear()
    expect([await counts(), await history.heads()]).toEqual([[0, 0], []])
    connection.close()
  })

  test('are not used when they are damaged, or when too many heads have changed', async () => {
    const { history, connection } = await packed()
    for (const damaged of [undefined, 5, [{}], [5], [null]]) {
      await connection.use((database) => database.put('headPacks', damaged, 1))
      expect(await history.heads()).toEqual(everyone)
    }
    await connection.use((database) => database.delete('headPacks', 1))
    expect(await history.heads()).toEqual(everyone)
    await connection.use(async (database) => database.put('headPacks', await database.get('headPacks', 3), 1))
    expect(await history.heads()).toEqual(everyone)
    for (let at = 0; at < 600; at++) await history.amend(`c${at}`, { title: 'New' })
    expect(new Set((await history.heads()).map(({ title }) => title))).toEqual(new Set(['New']))
    connection.close()
  })

  test('are of no history that is short', async () => {
    const { opened, pack, counts } = subject()
    const history = await opened()
    await history.put(numbered(1))
    await pack()
    expect([await counts(), (await history.heads()).length]).toEqual([[0, 1], 1])
    history.close()
  })

  test('give what the heads themselves give, after any changes', async () => {
    const { history, pack, connection } = await packed()
    const expected = new Map<string, ConversationHead>(everyone.map((head) => [head.id, head]))
    const at = fc.nat({ max: 620 })
    const step = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), at, title: fc.string({ minLength: 1, maxLength: 8 }) }),
      fc.record({ kind: fc.constant('pin' as const), at }),
      fc.record({ kind: fc.constant('remove' as const), at }),
      fc.record({ kind: fc.constant('pack' as const) }),
    )
    async function run(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]): Promise<void> {
      for (const each of steps) {
        if (each.kind === 'pack') await pack()
        else if (each.kind === 'put') {
          const conversation = numbered(each.at, each.title)
          await history.restore(conversation)
          expected.set(conversation.id, headOf(conversation))
        } else {
          const id = `c${each.at}`,
            head = expected.get(id)
          if (each.kind === 'pin') {
            await history.amend(id, { isPinned: true })
            if (head !== undefined) expected.set(id, { ...head, isPinned: true })
          } else {
            await history.remove(id)
            expected.delete(id)
          }
        }
      }
      expect(await history.heads()).toEqual([...expected.values()].toSorted(inOrder))
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), run), { numRuns: 15, endOnFailure: true })
    connection.close()
  })
})
