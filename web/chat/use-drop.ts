import { useEffect, useEffectEvent, useState } from 'react'
import { isOverlayOpen } from '../ui/is-overlay-open.ts'

/**
 * Accepts files dropped anywhere in the window while `isOn`, except on dialogs.
 *
 * @returns whether files are dragged over the window
 */
export function useDrop(isOn: boolean, onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const onDrag = useEffectEvent((event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files') !== true || isOverlayOpen()) return
    setOver(event.type === 'dragover')
    event.preventDefault()
    if (event.type === 'drop') onFiles([...event.dataTransfer.files])
  })
  useEffect(() => {
    if (!isOn) return undefined
    const types = ['dragover', 'dragleave', 'drop'] as const
    for (const type of types) document.addEventListener(type, onDrag)
    return () => {
      for (const type of types) document.removeEventListener(type, onDrag)
      setOver(false)
    }
  }, [isOn])
  return isOver
}
