import { processTree } from './process-tree.ts'

/** Clock ticks of `/proc`: always 100 a second on Linux (proc_pid_stat(5), `_SC_CLK_TCK`). */
const ticksPerSecond = 100

/**
 * CPU time of a process, its threads and its descendants so far, in seconds, to 10 ms. It is the kernel's accounting,
 * not a sample.
 */
export function cpuSeconds(root: number): number {
  return processTree(root).reduce((sum, account) => sum + account.cpuTicks, 0) / ticksPerSecond
}
