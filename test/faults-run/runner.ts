import { demandNothingLeft, gauge } from './aftermath.ts'
import type { Gauge } from './aftermath.ts'
import { demandServed } from './ask.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround } from './ground.ts'
import type { Ground } from './ground.ts'

/** What came of one fault. */
export interface Outcome {
  readonly fault: FaultCase
  /** `impossible`: it cannot be made on this machine, and was not. */
  readonly kind: 'held' | 'failed' | 'impossible'
  /** What happened, or why not. */
  readonly words: string
  readonly ms: number
}

/** No fault takes longer. */
const faultMsMax = 90_000

/** Tries faults one after the other, and tells of each as soon as it is over. */
export async function runFaults(
  faults: readonly FaultCase[],
  onOutcome: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  let standing: Standing | undefined
  for (const fault of faults) {
    const started = performance.now()
    const { kind, words } = await attempt(fault, async () => (standing ??= await stand()))
    const outcome: Outcome = { fault, kind, words, ms: performance.now() - started }
    outcomes.push(outcome)
    onOutcome(outcome)
    // What one fault has broken is not to be held against the next.
    if (kind === 'failed' && fault.own === undefined) {
      await Promise.resolve(standing?.ground[Symbol.asyncDispose]()).catch(() => {})
      standing = undefined
    }
  }
  await standing?.ground[Symbol.asyncDispose]()
  return outcomes
}

/**
 * The ground that faults share, and what its process held when it had just become warm: no fault may add to that,
 * however many there were before.
 */
interface Standing {
  readonly ground: Ground
  readonly before: Gauge
}

async function stand(): Promise<Standing> {
  const ground = await openGround({ environment: { SVC_BODY_IDLE_MS: '500', SVC_STALL_MS: '2000' } })
  return { ground, before: await warmGauge(ground) }
}

async function warmGauge(ground: Ground): Promise<Gauge> {
  for (let round = 0; round < 10; round++) await demandServed(ground)
  return gauge(ground)
}

async function attempt(fault: FaultCase, shared: () => Promise<Standing>): Promise<Pick<Outcome, 'kind' | 'words'>> {
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

async function onShared(fault: FaultCase, { ground, before }: Standing): Promise<string> {
  const words = await fault.run(ground)
  await ground.offer()
  await demandNothingLeft(ground, before)
  return words
}

async function onOwn(fault: FaultCase, opened: Ground): Promise<string> {
  await using ground = opened
  const before = await warmGauge(ground)
  const words = await fault.run(ground)
  await demandNothingLeft(ground, ground.starts === 1 ? before : undefined)
  return words
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it is not over within ${faultMsMax / 1_000} s`)), faultMsMax)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
