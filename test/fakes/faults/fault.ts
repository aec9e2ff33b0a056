import type { FailureClass } from '../../../src/service/failure.ts'
import { faultUpstream } from '../fault-upstream.ts'
import type { Hit, Script } from '../fault-upstream.ts'

/** Where a provider entry points, and what was seen there. */
export interface Origin {
  readonly url: string
  readonly hits: readonly Hit[]
  /** Heals it, where that is possible: the next request gets what the script says. */
  use?(script: Script): void
  stop(): void
}

/** One way an upstream fails, by the rows of failover.md. */
export interface Fault {
  /** Names it in a path: `/mode/NAME/v1`. */
  readonly name: string
  readonly row: number
  /** What happens at the provider, as a test's name says it. */
  readonly words: string
  /** The kinds of request it is a fault for. */
  readonly on: 'plain' | 'stream' | 'both'
  /** The class the trail names it by, as docs/failover.md says. */
  readonly failure: FailureClass
  /** The class it may also be named by, where it is the kernel that decides what is seen first. */
  readonly orElse?: FailureClass
  /** Fields of the provider's entry that it needs. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** The status the trail names, when one arrives. */
  readonly status?: number
  /** Requests that reach it before the service moves on. Default 1. */
  readonly hits?: number
  readonly script?: Script
  /** For what is no script: nothing listens, the handshake fails. */
  origin?(): Origin
}

/** Starts the upstream that fails so. */
export function startFault(fault: Fault): Origin {
  return fault.origin?.() ?? faultUpstream(fault.script)
}

/** The kinds of request a fault is a fault for, as values of `stream`. */
export function kindsOf(fault: Fault): readonly boolean[] {
  return fault.on === 'both' ? [false, true] : [fault.on === 'stream']
}
