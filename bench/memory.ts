import { processTree, readProcessFile } from './process-tree.ts'

/** Memory of a process and its descendants, in MB (10^6 bytes). */
export interface MemoryUse {
  /** Sum of the resident sets. Shared pages count in each process. */
  readonly residentMb: number
  /** The same, with shared pages divided among their processes. */
  readonly proportionalMb: number
}

/** Current resident memory of a process and its descendants, MB. Cheaper than {@link memoryUse}. */
export function residentMb(root: number): number {
  return toMegabytes(
    processTree(root).reduce((sum, { pid }) => sum + kilobytes(readProcessFile(pid, 'status') ?? '', 'VmRSS'), 0),
  )
}

/**
 * Runs `work` and samples resident memory every `everyMs`. Calls `onLook` with each sample. @returns the highest
 * sample, MB
 */
export async function peakResidentMb(
  root: number,
  work: () => Promise<unknown>,
  everyMs = 250,
  onLook: (mb: number) => void = () => {},
): Promise<number> {
  let peakMb = residentMb(root)
  const look = (): void => {
    const mb = residentMb(root)
    peakMb = Math.max(peakMb, mb)
    onLook(mb)
  }
  const timer = setInterval(look, everyMs)
  try {
    await work()
    look()
    return peakMb
  } finally {
    clearInterval(timer)
  }
}

/** Current memory of a process and its descendants. */
export function memoryUse(root: number): MemoryUse {
  let resident = 0
  let proportional = 0
  for (const { pid } of processTree(root)) {
    resident += kilobytes(readProcessFile(pid, 'status') ?? '', 'VmRSS')
    proportional += kilobytes(readProcessFile(pid, 'smaps_rollup') ?? '', 'Pss')
  }
  return { residentMb: toMegabytes(resident), proportionalMb: toMegabytes(proportional) }
}

/** Parses a line such as `VmRSS: 5120 kB`; 0 when it is missing. */
export function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
}

function toMegabytes(kibibytes: number): number {
  return (kibibytes * 1024) / 1e6
}
