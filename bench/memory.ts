import { processTree, readProcessFile } from './process-tree.ts'

/** Memory of a process and its descendants, in MB (10^6 bytes). */
export interface MemoryUse {
  /** Sum of the resident sets. Pages that several of the processes share count in each. */
  readonly residentMb: number
  /** The same with a shared page divided among those that share it. */
  readonly proportionalMb: number
}

/** What a process and its descendants hold at this moment. */
export function memoryUse(root: number): MemoryUse {
  let resident = 0
  let proportional = 0
  for (const { pid } of processTree(root)) {
    resident += kilobytes(readProcessFile(pid, 'status') ?? '', 'VmRSS')
    proportional += kilobytes(readProcessFile(pid, 'smaps_rollup') ?? '', 'Pss')
  }
  return { residentMb: toMegabytes(resident), proportionalMb: toMegabytes(proportional) }
}

/** The value of a line such as `VmRSS:     5120 kB`; 0 when there is none. */
export function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
}

function toMegabytes(kibibytes: number): number {
  return (kibibytes * 1024) / 1e6
}
