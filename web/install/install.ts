/** Path of the service worker (offline-worker.ts). The build replaces it. */
declare const svcOfflineWorker: string

/** Registers the service worker of the installed page. A page in a tab of a browser has none. Never rejects. */
export function keepOfflineWhenInstalled(): void {
  if (matchMedia('(display-mode: standalone)').matches) register()
  else addEventListener('appinstalled', register, { once: true })
}

/** Rules of the only policy that the page may create (Trusted Types): whatever the text, the path is this one. */
const rules = { createScriptURL: (_text: string) => svcOfflineWorker }

function register(): void {
  if (!('serviceWorker' in navigator)) return
  const { trustedTypes } = globalThis as {
    readonly trustedTypes?: { createPolicy(name: string, allowed: typeof rules): typeof rules }
  }
  const path = (trustedTypes?.createPolicy('offline', rules) ?? rules).createScriptURL('')
  // Without a worker the page needs the service, as in a tab.
  navigator.serviceWorker.register(path, { scope: '/' }).catch(() => {})
}
