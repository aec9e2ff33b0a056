import { say } from '../texts/say.ts'
import type { Changes } from './changes.ts'
import type { Conversation, HistoryFault, HistoryStore, Message } from './conversation.ts'
import type { HistoryBackend } from './history-backend.ts'
import { InvalidConversation } from './history-error.ts'
import { parseConversation, parseFolder, titleLengthMax } from './parse-conversation.ts'
import { wordsOf } from './search.ts'

/** Creates a history over a backend: validates writes, detects removals by other tabs, and publishes changes. */
export function historyStore(
  backend: HistoryBackend,
  channel: Changes,
  faultNow: () => HistoryFault | undefined,
): HistoryStore {
  /** Ids that this tab has read or written. If one is missing, it was removed. */
  const knownIds = new Set<string>()

  let isMine = false
  channel.subscribe((id) => {
    if (!isMine) backend.changed?.(id)
  })

  /** The backend knows its own changes. */
  function publish(id: string): void {
    isMine = true
    try {
      channel.publish(id)
    } finally {
      isMine = false
    }
  }

  async function write(conversation: Conversation, mustExist: boolean): Promise<void> {
    const parsed = parseConversation(conversation)
    if (parsed.kind === 'damaged') throw new InvalidConversation(parsed.why)
    const isNew = !knownIds.has(conversation.id)
    // Added before the write, so that a following write expects it.
    knownIds.add(conversation.id)
    try {
      await backend.put(conversation, mustExist)
    } catch (error) {
      if (isNew) knownIds.delete(conversation.id)
      throw error
    }
    publish(conversation.id)
  }

  function remember(conversation: Conversation): Conversation {
    knownIds.add(conversation.id)
    return { ...conversation, messages: conversation.messages.map(endStreaming) }
  }

  return {
    get fault() {
      return faultNow()
    },
    heads: () => backend.heads(),
    head: (id) => backend.head(id),
    async get(id) {
      const found = await backend.get(id)
      return found && remember(found)
    },
    put: (conversation) => write(conversation, knownIds.has(conversation.id)),
    restore: (conversation) => write(conversation, false),
    async amend(id, changes) {
      if (changes.title !== undefined && changes.title.length > titleLengthMax)
        throw new InvalidConversation(say.history.titleTooLong)
      const folder = parseFolder(changes.folder)
      if (folder.kind === 'damaged') throw new InvalidConversation(folder.why)
      await backend.amend(id, changes)
      publish(id)
    },
    async remove(id) {
      await backend.remove(id)
      publish(id)
    },
    async clear() {
      await backend.clear()
      publish('')
    },
    async search(query, limit = 50) {
      const words = wordsOf(query)
      return words.length === 0 ? [] : await backend.search(words, limit)
    },
    all: async () => (await backend.all()).map(remember),
    draft: (id) => backend.draft(id),
    putDraft: (id, draft) => backend.putDraft(id, draft),
    subscribe: (listener) => channel.subscribe(listener),
    close() {
      channel.close()
      backend.close()
    },
  }
}

/** An answer that is read from the history is not running any more. */
function endStreaming(message: Message): Message {
  return message.role === 'assistant' && message.status === 'streaming'
    ? { ...message, status: 'interrupted' }
    : message
}
