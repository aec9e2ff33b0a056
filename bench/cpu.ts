import { processTree } from './process-tree.ts'

/** Linux shows these to programs at 100 a second whatever the kernel's own rate (proc_pid_stat(5), `_SC_CLK_TCK`). */
const ticksPerSecond = 100

/**
 * CPU time that a process, its threads and its descendants have used so far, in seconds, to 10 ms. The kernel's own
 * accounting, not a sample.
 */
export function cpuSeconds(root: number): number {
  return processTree(root).reduce((sum, account) => sum + account.cpuTicks, 0) / ticksPerSecond
}
