/**
 * Runs before anything else, as a classic script: takes what may be a token out of the address, before anybody can look there, sets the theme, before anything
 * is painted, and asks who is there, while the rest of the page is on its way.
 */

const { pathname, search, hash } = location
if (search !== '') history.replaceState(null, '', pathname + hash)

try {
  const theme = localStorage.getItem('svc-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Storage is forbidden: the system's theme it is.
}

const boot = fetch('/api/boot', { cache: 'no-store' })
// Whoever takes it up handles its failure; a page that never does has none to tell.
boot.catch(() => {})
Object.assign(globalThis, { svcBoot: boot })
