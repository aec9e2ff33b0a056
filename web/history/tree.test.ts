import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Conversation, Message } from './conversation.ts'
import { parseConversation } from './parse-conversation.ts'
import { conversationOf, questionOf } from './testing.ts'
import {
  branchOf,
  leafOf,
  merged,
  versionPlaces,
  versionsOf,
  withAdded,
  withoutMessage,
  withShown,
  type Tree,
} from './tree.ts'

const message = (id: string): Message => questionOf(id, id)
const linear = (...ids: readonly string[]): Tree => ({ messages: ids.map(message) })
const shown = (tree: Tree): string =>
  branchOf(tree)
    .map(({ id }) => id)
    .join(' ')
const versions = (tree: Tree, id: string): string =>
  versionsOf(tree, id)
    .map((each) => each.id)
    .join(' ')

describe('a tree', () => {
  test('without versions is a list, as it was stored before there were versions', () => {
    const tree = withAdded(linear('a', 'b'), 'b', [message('c'), message('d')])
    expect(tree).toEqual(linear('a', 'b', 'c', 'd'))
    expect([shown(tree), leafOf(tree)?.id, versions(tree, 'b'), versionPlaces(tree).size]).toEqual([
      'a b c d',
      'd',
      'b',
      0,
    ])
    expect([withShown(tree, 'b'), withoutMessage(tree, 'b')]).toEqual([tree, linear('a', 'c', 'd')])
  })

  test('keeps the versions of a message, each with what follows it', () => {
    const tree = withAdded(linear('a', 'b', 'c', 'd'), 'a', [message('B'), message('C')])
    expect([shown(tree), versions(tree, 'b'), leafOf(tree)?.id]).toEqual(['a B C', 'b B', 'C'])
    expect(shown(withShown(tree, 'b'))).toBe('a b c d')
    expect([...versionPlaces(tree)]).toEqual([
      ['b', { version: 1, count: 2 }],
      ['B', { version: 2, count: 2 }],
    ])
    expect(shown(withAdded(withShown(tree, 'b'), undefined, [message('A')]))).toBe('A')
  })

  test('shows another version when the last message is removed', () => {
    const tree = withAdded(withAdded(linear('a', 'b'), 'a', [message('B')]), 'a', [message('β')])
    expect(shown(withoutMessage(tree, 'β'))).toBe('a B')
    expect(shown(withoutMessage(withShown(tree, 'b'), 'b'))).toBe('a B')
    expect(shown(withoutMessage(withoutMessage(withoutMessage(tree, 'B'), 'b'), 'β'))).toBe('a')
  })

  test('keeps what follows a removed message', () => {
    const tree = withAdded(linear('a', 'b', 'c'), 'a', [message('B'), message('C')])
    const without = withoutMessage(tree, 'B')
    expect([shown(without), versions(without, 'C')]).toEqual(['a C', 'b C'])
    expect(shown(withoutMessage(without, 'a'))).toBe('C')
    expect(withoutMessage(tree, 'unknown')).toEqual(tree)
  })

  test('takes over messages of another state, but not the kept one', () => {
    const mine = linear('a', 'b')
    const theirs = withAdded({ messages: [message('a'), { ...message('b'), text: 'older' }] }, 'a', [message('B')])
    const both = merged(mine, theirs, 'b')
    expect([shown(both), versions(both, 'b'), leafOf(both)?.text]).toEqual(['a b', 'b B', 'b'])
    expect(branchOf(merged(mine, theirs, 'a')).at(-1)?.text).toBe('older')
    expect(merged(mine, linear('a'), 'b')).toBe(mine)
    expect(shown(merged(mine, linear('a', 'b', 'c'), 'b'))).toBe('a b c')
  })
})

/** Everything that a page does with messages. Numbers choose among the messages. */
type Step =
  | { readonly kind: 'send' | 'retry' | 'undo' }
  | { readonly kind: 'edit' | 'delete' | 'show' | 'fork'; readonly at: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('send', 'retry', 'undo') }),
  fc.record({ kind: fc.constantFrom('edit', 'delete', 'show', 'fork'), at: fc.nat(20) }),
)

/** Ids of all messages that choices of versions lead to. */
function reachable(tree: Tree, found = new Set<string>()): ReadonlySet<string> {
  for (const { id } of branchOf(tree)) {
    if (found.has(id)) continue
    found.add(id)
    for (const version of versionsOf(tree, id))
      if (!found.has(version.id)) reachable(withShown(tree, version.id), found)
  }
  return found
}

describe('any order of retry, edit, fork, delete and undo', () => {
  test('keeps every version within reach, and a form that can be read again', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let tree: Tree = linear('q', 'r')
        let undeleted: Tree | undefined
        let count = 0
        const expected = new Set(['q', 'r'])
        const next = (): Message => {
          const id = `m${count++}`
          expected.add(id)
          return message(id)
        }
        const change = (changed: Tree): void => {
          tree = changed
          undeleted = undefined
        }
        for (const each of steps) {
          const branch = branchOf(tree)
          const at = 'at' in each ? each.at % Math.max(1, branch.length) : 0
          const picked = branch[at]
          if (each.kind === 'send') change(withAdded(tree, leafOf(tree)?.id, [next(), next()]))
          else if (each.kind === 'retry') change(withAdded(tree, branch.at(-2)?.id, [next()]))
          else if (each.kind === 'undo' && undeleted !== undefined) {
            change(undeleted)
            for (const { id } of tree.messages) expected.add(id)
          } else if (picked === undefined) continue
          else if (each.kind === 'edit') change(withAdded(tree, branch[at - 1]?.id, [next(), next()]))
          else if (each.kind === 'show') {
            const all = versionsOf(tree, picked.id)
            tree = withShown(tree, all[each.at % all.length]?.id ?? '')
          } else if (each.kind === 'fork') {
            expect(shown({ messages: branch.slice(0, at + 1).map((m) => ({ ...m, parent: undefined })) })).toBe(
              branch
                .slice(0, at + 1)
                .map(({ id }) => id)
                .join(' '),
            )
          } else if (each.kind === 'delete') {
            undeleted = tree
            tree = withoutMessage(tree, picked.id)
            expected.delete(picked.id)
            const kept = branch.filter(({ id }) => id !== picked.id)
            expect(shown(tree).startsWith(kept.map(({ id }) => id).join(' '))).toBe(true)
          }
          expect([...reachable(tree)].toSorted()).toEqual([...expected].toSorted())
          expect(tree.messages).toHaveLength(expected.size)
        }
        const conversation: Conversation = { ...conversationOf(), ...tree }
        expect(parseConversation(JSON.parse(JSON.stringify(conversation)))).toEqual({ kind: 'ok', value: conversation })
      }),
    )
  })
})
