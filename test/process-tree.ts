import { readdirSync, readFileSync } from 'node:fs'
import { workerVariable } from '../src/cluster/worker-lifecycle.ts'

/** Running children of a process. Linux only. */
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

/** Workers of a primary, without the process that builds the page. */
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

/** Whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Number of open descriptors of a process; 0 when it has ended. */
export function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Names of the threads of a process. Linux only. */
export function threadsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim())
}
