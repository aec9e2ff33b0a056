import { useEffect, useState } from 'react'
import { useVisible } from './use-visible.ts'

/**
 * Returns the time in Unix milliseconds. Renders the component every `everyMs` while the page is visible, and when it
 * becomes visible again.
 */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return undefined
    const update = (): void => setNow((before) => (Date.now() - before < everyMs / 2 ? before : Date.now()))
    update()
    const timer = setInterval(update, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, isVisible])
  return now
}
