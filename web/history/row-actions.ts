import { navigate } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import type { Conversation, ConversationHead, HistoryStore } from './conversation.ts'
import { deleteUndoable } from './deleted.ts'
import { chosenTitle } from './title.ts'

/** Actions on a conversation of the list. Rejections have a message for the user. */
export interface RowActions {
  /** Renames it. Does nothing for a title without visible characters. */
  rename(head: ConversationHead, title: string): Promise<void>
  pin(head: ConversationHead): Promise<void>
  saveJson(head: ConversationHead): Promise<void>
  saveMarkdown(head: ConversationHead): Promise<void>
  saveHtml(head: ConversationHead): Promise<void>
  /** Deletes it. Undo is possible for some seconds. */
  remove(head: ConversationHead): Promise<void>
}

/**
 * Creates the actions.
 *
 * @param currentId returns the id of the conversation shown; when it is deleted, a new one is opened
 */
export function rowActions(history: HistoryStore, currentId: () => string | undefined): RowActions {
  async function whole({ id, title }: ConversationHead): Promise<Conversation> {
    const conversation = await history.get(id)
    if (conversation === undefined) throw new Error(say.history.notReadTitle(title))
    return conversation
  }

  return {
    async rename({ id, title: before }, text) {
      const title = chosenTitle(text)
      if (title === '' || title === before) return
      await history.amend(id, { title, isTitled: true })
      announce(say.history.renamed(title))
    },
    async pin({ id, isPinned }) {
      await history.amend(id, { isPinned: !isPinned })
      announce(isPinned ? say.history.unpinned : say.history.pinned)
    },
    saveJson: async (head) => (await import('./list-tools.ts')).saveJson(await whole(head)),
    saveMarkdown: async (head) => (await import('./list-tools.ts')).saveMarkdown(await whole(head)),
    saveHtml: async (head) => (await import('./save-html.tsx')).saveHtml(await whole(head)),
    async remove({ id }) {
      await deleteUndoable(history, id)
      announce(say.history.deletedUndo)
      if (currentId() === id) navigate({ view: 'chat' })
    },
  }
}
