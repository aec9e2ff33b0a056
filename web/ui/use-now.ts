import { useEffect, useState } from 'react'
import { useVisible } from './use-visible.ts'

/**
 * The time in Unix milliseconds, in a component that is drawn anew every `everyMs` while the page can be seen, and when
 * it can be seen again.
 */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return undefined
    const look = (): void => setNow((before) => (Date.now() - before < everyMs / 2 ? before : Date.now()))
    look()
    const timer = setInterval(look, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, isVisible])
  return now
}
