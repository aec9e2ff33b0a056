import type { Message } from './conversation.ts'

/** Returns the id of the newest message in the branches through a message; its own if nothing follows it. */
export function newestAfter(messages: readonly Message[], id: string): string {
  const within = new Set([id])
  let newest = id
  for (const message of messages) {
    if (message.parent === undefined || !within.has(message.parent)) continue
    within.add(message.id)
    newest = message.id
  }
  return newest
}
