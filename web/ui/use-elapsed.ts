import { useEffect, useState } from 'react'

/** Returns whether the component has been mounted for `ms`. Delays loading indicators that would only flash. */
export function useElapsed(ms: number): boolean {
  const [hasElapsed, setElapsed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setElapsed(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return hasElapsed
}
