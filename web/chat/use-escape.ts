import { useEffect, useEffectEvent } from 'react'
import { isCovered } from '../ui/is-covered.ts'

/** Runs something at Escape while `isOn`, unless there is something open that Escape closes. */
export function useEscape(isOn: boolean, run: () => void): void {
  const onEscape = useEffectEvent(run)
  useEffect(() => {
    if (!isOn) return undefined
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || isCovered()) return
      event.preventDefault()
      onEscape()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [isOn])
}
