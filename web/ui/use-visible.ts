import { useSyncExternalStore } from 'react'

/** Returns whether the page is visible, and follows changes. */
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
