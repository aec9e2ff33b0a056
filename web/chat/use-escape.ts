import { useEffect, useEffectEvent } from 'react'
import { isComposing } from '../ui/is-composing.ts'
import { isOverlayOpen } from '../ui/is-overlay-open.ts'

/** Runs a function on Escape while `isOn`, unless a dialog or a menu is open. */
export function useEscape(isOn: boolean, run: () => void): void {
  const onEscape = useEffectEvent(run)
  useEffect(() => {
    if (!isOn) return undefined
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event) || isOverlayOpen()) return
      event.preventDefault()
      onEscape()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [isOn])
}
