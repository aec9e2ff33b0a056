import { readdirSync } from 'node:fs'
import { parseProcessStat, processTree, readProcessFile } from './process-tree.ts'

/** Clock ticks of `/proc`: always 100 a second on Linux (proc_pid_stat(5), `_SC_CLK_TCK`). */
const ticksPerSecond = 100
/** Ticks below which a share of user and kernel time is chance. */
const splitTicksMin = 10

/**
 * CPU time of a process, its threads and its descendants so far, in seconds, to 10 ms. It is the kernel's accounting,
 * not a sample.
 */
export function cpuSeconds(root: number): number {
  const ticks = processTree(root).reduce((sum, { userTicks, kernelTicks }) => sum + userTicks + kernelTicks, 0)
  return ticks / ticksPerSecond
}

/** CPU time of some processes so far. */
export interface CpuReading {
  readonly userTicks: number
  readonly kernelTicks: number
  /** Time on a processor of the threads that live, in nanoseconds. */
  readonly scheduledNs: number
}

/** CPU time between two readings, in microseconds. */
export interface CpuUse {
  readonly totalUs: number
  /** User time by the kernel's ticks. Absent below 100 ms of CPU time, where ticks are too coarse. */
  readonly userUs?: number
  readonly kernelUs?: number
}

/**
 * Makes a reader of the CPU time of a process and its descendants at this moment. Later descendants are missing; a
 * reading takes about 0.1 ms.
 */
export function cpuMeter(root: number): () => CpuReading {
  const pids = processTree(root).map(({ pid }) => pid)
  return () => pids.map(readingOf).reduce(sumOf, { userTicks: 0, kernelTicks: 0, scheduledNs: 0 })
}

/** Subtracts two readings of one meter. */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuUse {
  const userTicks = after.userTicks - before.userTicks
  const ticks = userTicks + after.kernelTicks - before.kernelTicks
  // Threads that ended meanwhile are missing in scheduledNs but not in the ticks, which are rounded by up to two.
  const ticksUs = (Math.max(ticks - 2, 0) * 1e6) / ticksPerSecond
  const totalUs = Math.max((after.scheduledNs - before.scheduledNs) / 1000, ticksUs)
  if (ticks < splitTicksMin) return { totalUs }
  const userUs = (totalUs * userTicks) / ticks
  return { totalUs, userUs, kernelUs: totalUs - userUs }
}

/** Metrics of the CPU time for each of `count` requests or chunks; none without CPU time or a count. */
export function cpuFigures(
  { elapsedUs, cpu }: { readonly elapsedUs: number; readonly cpu?: CpuUse },
  count: number,
): Readonly<Record<string, number>> {
  if (cpu === undefined || count === 0) return {}
  const { totalUs, userUs, kernelUs } = cpu
  const split =
    userUs === undefined || kernelUs === undefined ? {} : { userUs: userUs / count, kernelUs: kernelUs / count }
  return { cpuUs: totalUs / count, ...split, busyPercent: (totalUs / elapsedUs) * 100 }
}

function readingOf(pid: number): CpuReading {
  const text = readProcessFile(pid, 'stat')
  const { userTicks, kernelTicks } = text === undefined ? { userTicks: 0, kernelTicks: 0 } : parseProcessStat(text)
  return { userTicks, kernelTicks, scheduledNs: threadsOf(pid).reduce((sum, id) => sum + scheduledNs(pid, id), 0) }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // The process has ended.
    return []
  }
}

/**
 * Reads the first number of `/proc/PID/task/TID/schedstat`: time on a processor (sched-stats(5) of the kernel's
 * documents).
 */
function scheduledNs(pid: number, thread: string): number {
  return Number(readProcessFile(pid, `task/${thread}/schedstat`)?.split(' ')[0] ?? 0)
}

function sumOf(one: CpuReading, other: CpuReading): CpuReading {
  return {
    userTicks: one.userTicks + other.userTicks,
    kernelTicks: one.kernelTicks + other.kernelTicks,
    scheduledNs: one.scheduledNs + other.scheduledNs,
  }
}
