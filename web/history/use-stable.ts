import { useCallback, useLayoutEffect, useRef } from 'react'

/**
 * Returns a function whose identity never changes and which runs the latest `run`. Components that receive it need not
 * render again.
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
