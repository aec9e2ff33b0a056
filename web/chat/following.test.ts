import { describe, expect, test } from 'bun:test'
import { nextFollowing } from './following.ts'

const at = (top: number, bottom = 1_000, height = 100) => ({ top, height, bottom })

describe('nextFollowing', () => {
  test.each([
    ['continues at the end', true, at(900), at(900), true],
    ['stops with the first pixels upward, near the end', true, at(900), at(890), false],
    ['stays off while scrolling up', false, at(500), at(400), false],
    ['stays off on the way down', false, at(400), at(500), false],
    ['is on again near the end', false, at(500), at(840), true],
    ['is not on again far from it', false, at(500), at(830), false],
    ['continues when the content shrinks', true, at(900), at(700, 800), true],
    ['continues when the content shrinks and has grown again', true, at(900), at(650, 950), true],
    ['stays off when the content shrinks', false, at(900), at(650, 950), false],
    ['continues when the content grows, before scrolling', true, at(900), at(900, 2_000), true],
    ['continues while it catches up', true, at(900), at(1_200, 2_000), true],
    ['continues when the window grows', true, at(900), at(850, 1_000, 150), true],
  ])('%s', (_, isFollowing, before, now, expected) => {
    expect(nextFollowing(isFollowing, before, now)).toBe(expected)
  })
})
