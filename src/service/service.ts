import type { Changes } from './changes.ts'
import type { AttemptTrace, Trail } from './trail.ts'

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
  /** Absent: the request is not traced. */
  readonly trace?: AttemptTrace | undefined
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

/** The part of an `AbortSignal` that its listeners use. Every `AbortSignal` is one. */
export interface CallSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Aborts a {@link CallSignal}. */
export interface CallController {
  readonly signal: CallSignal
  /** Aborts the signal. Later calls do nothing. */
  abort(reason: unknown): void
}

/**
 * A light `AbortController`. Every request needs several, and the platform's cost some 5 µs a request
 * (docs/decisions/0003-call-signal.md). Each listener is called once.
 */
export function callController(): CallController {
  return new LightController()
}

class LightController implements CallController, CallSignal {
  aborted = false
  reason: unknown = undefined
  /** Nearly all signals have one listener: of the attempt, or of the transport. */
  #listener: (() => void) | undefined
  #others: (() => void)[] | undefined

  get signal(): CallSignal {
    return this
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = [this.#listener, ...(this.#others ?? [])]
    this.#listener = this.#others = undefined
    for (const listener of listeners) listener?.()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listener === undefined) this.#listener = listener
    else (this.#others ??= []).push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const others = this.#others
    if (this.#listener === listener) this.#listener = others?.shift()
    else if (others !== undefined && others.includes(listener)) others.splice(others.indexOf(listener), 1)
  }
}
