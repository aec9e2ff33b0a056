/** Measures processor time in milliseconds. Unlike elapsed time, it does not depend on other load. */
export function processorMs(run: () => void): number {
  const before = process.cpuUsage()
  run()
  return process.cpuUsage(before).user / 1_000
}
