import { isRecord } from '../../src/base/json-value.ts'

/** Publishes changes to subscribers in this tab and others. */
export interface Changes {
  /** Publishes to all tabs. @param id of the changed conversation; empty if any may have changed */
  publish(id: string): void
  /** Publishes to this tab only. */
  publishLocally(id: string): void
  /** Returns the unsubscribe function. */
  subscribe(listener: (id: string) => void): () => void
  close(): void
}

/** Opens a channel. @param channelName shared by the tabs; absent for this tab only */
export function changes(channelName?: string): Changes {
  const listeners = new Set<(id: string) => void>()
  const channel =
    channelName === undefined || typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(channelName)
  function publishLocally(id: string): void {
    for (const listener of [...listeners]) listener(id)
  }
  if (channel !== undefined)
    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      if (isRecord(data) && typeof data['id'] === 'string') publishLocally(data['id'])
    }
  return {
    publish(id) {
      publishLocally(id)
      channel?.postMessage({ id })
    },
    publishLocally,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      listeners.clear()
      channel?.close()
    },
  }
}
