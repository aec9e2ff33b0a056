import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** What the figures were measured on. Nothing that names the machine. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  readonly system: string
  /** Processes that wanted to run in the minute before, on average: above about 0.5 the machine had other work. */
  readonly loadBefore: number
}

/** Describes this machine. Call before loading it. */
export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1e9),
    kernel: release().split('-')[0] ?? '',
    system: systemName(),
    loadBefore: loadavg()[0] ?? 0,
  }
}

/**
 * The cores this process may use: the proxies get the first, the load and the upstream the second. On one core both are
 * the same.
 */
export function chooseCores(): { readonly proxy: number; readonly load: number } {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  const [first = 0, second = first] = parseCoreList(list)
  return { proxy: first, load: second }
}

/** `0,2-4` → 0, 2, 3, 4 (proc_pid_status(5)). */
export function parseCoreList(list: string): readonly number[] {
  return list.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, at) => from + at)
  })
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux'
  } catch {
    // Not every Linux has the file.
    return 'Linux'
  }
}
