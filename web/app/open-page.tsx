import { createRoot } from 'react-dom/client'
import { apiClient } from '../api/client.ts'
import { Loading } from '../ui/loading.tsx'
import { Page, start } from './start.tsx'

/**
 * Opens the page: creates the services and renders. Everything that this file imports is in the first script, and every
 * part that loads later shares it (scripts/build-web.ts).
 */
export async function openPage(): Promise<void> {
  /** The response that web/first.ts requested. Used once. */
  let bootResponse: unknown = Reflect.get(globalThis, 'svcBoot')

  const client = apiClient(async (input, init) => {
    const response = input === '/api/boot' ? bootResponse : undefined
    if (!(response instanceof Promise)) return fetch(input, init)
    bootResponse = undefined
    return response as Promise<Response>
  })
  refuseDrops(window)
  const box = document.querySelector('#root')
  const root = box === null ? undefined : createRoot(box)
  root?.render(
    <main>
      <Loading />
    </main>,
  )
  const first = await start(client)
  root?.render(<Page client={client} first={first} />)
  keepOfflineWhenInstalled()
}

/** Path of the service worker (offline-worker.ts). The build replaces it. */
declare const svcOfflineWorker: string

/** Registers the service worker of the installed page. A page in a tab of a browser has none. Never rejects. */
function keepOfflineWhenInstalled(): void {
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

/**
 * Refuses files dropped outside of a drop target: the browser would leave the page and open them. Drop targets call
 * `preventDefault` before the event reaches the window.
 */
function refuseDrops(page: Pick<Window, 'addEventListener'>): void {
  for (const type of ['dragover', 'drop'] as const) {
    page.addEventListener(type, (event) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    })
  }
}
