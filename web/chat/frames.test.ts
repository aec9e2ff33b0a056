import { describe, expect, test } from 'bun:test'
import { frames } from './frames.ts'
import { fakeFrames } from './testing.ts'

describe('frames', () => {
  test('draws once a frame, however often it is asked', () => {
    const clock = fakeFrames()
    let drawn = 0
    const { request } = frames(() => {
      drawn++
    }, clock)
    request()
    request()
    expect(drawn).toBe(0)
    clock.frame()
    expect(drawn).toBe(1)
    request()
    clock.frame()
    expect(drawn).toBe(2)
    expect(clock.due()).toBe(0)
  })

  test('draws where there are no frames', () => {
    const clock = fakeFrames()
    let drawn = 0
    frames(() => {
      drawn++
    }, clock).request()
    clock.timers()
    expect(drawn).toBe(1)
    expect(clock.due()).toBe(0)
  })

  test('draws nothing that was cancelled', () => {
    const clock = fakeFrames()
    let drawn = 0
    const { request, cancel } = frames(() => {
      drawn++
    }, clock)
    request()
    cancel()
    clock.frame()
    clock.timers()
    expect(drawn).toBe(0)
  })
})
