import { createStore } from '../store.ts'

/** A person's choice; `system`: what the machine says. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'svc-theme'

/** The theme in force. web/first.ts sets it before the first paint. */
export const theme = createStore<Theme>(readTheme())

function readTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

/** Chooses a theme, for this browser. */
export function chooseTheme(next: Theme): void {
  theme.set(next)
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  try {
    if (next === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, next)
  } catch {
    // Storage is forbidden: it holds until the page is closed.
  }
}
