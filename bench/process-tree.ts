import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel has booked on one process, all its threads included. */
export interface ProcessAccount {
  readonly pid: number
  readonly parent: number
  /** User and system time of the process and of its children that have ended, in clock ticks. */
  readonly cpuTicks: number
}

/**
 * Reads the text of `/proc/PID/stat` (proc_pid_stat(5), fields 1, 4 and 14 to 17).
 *
 * @throws Error when it is not that.
 */
export function parseProcessStat(text: string): ProcessAccount {
  // The name, in brackets, may itself hold blanks and brackets.
  const nameEnd = text.lastIndexOf(')')
  const fields = text
    .slice(nameEnd + 2)
    .trim()
    .split(' ')
  const numbers = [text.slice(0, text.indexOf(' ')), fields[1], ...fields.slice(11, 15)].map(Number)
  const [pid, parent, user, system, childrenUser, childrenSystem] = numbers
  if (
    nameEnd < 0 ||
    pid === undefined ||
    parent === undefined ||
    user === undefined ||
    system === undefined ||
    childrenUser === undefined ||
    childrenSystem === undefined ||
    numbers.some((number) => !Number.isInteger(number))
  ) {
    throw new Error(`not a process stat: ${JSON.stringify(text.slice(0, 80))}`)
  }
  return { pid, parent, cpuTicks: user + system + childrenUser + childrenSystem }
}

/** A process and all that descend from it, in no order. Empty when it is gone. */
export function processTree(root: number): readonly ProcessAccount[] {
  return descendants(root, allProcesses())
}

/** Those of `accounts` that are `root` or descend from it. */
export function descendants(root: number, accounts: readonly ProcessAccount[]): readonly ProcessAccount[] {
  const byParent = Map.groupBy(accounts, (account) => account.parent)
  const found = accounts.filter((account) => account.pid === root)
  for (const account of found) found.push(...(byParent.get(account.pid) ?? []))
  return found
}

function allProcesses(): readonly ProcessAccount[] {
  const accounts: ProcessAccount[] = []
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const text = readProcessFile(Number(entry), 'stat')
    if (text !== undefined) accounts.push(parseProcessStat(text))
  }
  return accounts
}

/** The text of a file below `/proc/PID`; undefined when the process is gone. */
export function readProcessFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    // Processes come and go while the directory is read.
    return undefined
  }
}
