import { readdirSync } from 'node:fs'
import { cpuSeconds } from '../../bench/cpu.ts'
import { kilobytes } from '../../bench/memory.ts'
import { processTree, readProcessFile } from '../../bench/process-tree.ts'

/** Resources of all processes of a service at one moment. Memory in MiB. */
export interface ServiceGauge {
  readonly processes: number
  /** Sum of the resident sets (VmRSS); shared pages count in each process. */
  readonly residentMiB: number
  /** The same, with shared pages divided among their processes (Pss). */
  readonly proportionalMiB: number
  /** Resident memory without files (RssAnon): allocated memory. */
  readonly anonymousMiB: number
  /** Process id → its anonymous memory. */
  readonly anonymousMiBOf: ReadonlyMap<number, number>
  readonly descriptors: number
  /** User and system time so far, with children that have ended. */
  readonly cpuSeconds: number
}

/** Measures a process and its descendants. */
export function gaugeService(root: number): ServiceGauge {
  const pids = processTree(root).map(({ pid }) => pid)
  const total = (read: (pid: number) => number) => pids.reduce((sum, pid) => sum + read(pid), 0)
  const statusOf = (pid: number, name: string) => kilobytes(readProcessFile(pid, 'status') ?? '', name) / 1024
  const anonymousMiBOf = new Map(pids.map((pid) => [pid, statusOf(pid, 'RssAnon')]))
  return {
    processes: pids.length,
    residentMiB: total((pid) => statusOf(pid, 'VmRSS')),
    proportionalMiB: total((pid) => kilobytes(readProcessFile(pid, 'smaps_rollup') ?? '', 'Pss')) / 1024,
    anonymousMiB: total((pid) => anonymousMiBOf.get(pid) ?? 0),
    anonymousMiBOf,
    descriptors: total(descriptorsOf),
    cpuSeconds: cpuSeconds(root),
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    // The process just ended.
    return 0
  }
}
