import { useSyncExternalStore } from 'react'
import { say } from '../texts/say.ts'

const otherViews = ['compare', 'providers', 'models', 'requests', 'usage', 'keys', 'limits', 'people', 'audit'] as const

/**
 * Views with a part that the address names: `add` for a provider, a request, `new` or the place of a limit, `new` for a
 * key.
 */
const viewsWithId = ['providers', 'requests', 'limits', 'keys'] as const

/** The view shown, with its parameters. Stored in the address after `#`. */
export type Route =
  | { readonly view: 'chat' | (typeof viewsWithId)[number]; readonly id?: string }
  | { readonly view: Exclude<(typeof otherViews)[number], (typeof viewsWithId)[number]> }

const newChat: Route = { view: 'chat' }
let cached: { readonly hash: string; readonly route: Route } = { hash: '', route: newChat }

/** Parses a location hash. Anything unknown is a new chat. */
export function parseHash(hash: string): Route {
  const [, view = '', id = ''] = /^#\/([a-z]*)\/?([\w.-]{0,128})/.exec(hash) ?? []
  const other = otherViews.find((each) => each === view)
  const withId = viewsWithId.find((each) => each === view)
  if (withId !== undefined && id !== '') return { view: withId, id }
  if (other !== undefined) return { view: other }
  return view === 'chat' && /^[\w-]{1,64}$/.test(id) ? { view, id } : newChat
}

const titles: Readonly<Record<Route['view'], string>> = say.views

/** Returns the title of a view. */
export function titleOf(view: Route['view']): string {
  return titles[view]
}

/** Returns the link to a route. */
export function hrefOf(route: Route): string {
  const { view, id } = { id: undefined, ...route }
  if (id !== undefined) return `#/${view}/${id}`
  return view === 'chat' ? '#/' : `#/${view}`
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
