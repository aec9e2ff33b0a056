import { describe, expect, test } from 'bun:test'
import { nextFollowing } from './following.ts'

const at = (top: number, bottom = 1_000, height = 100) => ({ top, height, bottom })

describe('nextFollowing', () => {
  test.each([
    ['goes on at the end', true, at(900), at(900), true],
    ['stops with the first pixels upward, near the end', true, at(900), at(890), false],
    ['stays off while one reads upward', false, at(500), at(400), false],
    ['stays off on the way down', false, at(400), at(500), false],
    ['is on again near the end', false, at(500), at(840), true],
    ['is not on again far from it', false, at(500), at(830), false],
    ['goes on when what there is becomes shorter', true, at(900), at(700, 800), true],
    ['goes on when what there is becomes shorter and has grown again', true, at(900), at(650, 950), true],
    ['stays off when what there is becomes shorter', false, at(900), at(650, 950), false],
    ['goes on when there is more, before it is scrolled to', true, at(900), at(900, 2_000), true],
    ['goes on while it catches up', true, at(900), at(1_200, 2_000), true],
    ['goes on when the window becomes larger', true, at(900), at(850, 1_000, 150), true],
  ])('%s', (_, isFollowing, before, now, expected) => {
    expect(nextFollowing(isFollowing, before, now)).toBe(expected)
  })
})
