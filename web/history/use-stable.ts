import { useCallback, useLayoutEffect, useRef } from 'react'

/**
 * A function that stays the same, and runs the latest of those it was given: what it is handed to need not be drawn
 * anew.
 */
export function useStable<Arguments extends readonly unknown[]>(
  run: (...given: Arguments) => void,
): (...given: Arguments) => void {
  const latest = useRef(run)
  useLayoutEffect(() => {
    latest.current = run
  })
  return useCallback((...given: Arguments) => latest.current(...given), [])
}
