import { readdirSync } from 'node:fs'
import { cpuSeconds } from '../../bench/cpu.ts'
import { kilobytes } from '../../bench/memory.ts'
import { processTree, readProcessFile } from '../../bench/process-tree.ts'

/** What the processes of a service hold at one moment, in all. Memory in MiB. */
export interface ServiceGauge {
  readonly processes: number
  /** Sum of the resident sets (VmRSS); pages that processes share count in each. */
  readonly residentMiB: number
  /** The same with shared pages divided among those that share them (Pss). */
  readonly proportionalMiB: number
  /** Resident memory that no file stands behind (RssAnon): what they have allocated. */
  readonly anonymousMiB: number
  /** The same of each process, by its id. */
  readonly anonymousMiBOf: ReadonlyMap<number, number>
  readonly descriptors: number
  /** User and system time so far, also of children that have ended. */
  readonly cpuSeconds: number
}

/** Looks at a process and all that descend from it. */
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
    // It ended in this moment.
    return 0
  }
}
