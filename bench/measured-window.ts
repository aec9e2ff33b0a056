import { cpuBetween, cpuMeter, type CpuUse } from './cpu.ts'
import { asRecord, numberIn } from './load-address.ts'
import { clockUs } from './upstream-protocol.ts'

/** The part of a load in which figures are taken: after its start and before its end. */
export interface MeasuredWindow {
  readonly elapsedUs: number
  /** CPU time of the proxy. Absent without a proxy. */
  readonly cpu?: CpuUse
}

/**
 * Prepares a window over the CPU time of process `pid` and its descendants. The first call opens the window; the
 * function that it returns closes it.
 */
export function measuredWindow(pid: number | undefined): () => () => MeasuredWindow {
  const read = pid === undefined ? undefined : cpuMeter(pid)
  return () => {
    const before = read?.()
    const openedUs = clockUs()
    return () => {
      const elapsedUs = clockUs() - openedUs
      const after = read?.()
      return { elapsedUs, ...(before === undefined || after === undefined ? {} : { cpu: cpuBetween(before, after) }) }
    }
  }
}

/** @throws Error with the name of the first invalid field */
export function parseMeasuredWindow(fields: Readonly<Record<string, unknown>>): MeasuredWindow {
  const elapsedUs = numberIn(fields, 'elapsedUs')
  if (fields['cpu'] === undefined) return { elapsedUs }
  const cpu = asRecord(fields['cpu'], 'cpu')
  const totalUs = numberIn(cpu, 'totalUs')
  if (cpu['userUs'] === undefined) return { elapsedUs, cpu: { totalUs } }
  return { elapsedUs, cpu: { totalUs, userUs: numberIn(cpu, 'userUs'), kernelUs: numberIn(cpu, 'kernelUs') } }
}
