import { describe, expect, test } from 'bun:test'
import { paintFor } from '../base/shown-text.ts'
import { formatTable, truncate, wantsColour } from './terminal.ts'

const plain = paintFor({ hasColour: false })
const colour = paintFor({ hasColour: true })

describe('wantsColour', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
  ])('is for %p and %j: %p', (isTerminal, environment, expected) => {
    expect(wantsColour(isTerminal, environment)).toBe(expected)
  })
})

describe('formatTable', () => {
  const columns = [{ title: 'id' }, { title: 'time', align: 'right' }, { title: 'error', shrinks: true }] as const

  test('aligns its columns', () => {
    expect(
      formatTable(
        columns,
        [
          ['groq', '12 ms', ''],
          ['anthropic', '1.2 s', 'no credit'],
        ],
        plain,
        80,
      ),
    ).toBe('id          time  error\ngroq       12 ms\nanthropic  1.2 s  no credit\n')
  })

  test('cuts the shrinking column to the width', () => {
    const table = formatTable(columns, [['groq', '12 ms', 'a long story about a key that is not set']], plain, 30)
    expect(table.split('\n').map((line) => line.length)).toEqual([18, 30, 0])
    expect(table).toContain('a long story abo…')
  })

  test('counts wide characters as two and escapes control characters', () => {
    expect(
      formatTable(
        [{ title: 'model' }, { title: 'x' }],
        [
          ['日本', 'a'],
          ['a\u001b[2J\n', 'b'],
        ],
        plain,
        80,
      ),
    ).toBe('model             x\n日本              a\na\\u001b[2J\\u000a  b\n')
  })

  test('pads by visible width, without escape sequences', () => {
    expect(formatTable([{ title: 'id' }, { title: 'x' }], [[{ text: 'up', style: 'green' }, 'a']], colour, 80)).toBe(
      '\u001b[2mid\u001b[0m  \u001b[2mx\u001b[0m\n\u001b[32mup\u001b[0m  a\n',
    )
  })
})

test('truncate keeps text that fits and marks cut text', () => {
  expect(truncate('abcdef', 6)).toBe('abcdef')
  expect(truncate('abcdef', 4)).toBe('abc…')
  expect(truncate('日本語', 4)).toBe('日…')
})
