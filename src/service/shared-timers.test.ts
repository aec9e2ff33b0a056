import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { sharedTimers, type SharedTimer } from './shared-timers.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

describe('a shared timer', () => {
  test('expires once, and not early', () => {
    let expired = 0
    sharedTimers().start(1_000, () => (expired += 1))
    jest.advanceTimersByTime(999)
    expect(expired).toBe(0)
    jest.advanceTimersByTime(2)
    expect(expired).toBe(1)
    jest.advanceTimersByTime(10_000)
    expect(expired).toBe(1)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('that was stopped never expires, and can be stopped again', () => {
    let expired = 0
    const timers = sharedTimers()
    const stopped = timers.start(1_000, () => (expired += 1))
    timers.start(1_000, () => (expired += 10))
    stopped.stop()
    stopped.stop()
    jest.advanceTimersByTime(1_001)
    stopped.stop()
    expect(expired).toBe(10)
  })

  test('has one timer of the runtime for each duration, which ends by itself', () => {
    const timers = sharedTimers()
    for (let count = 0; count < 1_000; count += 1) {
      timers.start(1_000, () => undefined).stop()
      timers.start(2_000, () => undefined)
    }
    expect(jest.getTimerCount()).toBe(2)
    jest.advanceTimersByTime(3_000)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('can be stopped by sockets that are read after the process was suspended', () => {
    let expired = 0
    const timer = sharedTimers().start(1_000, () => (expired += 1))
    // The runtime's timer is late: it runs first, then the sockets.
    jest.advanceTimersByTime(1_000)
    timer.stop()
    jest.advanceTimersByTime(1_000)
    expect(expired).toBe(0)
  })

  test('can start and stop others when it expires', () => {
    const timers = sharedTimers()
    const order: string[] = []
    const start = (name: string): SharedTimer => timers.start(1_000, () => void order.push(name))
    timers.start(1_000, () => {
      second.stop()
      start('fourth')
    })
    const second = start('second')
    start('third')
    jest.advanceTimersByTime(1_001)
    expect(order).toEqual(['third'])
    jest.advanceTimersByTime(1_001)
    expect(order).toEqual(['third', 'fourth'])
  })

  test('does not prevent others from expiring when it throws', () => {
    const timers = sharedTimers()
    let expired = 0
    timers.start(1_000, () => {
      throw new Error('a defect')
    })
    timers.start(1_000, () => (expired += 1))
    jest.advanceTimersByTime(1_000)
    expect(() => jest.advanceTimersByTime(1)).toThrow('a defect')
    jest.advanceTimersByTime(1)
    expect(expired).toBe(1)
  })

  test('expires as a timer of its own would, for any starts and stops', () => {
    const step = fc.record({
      duration: fc.constantFrom(10, 25, 100),
      wait: fc.nat({ max: 40 }),
      lasts: fc.option(fc.nat({ max: 120 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const timers = sharedTimers()
        const missed: string[] = []
        for (const { duration, wait, lasts } of steps) {
          const started = performance.now()
          let isOver = false
          const timer = timers.start(duration, () => {
            const elapsed = performance.now() - started
            if (isOver || elapsed < duration || elapsed > duration + 1) missed.push(`${elapsed} of ${duration}`)
            isOver = true
          })
          if (lasts !== undefined)
            setTimeout(() => {
              timer.stop()
              isOver = true
            }, lasts)
          else
            setTimeout(() => {
              if (!isOver) missed.push('never')
            }, duration + 2)
          jest.advanceTimersByTime(wait)
        }
        jest.advanceTimersByTime(200)
        expect(missed).toEqual([])
        expect(jest.getTimerCount()).toBe(0)
      }),
    )
  })

  test('does not keep the process alive', () => {
    jest.useRealTimers()
    const file = JSON.stringify(join(import.meta.dir, 'shared-timers.ts'))
    const script = `const { sharedTimers } = await import(${file}); sharedTimers().start(60_000, () => {})`
    const { exitCode } = Bun.spawnSync([process.execPath, '-e', script], { timeout: 10_000 })
    expect(exitCode).toBe(0)
  })
})
