import { describe, expect, test } from 'bun:test'
import { readLocalMinute, writeLocalMinute } from './local-time.ts'

describe('a local minute', () => {
  test('is written for an input field, and read again', () => {
    const time = new Date(2026, 0, 5, 7, 9).getTime()
    expect(writeLocalMinute(time + 59_999)).toBe('2026-01-05T07:09')
    expect(readLocalMinute('2026-01-05T07:09')).toBe(time)
  })

  test('is 0 for an empty field', () => {
    expect([
      writeLocalMinute(0),
      readLocalMinute(''),
      readLocalMinute('1950-01-01T00:00'),
      readLocalMinute('x'),
    ]).toEqual(['', 0, 0, 0])
  })
})
