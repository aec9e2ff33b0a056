import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { watchdog } from './watchdog.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function subject(limitMs = 1_000) {
  let expired = 0
  const dog = watchdog(limitMs, () => {
    expired += 1
  })
  return { dog, expired: () => expired }
}

describe('a watchdog', () => {
  test('expires once without a touch', () => {
    const { expired } = subject()
    jest.advanceTimersByTime(999)
    expect(expired()).toBe(0)
    jest.advanceTimersByTime(2)
    expect(expired()).toBe(1)
    jest.advanceTimersByTime(100_000)
    expect(expired()).toBe(1)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('starts again at every touch', () => {
    const { dog, expired } = subject()
    for (let time = 0; time < 10; time += 1) {
      jest.advanceTimersByTime(900)
      dog.touch()
    }
    jest.advanceTimersByTime(999)
    expect(expired()).toBe(0)
    jest.advanceTimersByTime(2)
    expect(expired()).toBe(1)
  })

  test('reads sockets before it expires when its timer is late', () => {
    const { dog, expired } = subject()
    // The process was suspended: its timers run first, then its sockets.
    jest.advanceTimersByTime(1_000)
    dog.touch()
    jest.advanceTimersByTime(999)
    expect(expired()).toBe(0)
    jest.advanceTimersByTime(2)
    expect(expired()).toBe(1)
  })

  test('counts a waiting event as a touch', () => {
    let isBehind = true,
      expired = 0
    watchdog(
      1_000,
      () => {
        expired += 1
      },
      () => isBehind,
    )
    jest.advanceTimersByTime(3_500)
    isBehind = false
    jest.advanceTimersByTime(400)
    expect(expired).toBe(0)
    jest.advanceTimersByTime(1_000)
    expect(expired).toBe(1)
  })

  test('does not expire while it is paused', () => {
    const { dog, expired } = subject()
    dog.pause()
    jest.advanceTimersByTime(100_000)
    expect(expired()).toBe(0)
    dog.touch()
    jest.advanceTimersByTime(2_000)
    expect(expired()).toBe(1)
  })

  test('expires at most one limit late after a pause', () => {
    const { dog, expired } = subject()
    jest.advanceTimersByTime(500)
    dog.pause()
    jest.advanceTimersByTime(501)
    dog.touch()
    jest.advanceTimersByTime(999)
    expect(expired()).toBe(0)
    jest.advanceTimersByTime(1_001)
    expect(expired()).toBe(1)
  })

  test('never expires after stop', () => {
    const { dog, expired } = subject()
    dog.stop()
    dog.touch()
    jest.advanceTimersByTime(100_000)
    expect(expired()).toBe(0)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('needs one timer for any number of touches', () => {
    const { dog } = subject()
    for (let time = 0; time < 1_000; time += 1) dog.touch()
    expect(jest.getTimerCount()).toBe(1)
  })
})
