import { spyOn } from 'bun:test'

/** Counts the pauses of a walk, whose clock moves on by a millisecond at each look until this is disposed. */
export function countedPauses(): Disposable & { readonly pause: () => Promise<void>; readonly count: () => number } {
  let count = 0
  let ms = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => ++ms)
  return {
    pause: async () => void count++,
    count: () => count,
    [Symbol.dispose]: () => clock.mockRestore(),
  }
}
