import type { JsonCursor } from './json-cursor.ts'

/**
 * Bytes between two places where a walk may pause. They take some microseconds for images, up to 5 ms for very small
 * parts.
 */
export const sliceBytes = 16 * 1024

/** Bodies up to this size are walked in one go: larger ones may take longer than a turn of the event loop should. */
export const unslicedBytesMax = 64 * 1024

/** Milliseconds of work in one turn of the event loop. */
const turnMs = 2

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

/** Runs a walk to its end, awaiting `pause` after each two milliseconds of work. */
export async function runInSlices<Result>(walk: Walk<Result>, pause: () => Promise<void>): Promise<Result> {
  let started = performance.now()
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
    step.value.limit += sliceBytes
    if (performance.now() - started < turnMs) continue
    await pause()
    started = performance.now()
  }
}

/** Passes the next value, yielding at the pace's limits. */
export function* skip(cursor: JsonCursor, pace: Pace): Walk<void> {
  while (!cursor.skip(pace.limit)) yield pace
}
