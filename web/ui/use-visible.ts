import { useSyncExternalStore } from 'react'

/** Whether the page can be seen: not in a hidden tab. */
export function useVisible(): boolean {
  return useSyncExternalStore(subscribe, isVisible)
}

function subscribe(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

function isVisible(): boolean {
  return document.visibilityState === 'visible'
}
