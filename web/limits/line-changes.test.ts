import { describe, expect, test } from 'bun:test'
import { lineChanges } from './line-changes.ts'

const short = (before: string, after: string): string =>
  lineChanges(before, after)
    .map(({ kind, line, text }) => `${kind === 'added' ? '+' : '-'}${line}${text}`)
    .join(' ')

/** Applies changes to the text they are of. */
function applied(before: string, after: string): string {
  const changes = lineChanges(before, after)
  const gone = new Set(changes.flatMap(({ kind, line }) => (kind === 'removed' ? [line] : [])))
  const lines = before === '' ? [] : before.split('\n').filter((_, index) => !gone.has(index + 1))
  for (const { kind, line, text } of changes) if (kind === 'added') lines.splice(line - 1, 0, text)
  return lines.join('\n')
}

describe('the changed lines', () => {
  test.each([
    ['a\nb\nc', 'a\nb\nc', ''],
    ['a\nb\nc', 'a\nx\nc', '-2b +2x'],
    ['a\nb\nc\nd\ne', 'a\nc\nd\nf\ne', '-2b +4f'],
    ['a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc', '-1a -2b +2b -6b +6c'],
    ['', 'a\nb', '+1a +2b'],
    ['a\nb', '', '-1a -2b'],
    ['a\n', 'a', '-2'],
    ['a\na', 'a\na\na', '+3a'],
  ])('of %j and %j are %j', (before, after, expected) => {
    expect(short(before, after)).toBe(expected)
    expect(applied(before, after)).toBe(after)
  })

  test('make the new text of the old one, for all pairs of texts', () => {
    let seed = 7
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    const text = () => Array.from({ length: random(12) }, () => 'abc'[random(3)]).join('\n')
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(), text()]
      expect(applied(before, after)).toBe(after)
    }
  })

  test('of long texts that differ in all lines are all of them, soon', () => {
    const lines = (name: string) => Array.from({ length: 20_000 }, (_, index) => `${name}${index}`).join('\n')
    expect(lineChanges(lines('a'), lines('b'))).toHaveLength(40_000)
  })
})
