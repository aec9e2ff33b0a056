const channelName = 'svc-anew'

/** Begins the page anew, at its beginning: nothing of whoever was there stays, not even in the address. */
export function startAnew(): void {
  history.replaceState(null, '', location.pathname)
  location.reload()
}

/** The same for every other tab: whoever signed out in one is signed out in all. */
export function startOthersAnew(): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage('')
  channel.close()
}

/** Begins anew when another tab says so. Returns how to stop. */
export function listenForStart(): () => void {
  const channel = new BroadcastChannel(channelName)
  channel.onmessage = startAnew
  return () => channel.close()
}
