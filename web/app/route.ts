import { useSyncExternalStore } from 'react'

/** What a person looks at; it stands behind `#` in the address. */
export type Route =
  | { readonly view: 'chat'; readonly id?: string }
  | { readonly view: 'providers' }
  | { readonly view: 'requests' }

const newChat: Route = { view: 'chat' }
let known: { readonly hash: string; readonly route: Route } = { hash: '', route: newChat }

/** The route that a hash stands for; anything unknown is a new chat. */
export function parseHash(hash: string): Route {
  const [, view = '', id = ''] = /^#\/([a-z]*)\/?([\w-]{0,64})/.exec(hash) ?? []
  if (view === 'providers' || view === 'requests') return { view }
  return view === 'chat' && id !== '' ? { view: 'chat', id } : newChat
}

/** What goes into a link. */
export function hrefOf(route: Route): string {
  if (route.view !== 'chat') return `#/${route.view}`
  return route.id === undefined ? '#/' : `#/chat/${route.id}`
}

/** Goes there. @param replaces whether Back is to skip what is shown now */
export function navigate(route: Route, { replaces = false }: { readonly replaces?: boolean } = {}): void {
  if (replaces) location.replace(hrefOf(route))
  else location.hash = hrefOf(route)
}

/** The route now, the same value as long as it stays. */
export function currentRoute(): Route {
  if (location.hash !== known.hash) known = { hash: location.hash, route: parseHash(location.hash) }
  return known.route
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

/** The route now, in a component. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute)
}
