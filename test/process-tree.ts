import { readdirSync, readFileSync } from 'node:fs'
import { workerVariable } from '../src/cluster/worker-life.ts'

/** The processes that this one has started and that have not ended. Linux only. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter((word) => word !== '')
      .map(Number)
      .filter(isAlive)
  } catch {
    // It has ended.
    return []
  }
}

/** The workers of the service whose primary this is. What builds the page is none. */
export function workersOf(primary: number): readonly number[] {
  return childrenOf(primary).filter(isWorker)
}

function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${workerVariable}=`)
  } catch {
    // It has ended.
    return false
  }
}

/** Whether there is such a process, and it is more than its own remains. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** How many descriptors a process has open; 0 when it has ended. */
export function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}
