import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { answerRoom, endlessRoom, type AnswerShare } from './answer-room.ts'

const mebibyte = 1024 * 1024

/** A share that holds so much already. */
function holding(share: AnswerShare, bytes: number): AnswerShare {
  expect(share.hold(bytes)).toBe(true)
  return share
}

describe('the room of answers', () => {
  test('counts what each has beyond its first MiB', () => {
    const room = answerRoom(() => 2 * mebibyte)
    for (let count = 0; count < 100; count += 1) holding(room.share(), mebibyte)
    holding(holding(room.share(), mebibyte), mebibyte)
    const last = holding(room.share(), 2 * mebibyte)
    expect(room.share().hold(mebibyte + 1)).toBe(false)
    expect(room.share().hold(mebibyte)).toBe(true)
    expect(last.hold(1)).toBe(false)
    holding(room.share(), 2 * mebibyte)
  })

  test('is there again when an answer is let go of, once', () => {
    const room = answerRoom(() => 2 * mebibyte)
    const first = holding(room.share(), 3 * mebibyte)
    const second = room.share()
    expect(second.hold(2 * mebibyte)).toBe(false)
    first.release()
    first.release()
    holding(second, 3 * mebibyte)
    expect(first.hold(2 * mebibyte)).toBe(false)
  })

  test('has an answer that nobody is beside, however large', () => {
    const room = answerRoom(() => 1)
    const only = holding(holding(room.share(), 20 * mebibyte), 20 * mebibyte)
    expect(room.share().hold(2 * mebibyte)).toBe(false)
    only.release()
    expect(room.share().hold(2 * mebibyte)).toBe(true)
  })

  test('follows a change of its size', () => {
    let most = 1
    const room = answerRoom(() => most)
    holding(room.share(), 2 * mebibyte)
    const second = room.share()
    expect(second.hold(2 * mebibyte)).toBe(false)
    most = 2 * mebibyte
    expect(second.hold(2 * mebibyte)).toBe(true)
  })

  test('without end has everything', () => {
    for (let count = 0; count < 3; count += 1) holding(endlessRoom.share(), Number.MAX_SAFE_INTEGER)
  })

  test('never holds more than there is, unless one answer alone does, and is empty in the end', () => {
    const step = fc.record({ share: fc.nat(3), bytes: fc.option(fc.nat(4 * mebibyte)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const most = 5 * mebibyte
        const room = answerRoom(() => most)
        const shares = Array.from({ length: 4 }, () => ({ share: room.share(), bytes: 0 }))
        for (const { share: index, bytes } of steps) {
          const one = shares[index]
          if (one === undefined) continue
          if (bytes === null) {
            one.share.release()
            one.bytes = 0
          } else one.bytes = one.share.hold(bytes) ? one.bytes + bytes : 0
          const beyond = shares.map((each) => Math.max(0, each.bytes - mebibyte)).filter((each) => each > 0)
          expect(beyond.length <= 1 || beyond.reduce((sum, each) => sum + each, 0) <= most).toBe(true)
        }
        for (const { share } of shares) share.release()
        holding(room.share(), most + mebibyte)
        expect(room.share().hold(mebibyte + 1)).toBe(false)
      }),
    )
  })
})
