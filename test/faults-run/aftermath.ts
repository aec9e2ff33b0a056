import { metric } from '../client.ts'
import { residentMb } from '../fakes/memory.ts'
import { childrenOf, descriptorsOf } from '../process-tree.ts'
import { demandServed } from './ask.ts'
import { demand } from './fault-case.ts'
import type { Ground } from './ground.ts'

/** What a service holds, its workers with it. */
export interface Gauge {
  readonly descriptors: number
  readonly memoryMiB: number
  readonly streams: number
}

/**
 * After a fault, everything has so long to come back: the runtime gives memory back some ten seconds after it was last
 * busy.
 */
const settleMsMax = 15_000
/** Connections that are kept for the next request, and files that are opened late, may remain. */
export const descriptorsMore = 16
/** Resident memory may end so much above where it was: the allocator keeps pages for a while. */
export const memoryMoreMiB = 64

/** What the log says of an error that nobody foresaw. */
const mistake = 'a mistake of this service'

/** What the service of a ground holds now. Linux only. */
export async function gauge({ service, headers }: Ground): Promise<Gauge> {
  const streams = await metric(service.url, 'svc_streams_open', headers)
  const processes = [service.pid, ...childrenOf(service.pid)]
  return { streams, descriptors: sum(processes.map(descriptorsOf)), memoryMiB: sum(processes.map(residentMb)) }
}

/**
 * Demands that a fault left nothing behind: a good request works, plain and streamed; the log tells of no mistake; no
 * stream is open; descriptors and memory are back.
 *
 * @param before of the same process; absent when it did not survive, which was the fault
 * @throws when that does not hold within `settleMs`
 */
export async function demandNothingLeft(
  ground: Ground,
  before: Gauge | undefined,
  settleMs = settleMsMax,
): Promise<void> {
  await demandServed(ground)
  demand(
    !ground.service.output.includes(mistake),
    `the service makes no mistake:\n${ground.service.output.split('\n').find((line) => line.includes(mistake)) ?? ''}`,
  )
  const end = performance.now() + settleMs
  for (;;) {
    const found = complaints(before, await gauge(ground))
    if (found.length === 0) return
    if (performance.now() > end) throw new Error(`afterwards ${found.join(' and ')}`)
    await Bun.sleep(100)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function complaints(before: Gauge | undefined, { descriptors, memoryMiB, streams }: Gauge): readonly string[] {
  return [
    ...(streams === 0 ? [] : [`${streams} streams are still open`]),
    ...(before === undefined || descriptors <= before.descriptors + descriptorsMore
      ? []
      : [`descriptors rose from ${before.descriptors} to ${descriptors}`]),
    ...(before === undefined || memoryMiB <= before.memoryMiB + memoryMoreMiB
      ? []
      : [`memory rose from ${before.memoryMiB.toFixed(0)} to ${memoryMiB.toFixed(0)} MiB`]),
  ]
}
