import { describe, expect, test } from 'bun:test'
import { readLocalMinute, writeLocalMinute } from './local-minute.ts'

describe('a minute here', () => {
  test('is written as fields want it, and read again', () => {
    const time = new Date(2026, 0, 5, 7, 9).getTime()
    expect(writeLocalMinute(time + 59_999)).toBe('2026-01-05T07:09')
    expect(readLocalMinute('2026-01-05T07:09')).toBe(time)
  })

  test('is none where nothing was chosen', () => {
    expect([
      writeLocalMinute(0),
      readLocalMinute(''),
      readLocalMinute('1950-01-01T00:00'),
      readLocalMinute('x'),
    ]).toEqual(['', 0, 0, 0])
  })
})
