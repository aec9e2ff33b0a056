/** Draws at most once a frame. */
export interface Frames {
  /** Asks for a drawing; more while one is due are one. */
  request(): void
  /** None is due any more. */
  cancel(): void
}

/** What {@link frames} needs of a browser; for tests, another. */
export interface FrameClock {
  readonly requestAnimationFrame: (run: () => void) => number
  readonly cancelAnimationFrame: (handle: number) => void
  readonly setTimeout: (run: () => void, ms: number) => number
  readonly clearTimeout: (handle: number) => void
}

/** A hidden tab has no frames: then this often. */
const hiddenMs = 250

/** Draws with the next frame of the browser, or after 250 ms where there are none. */
export function frames(draw: () => void, clock: FrameClock = window): Frames {
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
      // Methods of window: they are called on it.
      due ??= { frame: clock.requestAnimationFrame(run), timer: clock.setTimeout(run, hiddenMs) }
    },
    cancel,
  }
}
