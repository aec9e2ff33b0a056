import { processTree, readProcessFile } from './process-tree.ts'

/** Memory of a process and its descendants, in MB (10^6 bytes). */
export interface MemoryUse {
  /** Sum of the resident sets. Pages that several of the processes share count in each. */
  readonly residentMb: number
  /** The same with a shared page divided among those that share it. */
  readonly proportionalMb: number
}

/** Their resident memory at this moment, MB. Cheaper to ask for than the proportional one. */
export function residentMb(root: number): number {
  return toMegabytes(
    processTree(root).reduce((sum, { pid }) => sum + kilobytes(readProcessFile(pid, 'status') ?? '', 'VmRSS'), 0),
  )
}

/**
 * Runs `work` and gives the most resident memory that was seen meanwhile, looking every `everyMs`; `onLook` hears of
 * each look.
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

/** The value of a line such as `VmRSS: 5120 kB`; 0 when there is none. */
export function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
}

function toMegabytes(kibibytes: number): number {
  return (kibibytes * 1024) / 1e6
}
