import type { CallSignal } from './call-controller.ts'
import type { Changes } from './changes.ts'
import type { Trail } from './trail.ts'

/** What accompanies one request on its way through the layers. */
export interface Call {
  /**
   * Aborts when the caller has left or the request's deadline has passed. No upstream is blamed for an aborted call
   * (failover.md row 40).
   */
  readonly signal: CallSignal
  /** Every attempt of this request so far, in order. Layers append and never remove. */
  readonly trail: Trail
  /** Called before the first content when the upstream shows that it works on the answer: its deadline is extended. */
  onProgress?(): void
  /** Gets the changes of the request for the upstream that is asked. Absent: they are not noted. */
  readonly changes?: Changes | undefined
  /** Tells callers apart, for the health of upstreams. Absent: unknown. */
  callerId?(): string
  /** No other candidate is left to be asked: there is no reason to give this one up early. */
  readonly isLast?: boolean
  /** The request probes an upstream with an open circuit breaker, with a single attempt (failover.md "Breaker"). */
  readonly isProbe?: boolean
}

/** An async function that answers a request. */
export type Service<Request, Reply> = (request: Request, call: Call) => Promise<Reply>

/** Wraps a service with one concern. It does not know its neighbours. */
export type Layer<Request, Reply> = (inner: Service<Request, Reply>) => Service<Request, Reply>

/** Wraps `inner` in `layers`, the first one outermost. The order around a provider is in `app/provider-layers.ts`. */
export function stack<Request, Reply>(
  inner: Service<Request, Reply>,
  ...layers: readonly Layer<Request, Reply>[]
): Service<Request, Reply> {
  return layers.reduceRight((service, layer) => layer(service), inner)
}
