import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Description of the machine, without its name. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  readonly system: string
  /** Load average of the last minute before the run: above about 0.5 the machine had other work. */
  readonly loadBefore: number
}

/** Describes this machine. Call it before the load. */
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

/** Time of all processors so far, in clock ticks. */
export interface ProcessorTicks {
  readonly total: number
  /** Time in which the host gave a processor of this virtual machine to others. */
  readonly stolen: number
}

/** Time of all processors of this machine so far. */
export function processorTicks(): ProcessorTicks {
  return parseProcessorTicks(readFileSync('/proc/stat', 'utf8'))
}

/** Parses the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export function parseProcessorTicks(text: string): ProcessorTicks {
  const fields = /^cpu +(.+)$/m.exec(text)?.[1]?.split(' ').slice(0, 8).map(Number) ?? []
  return { total: fields.reduce((sum, ticks) => sum + ticks, 0), stolen: fields[7] ?? 0 }
}

/** Share of the time between two readings that the host took, in percent. */
export function stealPercent(before: ProcessorTicks, after: ProcessorTicks): number {
  const total = after.total - before.total
  return total <= 0 ? 0 : ((after.stolen - before.stolen) / total) * 100
}

/**
 * Chooses cores among those of this process: the first for proxies, the second for the load and the upstream. With one
 * core both are the same.
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
    // Some distributions lack the file.
    return 'Linux'
  }
}
