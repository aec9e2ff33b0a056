import type { Changes } from './changes.ts'
import type { Conversation, HistoryFault, HistoryStore, Message } from './conversation.ts'
import { InvalidConversation } from './history-error.ts'
import { parseConversation, titleLengthMax } from './parse-conversation.ts'
import { wordsOf } from './search.ts'
import type { Shelf } from './shelf.ts'

/**
 * What a page has of a shelf: nothing goes in that would not come out, what was removed does not come back by itself,
 * and changes are told.
 */
export function historyOver(shelf: Shelf, told: Changes, faultNow: () => HistoryFault | undefined): HistoryStore {
  /** Those that this tab has, or had: when one is not there any more, it was removed. */
  const known = new Set<string>()

  async function keep(conversation: Conversation, mustBeThere: boolean): Promise<void> {
    const parsed = parseConversation(conversation)
    if (parsed.kind === 'damaged') throw new InvalidConversation(parsed.why)
    const isNew = !known.has(conversation.id)
    // From now on, so that what is put next knows of it.
    known.add(conversation.id)
    try {
      await shelf.put(conversation, mustBeThere)
    } catch (error) {
      if (isNew) known.delete(conversation.id)
      throw error
    }
    told.tell(conversation.id)
  }

  function had(conversation: Conversation): Conversation {
    known.add(conversation.id)
    return { ...conversation, messages: conversation.messages.map(settled) }
  }

  return {
    get fault() {
      return faultNow()
    },
    heads: () => shelf.heads(),
    head: (id) => shelf.head(id),
    async get(id) {
      const found = await shelf.get(id)
      return found && had(found)
    },
    put: (conversation) => keep(conversation, known.has(conversation.id)),
    restore: (conversation) => keep(conversation, false),
    async amend(id, changes) {
      if (changes.title !== undefined && changes.title.length > titleLengthMax)
        throw new InvalidConversation('the title is too long')
      await shelf.amend(id, changes)
      told.tell(id)
    },
    async remove(id) {
      await shelf.remove(id)
      told.tell(id)
    },
    async clear() {
      await shelf.clear()
      told.tell('')
    },
    async search(query, limit = 50) {
      const words = wordsOf(query)
      return words.length === 0 ? [] : await shelf.search(words, limit)
    },
    all: async () => (await shelf.all()).map(had),
    draft: (id) => shelf.draft(id),
    putDraft: (id, draft) => shelf.putDraft(id, draft),
    subscribe: (listener) => told.subscribe(listener),
    close() {
      told.close()
      shelf.close()
    },
  }
}

/** A page that is read again does not answer any more. */
function settled(message: Message): Message {
  return message.role === 'assistant' && message.status === 'streaming'
    ? { ...message, status: 'interrupted' }
    : message
}
