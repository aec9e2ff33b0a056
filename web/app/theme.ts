import { createStore } from '../store.ts'

/** The chosen theme. `system` follows the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'svc-theme'

/** The current theme. web/first.ts sets it before the first paint. */
export const theme = createStore<Theme>(readTheme())

function readTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

/** Sets the theme, and remembers it in this browser. */
export function chooseTheme(next: Theme): void {
  theme.set(next)
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  try {
    if (next === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, next)
  } catch {
    // Storage is forbidden: the theme lasts until the page is closed.
  }
}
