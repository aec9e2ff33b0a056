import { describe, expect, test } from 'bun:test'
import { limitAt, withLimit } from './limit-draft.ts'

const daily = { for: 'each person', usd: 5, per: 'day' }
const line = '{ "for": "each person", "usd": 5, "per": "day" }'

describe('a drafted limit', () => {
  test.each([
    ['makes the file', undefined, `{\n  "limits": [\n    ${line}\n  ]\n}\n`],
    [
      'makes the list',
      '{\n  "time_zone": "UTC"\n}\n',
      `{\n  "time_zone": "UTC",\n  "limits": [\n    ${line}\n  ]\n}\n`,
    ],
    ['fills an empty list', '{\n  "limits": []\n}\n', `{\n  "limits": [\n    ${line}\n  ]\n}\n`],
    [
      'is added behind the others',
      '{\n  "limits": [\n    // all\n    { "for": "everyone", "usd": 9, "per": "month" }, // ours\n  ],\n}\n',
      '{\n  "limits": [\n    // all\n    { "for": "everyone", "usd": 9, "per": "month" }, // ours\n' +
        `    ${line},\n  ],\n}\n`,
    ],
  ])('%s', (_, present, after) => {
    expect(withLimit(present, { limit: daily })).toBe(after)
  })

  const ofKeys = '    { "for": "each key", "at_once": 2 }, // a\n'
  const ofPeople = '    { /* who */ "for": "each person", "usd": 5, "per": "day", "hard": true }, // b\n'
  const file = `{\n  "limits": [\n${ofKeys}${ofPeople}  ],\n}\n`

  test('changes only the members that differ, and keeps comments', () => {
    expect(withLimit(file, { place: 1, limit: { ...daily, usd: 9, requests: 60 } })).toBe(
      file.replace('"usd": 5, "per": "day", "hard": true', '"usd": 9, "per": "day", "requests": 60'),
    )
  })

  test('removes an entry with its comment', () => {
    expect(withLimit(file, { place: 0, limit: null })).toBe(file.replace(ofKeys, ''))
  })

  test('is read from its place', () => {
    expect(limitAt(file, 0)).toEqual({ for: 'each key', at_once: 2 })
    expect([limitAt(file, 2), limitAt(file, undefined), limitAt(undefined, 0)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
