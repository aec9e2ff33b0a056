import type { JsonCursor } from './json-cursor.ts'

/**
 * After how many bytes a large request lets others run: a fifth of a millisecond of work for images, up to five for
 * very small parts.
 */
export const sliceBytes = 256 * 1024

/** The offset at which the walk lets others run. `runInSlices` moves it on. */
export interface Pace {
  limit: number
}

/** A walk that stops now and then, always having passed the pace's limit. */
export type Walk<Result> = Generator<Pace, Result, void>

/** Runs a walk to its end, whatever its pace. */
export function runThrough<Result>(walk: Walk<Result>): Result {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
  }
}

/** Runs a walk to its end, awaiting `pause` wherever it stops. */
export async function runInSlices<Result>(walk: Walk<Result>, pause: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
    step.value.limit += sliceBytes
    await pause()
  }
}

/** Passes the next value, stopping at the pace's limits. */
export function* skip(cursor: JsonCursor, pace: Pace): Walk<void> {
  while (!cursor.skip(pace.limit)) yield pace
}
