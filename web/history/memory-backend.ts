import type { Conversation, Draft } from './conversation.ts'
import { fold } from './fold.ts'
import { byTime, headOf, inOrder } from './heads.ts'
import type { HistoryBackend } from './history-backend.ts'
import { ConversationRemoved } from './history-error.ts'
import { hasAll, wordFolder } from './search.ts'

/** A backend in memory. */
export function memoryBackend(): HistoryBackend {
  const conversations = new Map<string, Conversation>(),
    drafts = new Map<string, Draft>()
  const folded = wordFolder()
  const headsNow = () => [...conversations.values()].map(headOf)
  return {
    heads: async () => headsNow().toSorted(inOrder),
    async head(id) {
      const found = conversations.get(id)
      return found && headOf(found)
    },
    get: async (id) => conversations.get(id),
    async put(conversation, mustExist) {
      if (mustExist && !conversations.has(conversation.id)) throw new ConversationRemoved(conversation.id)
      conversations.set(conversation.id, conversation)
    },
    async amend(id, changes) {
      const found = conversations.get(id)
      if (found !== undefined) conversations.set(id, { ...found, ...changes })
    },
    async remove(id) {
      conversations.delete(id)
      drafts.delete(id)
    },
    async clear() {
      conversations.clear()
      drafts.clear()
    },
    async search(words, limit) {
      const found = [...conversations.values()].filter((each) => hasAll(fold(each.title), folded(each), words))
      if (found.length === 0) return []
      const { hitIn } = await import('./search-hit.ts')
      return found
        .toSorted((one, other) => byTime(headOf(one), headOf(other)))
        .slice(0, limit)
        .map((each) => hitIn(headOf(each), each, words))
    },
    all: async () => [...conversations.values()],
    draft: async (id) => drafts.get(id),
    async putDraft(id, draft) {
      if (draft === undefined) drafts.delete(id)
      else drafts.set(id, draft)
    },
    close() {},
  }
}
