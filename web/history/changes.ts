import { isRecord } from '../../src/wire/json-value.ts'

/** Who wants to know of changes, in this tab and others. */
export interface Changes {
  /** Tells everybody, here and elsewhere. @param id of the conversation; empty: any may have changed */
  tell(id: string): void
  /** Tells those of this tab only. */
  tellHere(id: string): void
  /** Returns how to stop. */
  subscribe(listener: (id: string) => void): () => void
  close(): void
}

/** @param channelName what the tabs have in common; absent: this tab is alone */
export function changes(channelName?: string): Changes {
  const listeners = new Set<(id: string) => void>()
  const channel =
    channelName === undefined || typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(channelName)
  function tellHere(id: string): void {
    for (const listener of [...listeners]) listener(id)
  }
  if (channel !== undefined)
    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      if (isRecord(data) && typeof data['id'] === 'string') tellHere(data['id'])
    }
  return {
    tell(id) {
      tellHere(id)
      channel?.postMessage({ id })
    },
    tellHere,
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
