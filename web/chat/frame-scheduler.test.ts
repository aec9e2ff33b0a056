import { describe, expect, test } from 'bun:test'
import { frameScheduler } from './frame-scheduler.ts'
import { fakeScheduler } from './testing.ts'

describe('frames', () => {
  test('runs once per frame for any number of requests', () => {
    const clock = fakeScheduler()
    let drawn = 0
    const { request } = frameScheduler(() => {
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

  test('runs without animation frames, too', () => {
    const clock = fakeScheduler()
    let drawn = 0
    frameScheduler(() => {
      drawn++
    }, clock).request()
    clock.timers()
    expect(drawn).toBe(1)
    expect(clock.due()).toBe(0)
  })

  test('does not run after cancel', () => {
    const clock = fakeScheduler()
    let drawn = 0
    const { request, cancel } = frameScheduler(() => {
      drawn++
    }, clock)
    request()
    cancel()
    clock.frame()
    clock.timers()
    expect(drawn).toBe(0)
  })
})
