const channelName = 'svc-restart'

/** Reloads the page at `/`, so nothing of the previous user stays, not even in the address. */
export function restartPage(): void {
  history.replaceState(null, '', location.pathname)
  location.reload()
}

/** Reloads every other tab: signing out in one tab signs out all. */
export function restartOtherTabs(): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage('')
  channel.close()
}

/** Reloads when another tab asks for it. Returns a function that stops listening. */
export function onRestartRequested(): () => void {
  const channel = new BroadcastChannel(channelName)
  channel.onmessage = restartPage
  return () => channel.close()
}
