import { demandNothingLeft, gauge, type Gauge } from './aftermath.ts'
import { demandServed } from './ask.ts'
import type { FaultCase } from './fault-case.ts'
import { openTestbed, type Testbed } from './testbed.ts'

/** Result of one fault case. */
export interface Outcome {
  readonly fault: FaultCase
  /** `impossible`: this machine cannot run the case. */
  readonly kind: 'held' | 'failed' | 'impossible'
  /** The outcome, or the reason of a failure or impossibility. */
  readonly words: string
  readonly ms: number
}

/** Time limit of one fault case. */
const faultMsMax = 90_000

/** Runs fault cases one after the other, and calls `onOutcome` after each. */
export async function runFaults(
  faults: readonly FaultCase[],
  onOutcome: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  let shared: SharedTestbed | undefined
  for (const fault of faults) {
    const started = performance.now()
    const { kind, words } = await attempt(fault, async () => (shared ??= await openShared()))
    const outcome: Outcome = { fault, kind, words, ms: performance.now() - started }
    outcomes.push(outcome)
    onOutcome(outcome)
    // The next fault gets a new testbed.
    if (kind === 'failed' && fault.own === undefined) {
      await Promise.resolve(shared?.testbed[Symbol.asyncDispose]()).catch(() => {})
      shared = undefined
    }
  }
  await shared?.testbed[Symbol.asyncDispose]()
  return outcomes
}

/**
 * The shared testbed, and the resources of its process after warm-up. Every fault is compared with that measurement, so
 * that small leaks add up.
 */
interface SharedTestbed {
  readonly testbed: Testbed
  readonly before: Gauge
}

async function openShared(): Promise<SharedTestbed> {
  const testbed = await openTestbed({ environment: { SVC_BODY_IDLE_MS: '500', SVC_STALL_MS: '2000' } })
  return { testbed, before: await warmGauge(testbed) }
}

async function warmGauge(testbed: Testbed): Promise<Gauge> {
  for (let round = 0; round < 10; round++) await demandServed(testbed)
  return gauge(testbed)
}

async function attempt(
  fault: FaultCase,
  shared: () => Promise<SharedTestbed>,
): Promise<Pick<Outcome, 'kind' | 'words'>> {
  const why = fault.needs?.()
  if (why !== undefined) return { kind: 'impossible', words: why }
  try {
    return {
      kind: 'held',
      words: await inTime(fault.own === undefined ? onShared(fault, await shared()) : onOwn(fault, await fault.own())),
    }
  } catch (error) {
    return { kind: 'failed', words: error instanceof Error ? error.message : String(error) }
  }
}

async function onShared(fault: FaultCase, { testbed, before }: SharedTestbed): Promise<string> {
  const words = await fault.run(testbed)
  await testbed.offer()
  await demandNothingLeft(testbed, before)
  return words
}

async function onOwn(fault: FaultCase, opened: Testbed): Promise<string> {
  await using testbed = opened
  const before = await warmGauge(testbed)
  const words = await fault.run(testbed)
  await demandNothingLeft(testbed, testbed.starts === 1 ? before : undefined)
  return words
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not finished within ${faultMsMax / 1_000} s`)), faultMsMax)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
