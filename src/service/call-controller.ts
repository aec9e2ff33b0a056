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
