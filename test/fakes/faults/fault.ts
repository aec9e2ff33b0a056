import type { FailureClass } from '../../../src/service/failure.ts'
import { faultUpstream, type Hit, type Script } from '../fault-upstream.ts'

/** Server of a provider entry, and its requests. */
export interface Origin {
  readonly url: string
  readonly hits: readonly Hit[]
  /** Replaces the fault by a script, where that is possible. */
  use?(script: Script): void
  stop(): void
}

/** A failure of an upstream, by the rows of failover.md. */
export interface Fault {
  /** Name in a path: `/mode/NAME/v1`. */
  readonly name: string
  readonly row: number
  /** The fault in words, for names of tests. */
  readonly words: string
  /** Kinds of request for which it is a fault. */
  readonly on: 'plain' | 'stream' | 'both'
  /** Failure class in the trail, by docs/failover.md. */
  readonly failure: FailureClass
  /** Another possible class, where the order of events depends on the kernel. */
  readonly orElse?: FailureClass
  /** Additional fields of the provider's entry. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** Status in the trail, when one arrives. */
  readonly status?: number
  /** Requests before the failover. Default 1. */
  readonly hits?: number
  readonly script?: Script
  /** Starts a server whose fault is no script: nothing listens, or the handshake fails. */
  origin?(): Origin
}

/** Starts an upstream with this fault. */
export function startFault(fault: Fault): Origin {
  return fault.origin?.() ?? faultUpstream(fault.script)
}

/** Kinds of request of a fault, as values of `stream`. */
export function kindsOf(fault: Fault): readonly boolean[] {
  return fault.on === 'both' ? [false, true] : [fault.on === 'stream']
}
