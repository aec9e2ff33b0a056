/** Runs a callback at most once per animation frame. */
export interface FrameScheduler {
  /** Requests a run. Requests before it are merged. */
  request(): void
  /** Cancels the pending run. */
  cancel(): void
}

/** Browser functions used by {@link frameScheduler}. Replaced in tests. */
export interface FrameClock {
  readonly requestAnimationFrame: (run: () => void) => number
  readonly cancelAnimationFrame: (handle: number) => void
  readonly setTimeout: (run: () => void, ms: number) => number
  readonly clearTimeout: (handle: number) => void
}

/** Interval in a hidden tab, which has no animation frames. */
const hiddenMs = 250

/** Runs `draw` at the next animation frame, or after 250 ms in a hidden tab. */
export function frameScheduler(draw: () => void, clock: FrameClock = window): FrameScheduler {
  let due: { readonly frame: number; readonly timer: number } | undefined

  function cancel(): void {
    if (due === undefined) return
    clock.cancelAnimationFrame(due.frame)
    clock.clearTimeout(due.timer)
    due = undefined
  }

  function run(): void {
    cancel()
    draw()
  }

  return {
    request() {
      // Called as methods: browsers require `window` as `this`.
      due ??= { frame: clock.requestAnimationFrame(run), timer: clock.setTimeout(run, hiddenMs) }
    },
    cancel,
  }
}
