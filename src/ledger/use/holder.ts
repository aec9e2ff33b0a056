import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '../../base/error-code.ts'

/** A process whose holds were written this long ago has ended, if nothing better is known of it. Milliseconds. */
export const holderSilentMs = 30_000

/** The name of this process: its machine and start, then its number, and when the process began. */
export function ownHolder(): string {
  return `${machine()} ${process.pid} ${startOf(process.pid) ?? ''}`
}

/**
 * Whether a process has ended. `undefined`: it ran on another machine, or in another container, where this one cannot
 * see it.
 *
 * @param holder as {@link ownHolder} of the process
 */
export function hasEnded(holder: string): boolean | undefined {
  const [name, pid = '', start = ''] = holder.split(' ')
  if (name !== machine() || !/^[1-9]\d*$/.test(pid)) return undefined
  return start === '' ? !isThere(Number(pid)) : startOf(Number(pid)) !== start
}

/** Processes are numbered anew in each container, and by each start of the machine. */
function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname().replaceAll(/\s/g, '')
  }
}

/** When a process began; `undefined`: it has ended, or the system does not tell. */
function startOf(pid: number): string | undefined {
  try {
    // The second field is the program in parentheses, which may have spaces; the 3rd is the state, the 22nd the start.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}
