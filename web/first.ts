/**
 * Runs before anything else, as a classic script: takes what may be a token out of the address, before anybody can look
 * there, sets the theme, before anything is painted, and asks who is there, while the rest of the page is on its way.
 */

/** Under which a tab remembers what it showed last: signing in leads away from it, and back to `/`. */
const viewKey = 'svc-view'

const { pathname, search, hash } = location
if (search !== '') history.replaceState(null, '', pathname + hash)

try {
  if (hash === '' && search.startsWith('?session='))
    history.replaceState(null, '', pathname + (sessionStorage.getItem(viewKey) ?? ''))
  addEventListener('pagehide', () => sessionStorage.setItem(viewKey, location.hash))
  const theme = localStorage.getItem('svc-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Storage is forbidden: the system's theme it is.
}

const boot = fetch('/api/boot', { cache: 'no-store' })
// Whoever takes it up handles its failure; a page that never does has none to tell.
boot.catch(() => {})
Object.assign(globalThis, { svcBoot: boot })
