/**
 * Runs before the rest of the page, as a classic script. Removes the query, which may hold a token, from the address;
 * sets the theme before the first paint; requests `/api/boot` while the page loads.
 */

/** Session storage key of the view a tab showed last. Signing in leaves the page and returns to `/`. */
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
  // Storage is forbidden: the system's theme applies.
}

const boot = fetch('/api/boot', { cache: 'no-store' })
// main.tsx handles the failure. A page that never reaches it must not report an unhandled rejection.
boot.catch(() => {})
Object.assign(globalThis, { svcBoot: boot })
