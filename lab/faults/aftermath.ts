import { metric } from '../../test/client.ts'
import { residentMb } from '../../test/fakes/memory.ts'
import { childrenOf, descriptorsOf } from '../../test/process-tree.ts'
import { demandServed } from './ask.ts'
import { demand } from './fault-case.ts'
import type { Testbed } from './testbed.ts'

/** Resources of a service, summed over its processes. */
export interface Gauge {
  readonly descriptors: number
  readonly memoryMiB: number
  readonly streams: number
}

/** Time to come back after a fault. The runtime returns memory some ten seconds after it was last busy. */
const settleMsMax = 15_000
/** Allowed increase: idle connections stay open for the next request, and some files are opened late. */
export const descriptorsMore = 16
/** Allowed increase of resident memory: the allocator keeps pages for a while. */
export const memoryMoreMiB = 64

/** Log message of an internal error. */
const internalError = 'internal error'

/** Measures the service of a testbed. Linux only. */
export async function gauge({ service, headers }: Testbed): Promise<Gauge> {
  const streams = await metric(service.url, 'svc_streams_open', headers)
  const processes = [service.pid, ...childrenOf(service.pid)]
  return { streams, descriptors: sum(processes.map(descriptorsOf)), memoryMiB: sum(processes.map(residentMb)) }
}

/**
 * Demands that a fault left nothing behind: a good request works, plain and streamed; the log has no internal error; no
 * stream is open; descriptors and memory are back.
 *
 * @param before measurement of the same process; absent when the fault ended that process
 * @throws when that does not hold within `settleMs`
 */
export async function demandNothingLeft(
  testbed: Testbed,
  before: Gauge | undefined,
  settleMs = settleMsMax,
): Promise<void> {
  await demandServed(testbed)
  const line = testbed.service.output.split('\n').find((each) => each.includes(internalError))
  demand(line === undefined, `the service has no internal error:\n${line}`)
  const end = performance.now() + settleMs
  for (;;) {
    const found = complaints(before, await gauge(testbed))
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
