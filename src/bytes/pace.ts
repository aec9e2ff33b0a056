import type { JsonCursor } from './json-cursor.ts'

/**
 * Bytes of a large request that are walked in one turn of the event loop: 0.2 ms of work for images, up to 5 ms for
 * very small parts.
 */
export const sliceBytes = 256 * 1024

/** The offset at which a walk yields. {@link runInSlices} moves it on. */
export interface Pace {
  limit: number
}

/** A walk over a body. It yields when it has passed the pace's limit. */
export type Walk<Result> = Generator<Pace, Result, void>

/** Runs a walk to its end without pausing. */
export function runThrough<Result>(walk: Walk<Result>): Result {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
  }
}

/** Runs a walk to its end, awaiting `pause` each time it yields. */
export async function runInSlices<Result>(walk: Walk<Result>, pause: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
    step.value.limit += sliceBytes
    await pause()
  }
}

/** Passes the next value, yielding at the pace's limits. */
export function* skip(cursor: JsonCursor, pace: Pace): Walk<void> {
  while (!cursor.skip(pace.limit)) yield pace
}
