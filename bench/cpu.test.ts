import { describe, expect, test } from 'bun:test'
import { cpuBetween, cpuFigures, cpuMeter } from './cpu.ts'

const before = { userTicks: 100, kernelTicks: 50, scheduledNs: 5e9 }

describe('cpuBetween', () => {
  test('is the time on a processor, divided by the ticks', () => {
    const after = { userTicks: 130, kernelTicks: 60, scheduledNs: 5.42e9 }
    expect(cpuBetween(before, after)).toEqual({ totalUs: 420_000, userUs: 315_000, kernelUs: 105_000 })
  })

  test('has no user and kernel time for a few ticks', () => {
    const after = { userTicks: 103, kernelTicks: 52, scheduledNs: 5.051e9 }
    expect(cpuBetween(before, after)).toEqual({ totalUs: 51_000 })
  })

  test('is not less than the ticks, which know threads that have ended', () => {
    const after = { userTicks: 200, kernelTicks: 52, scheduledNs: 5.1e9 }
    expect(cpuBetween(before, after).totalUs).toBe(1_000_000)
  })
})

describe('cpuFigures', () => {
  test('are for each request', () => {
    const cpu = { totalUs: 500_000, userUs: 300_000, kernelUs: 200_000 }
    expect(cpuFigures({ elapsedUs: 1e6, cpu }, 1000)).toEqual({
      cpuUs: 500,
      userUs: 300,
      kernelUs: 200,
      busyPercent: 50,
    })
  })

  test('are none without a process', () => {
    expect(cpuFigures({ elapsedUs: 1e6 }, 1000)).toEqual({})
  })
})

describe('cpuMeter', () => {
  test.skipIf(process.platform !== 'linux')('reads the time of this process', () => {
    const read = cpuMeter(process.pid)
    const first = read()
    const untilMs = performance.now() + 20
    while (performance.now() < untilMs);
    expect(cpuBetween(first, read()).totalUs).toBeGreaterThan(1000)
  })
})
