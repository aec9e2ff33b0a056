/**
 * Runs before anything else, as a classic script: takes what may be a token out of the address, before anybody can look there, and sets the theme,
 * before anything is painted.
 */

const { pathname, search, hash } = location
if (search !== '') history.replaceState(null, '', pathname + hash)

try {
  const theme = localStorage.getItem('svc-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Storage is forbidden: the system's theme it is.
}
