import { readdirSync, readFileSync } from 'node:fs'

/** The kernel's accounting of one process, with all its threads. */
export interface ProcessAccount {
  readonly pid: number
  readonly parent: number
  /** User time of the process and of its children that have ended, in clock ticks. */
  readonly userTicks: number
  /** Kernel time, likewise. */
  readonly kernelTicks: number
}

/**
 * Parses the text of `/proc/PID/stat` (proc_pid_stat(5), fields 1, 4 and 14 to 17).
 *
 * @throws Error when it is malformed
 */
export function parseProcessStat(text: string): ProcessAccount {
  // The name, in brackets, may contain blanks and brackets itself.
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
  return { pid, parent, userTicks: user + childrenUser, kernelTicks: system + childrenSystem }
}

/** A process and its descendants, in no order. Empty when it has ended. */
export function processTree(root: number): readonly ProcessAccount[] {
  return descendants(root, allProcesses())
}

/** Selects `root` and its descendants from `accounts`. */
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

/** Reads a file below `/proc/PID`; undefined when the process has ended. */
export function readProcessFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    // The process has ended since the directory was read.
    return undefined
  }
}
