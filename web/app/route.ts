import { useSyncExternalStore } from 'react'

const otherViews = ['compare', 'providers', 'requests', 'usage', 'keys', 'limits', 'audit'] as const

/** The view shown, with its parameters. Stored in the address after `#`. */
export type Route = { readonly view: 'chat'; readonly id?: string } | { readonly view: (typeof otherViews)[number] }

const newChat: Route = { view: 'chat' }
let cached: { readonly hash: string; readonly route: Route } = { hash: '', route: newChat }

/** Parses a location hash. Anything unknown is a new chat. */
export function parseHash(hash: string): Route {
  const [, view = '', id = ''] = /^#\/([a-z]*)\/?([\w-]{0,64})/.exec(hash) ?? []
  const other = otherViews.find((each) => each === view)
  if (other !== undefined) return { view: other }
  return view === 'chat' && id !== '' ? { view, id } : newChat
}

/** Returns the title of a view: its name with a capital. */
export function titleOf(view: Route['view']): string {
  return view.charAt(0).toUpperCase() + view.slice(1)
}

/** Returns the link to a route. */
export function hrefOf(route: Route): string {
  if (route.view !== 'chat') return `#/${route.view}`
  return route.id === undefined ? '#/' : `#/chat/${route.id}`
}

/** Navigates to a route. @param replaces replaces the current entry of the browser's history */
export function navigate(route: Route, { replaces = false }: { readonly replaces?: boolean } = {}): void {
  if (replaces) location.replace(hrefOf(route))
  else location.hash = hrefOf(route)
}

/** Returns the current route: the same object until the hash changes. */
export function currentRoute(): Route {
  if (location.hash !== cached.hash) cached = { hash: location.hash, route: parseHash(location.hash) }
  return cached.route
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

/** Returns the current route, in a component. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute)
}
