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
  /** A few at most, so an array is enough: of the attempt, of the transport. */
  readonly #listeners: (() => void)[] = []

  get signal(): CallSignal {
    return this
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of this.#listeners.splice(0)) listener()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const listeners = this.#listeners
    const position = listeners.lastIndexOf(listener)
    // Most listeners are removed in the reverse of their order, without a splice, which makes an array.
    if (position === listeners.length - 1) listeners.pop()
    else if (position >= 0) listeners.splice(position, 1)
  }
}
