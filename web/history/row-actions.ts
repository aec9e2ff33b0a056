import { navigate } from '../app/route.ts'
import { announce } from '../ui/announce.ts'
import type { Conversation, ConversationHead, HistoryStore } from './conversation.ts'
import { deleteForNow } from './deleted.ts'
import { fileNameOf, saveFile } from './save-file.ts'
import { chosenTitle } from './title.ts'

/** What can be done with one conversation of the list. Each rejects with an error for people. */
export interface RowActions {
  /** Nothing happens when there is nothing to see of the title. */
  rename(head: ConversationHead, title: string): Promise<void>
  pin(head: ConversationHead): Promise<void>
  saveJson(head: ConversationHead): Promise<void>
  saveMarkdown(head: ConversationHead): Promise<void>
  /** It can be put back for some seconds. */
  remove(head: ConversationHead): Promise<void>
}

/** @param currentId of the conversation that is shown: when it is removed, a new one is */
export function rowActions(history: HistoryStore, currentId: () => string | undefined): RowActions {
  async function whole({ id, title }: ConversationHead): Promise<Conversation> {
    const conversation = await history.get(id)
    if (conversation === undefined) throw new Error(`“${title}” cannot be read`)
    return conversation
  }

  return {
    async rename({ id, title: before }, text) {
      const title = chosenTitle(text)
      if (title === '' || title === before) return
      await history.amend(id, { title, isTitled: true })
      announce(`Renamed to ${title}`)
    },
    async pin({ id, isPinned }) {
      await history.amend(id, { isPinned: !isPinned })
      announce(isPinned ? 'Unpinned' : 'Pinned')
    },
    async saveJson(head) {
      const [{ exportJson }, conversation] = await Promise.all([import('./transfer.ts'), whole(head)])
      saveFile(await exportJson([conversation], new Date()), fileNameOf(head.title, 'json'))
    },
    async saveMarkdown(head) {
      const [{ exportMarkdown }, conversation] = await Promise.all([import('./export-markdown.ts'), whole(head)])
      saveFile(new Blob([exportMarkdown(conversation)], { type: 'text/markdown' }), fileNameOf(head.title, 'md'))
    },
    async remove({ id }) {
      await deleteForNow(history, id)
      announce('Deleted. Undo is at the bottom of the page.')
      if (currentId() === id) navigate({ view: 'chat' })
    },
  }
}
