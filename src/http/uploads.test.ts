import { describe, expect, test } from 'bun:test'
import { uploadsUnderWay } from './uploads.ts'

/** Uploads on a clock that a test sets; `ended` names those that were ended, in order. */
function subject() {
  const state = { time: 0 }
  const ended: string[] = []
  const uploads = uploadsUnderWay(() => state.time)
  const begin = (name: string, arrived: number) => uploads.begin({ arrived: () => arrived, end: () => void ended.push(name) })
  return { state, ended, uploads, begin }
}

describe('an upload', () => {
  test.each([
    ['nothing, within the grace', 0, 1_000, false],
    ['nothing, after the grace', 0, 1_001, true],
    ['50 KB a second', 50_000 * 20, 20_000, false],
    ['16 KB a second', 16_000 * 10, 10_000, false],
    ['as much at once, and then nothing for too long', 64_000, 5_001, true],
    ['a byte now and then', 25, 25_000, true],
  ])('that has sent %s may be ended or not', (_name, arrived, ageMs, isSlow) => {
    const { state, ended, uploads, begin } = subject()
    begin('a', arrived)
    state.time = ageMs
    expect(uploads.endSlow()).toBe(isSlow)
    expect(ended).toEqual(isSlow ? ['a'] : [])
  })

  test('that has come is left alone', () => {
    const { state, ended, uploads, begin } = subject()
    begin('a', 0)()
    state.time = 60_000
    expect([uploads.endSlow(), ended]).toEqual([false, []])
  })

  test('is ended once, the oldest of the slow first', () => {
    const { state, ended, uploads, begin } = subject()
    begin('slow', 1)
    begin('quick', 1_000_000)
    begin('slow too', 2)
    state.time = 10_000
    expect([uploads.endSlow(), uploads.endSlow(), uploads.endSlow()]).toEqual([true, true, false])
    expect(ended).toEqual(['slow', 'slow too'])
  })

  test('that is slow is found behind any number of quick ones, a bounded number of looks at a time', () => {
    const { state, ended, uploads, begin } = subject()
    let looks = 0
    for (let number = 0; number < 1_000; number += 1) uploads.begin({ arrived() { looks += 1; return 1_000_000 }, end: () => void ended.push('quick') })
    begin('slow', 0)
    state.time = 10_000
    const found = Array.from({ length: 4 }, () => uploads.endSlow())
    expect([found, ended, looks]).toEqual([[false, false, false, true], ['slow'], 1_000])
  })
})
