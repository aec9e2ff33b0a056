/**
 * The service worker of the installed page: with the service out of reach, `/` and its assets come from a cache. `/` is
 * requested from the service first, so a page is never older than the service. Nothing else is answered or kept: no
 * answer of the API, and no address with a query, which may have a token.
 */

/** The parts of `ServiceWorkerGlobalScope` that are used: TypeScript's library of workers excludes that of pages. */
interface WorkerScope {
  readonly registration: { readonly navigationPreload?: { enable(): Promise<void> } }
  addEventListener(type: 'install' | 'activate', listener: (event: StartEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: RequestEvent) => void): void
  skipWaiting(): Promise<void>
}

interface StartEvent {
  waitUntil(done: Promise<unknown>): void
  /** Requests that need no worker; not in every browser. */
  addRoutes?(routes: readonly object[]): Promise<void>
}

interface RequestEvent {
  readonly request: Request
  readonly preloadResponse: Promise<Response | undefined>
  respondWith(response: Promise<Response>): void
  waitUntil(done: Promise<unknown>): void
}

const scope = globalThis as unknown as WorkerScope
const cacheName = 'svc-page'
/** The links of `/` to its scripts and style. */
const assetLink = /"(\/assets\/[\w.-]+)"/g

scope.addEventListener('install', (event) => {
  const direct = [{ requestMethod: 'POST' }, { urlPattern: '/api/*' }, { urlPattern: '/v1/*' }]
  void event.addRoutes?.(direct.map((condition) => ({ condition, source: 'network' })))
  event.waitUntil(fetch('/').then(keepPage))
  void scope.skipWaiting()
})

scope.addEventListener('activate', (event) => {
  // The browser requests a page while it starts the worker.
  event.waitUntil(scope.registration.navigationPreload?.enable() ?? Promise.resolve())
})

scope.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url)
  if (origin !== location.origin || event.request.method !== 'GET') return
  if (event.request.mode === 'navigate' && pathname === '/') event.respondWith(page(event))
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(event.request))
})

async function page(event: RequestEvent): Promise<Response> {
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request))
    event.waitUntil(keepPage(response.clone()))
    return response
  } catch (error) {
    const kept = await caches.match('/')
    if (kept === undefined) throw error
    return kept
  }
}

/** The content of an asset's address never changes. */
async function asset(request: Request): Promise<Response> {
  const kept = await caches.match(request)
  if (kept !== undefined) return kept
  const response = await fetch(request)
  if (response.ok) await (await caches.open(cacheName)).put(request, response.clone())
  return response
}

/** Keeps `/` with the scripts and the style of its first view, and forgets the assets of other builds. */
async function keepPage(response: Response): Promise<void> {
  if (!response.ok || response.redirected) return
  const cache = await caches.open(cacheName)
  const before = await cache.match('/')
  if (before !== undefined && before.headers.get('etag') === response.headers.get('etag')) return
  const links = [...(await response.clone().text()).matchAll(assetLink)].map(([, link = '']) => link)
  await cache.addAll(links.filter((link, index) => links.indexOf(link) === index))
  await cache.put('/', response)
  const named = new Set(links)
  if (before === undefined) return
  for (const { url } of await cache.keys()) {
    const { pathname } = new URL(url)
    if (pathname !== '/' && !named.has(pathname)) await cache.delete(url)
  }
}
