import { describe, expect, test } from 'bun:test'
import { uploadsUnderWay, type Upload } from './slow-uploads.ts'

/** Uploads on a clock that a test sets; `ended` names those that were ended, in order. */
function subject() {
  const state = { time: 0 }
  const ended: string[] = []
  const uploads = uploadsUnderWay(() => state.time)
  const upload = (name: string, arrived: number, reserved = arrived): Upload => ({
    arrived: () => arrived,
    reserved: () => reserved,
    end: () => void ended.push(name),
  })
  const begin = (...given: Parameters<typeof upload>) => uploads.begin(upload(...given))
  return { state, ended, uploads, upload, begin }
}

describe('an upload', () => {
  test.each([
    ['nothing, within the grace', 0, 1_000, false],
    ['nothing, after the grace', 0, 1_001, true],
    ['50 KB a second', 50_000 * 20, 20_000, false],
    ['16 KB a second', 16_000 * 10, 10_000, false],
    ['as much at once, and then nothing for too long', 64_000, 5_001, true],
    ['a byte now and then', 25, 25_000, true],
  ])('that has sent %s is slow or not', (_name, arrived, ageMs, isSlow) => {
    const { state, ended, uploads, begin } = subject()
    begin('a', arrived)
    state.time = ageMs
    expect(uploads.endSlow()).toBe(isSlow)
    expect(ended).toEqual(isSlow ? ['a'] : [])
  })

  test('is not ended when it is complete', () => {
    const { state, ended, uploads, begin } = subject()
    begin('a', 0).over()
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

  test('is found behind any number of fast ones, with a bounded number of checks at a time', () => {
    const { state, ended, uploads, begin } = subject()
    let looks = 0
    for (let number = 0; number < 1_000; number += 1)
      uploads.begin({
        arrived() {
          looks += 1
          return 1_000_000
        },
        reserved: () => 0,
        end: () => void ended.push('quick'),
      })
    begin('slow', 0)
    state.time = 10_000
    const found = Array.from({ length: 4 }, () => uploads.endSlow())
    expect([found, ended, looks]).toEqual([[false, false, false, true], ['slow'], 1_000])
  })

  test('is ended with others if all of them suffice, and not if they do not', () => {
    const { state, ended, uploads, begin } = subject()
    begin('a', 10)
    begin('quick', 1_000_000)
    begin('b', 20, 30)
    begin('c', 10)
    state.time = 10_000
    expect([uploads.endSlow(51), ended]).toEqual([false, []])
    expect([uploads.endSlow(40), ended]).toEqual([true, ['a', 'b']])
    expect([uploads.endSlow(11), uploads.endSlow(10), ended]).toEqual([false, true, ['a', 'b', 'c']])
  })

  test('is not ended for itself, nor counted', () => {
    const { state, ended, uploads, upload, begin } = subject()
    const own = upload('own', 50)
    uploads.begin(own)
    begin('other', 50)
    state.time = 10_000
    expect([uploads.endSlow(51, own), ended]).toEqual([false, []])
    expect([uploads.endSlow(50, own), ended]).toEqual([true, ['other']])
  })
})
