import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { localDay } from '../ui/local-time.ts'
import type { Conversation, HistoryStore } from './conversation.ts'
import { exportMarkdown } from './export-markdown.ts'
import { fileNameOf, saveFile } from './save-file.ts'
import { exportJson } from './transfer.ts'

/** Downloads a conversation as a file for import. */
export async function saveJson(conversation: Conversation): Promise<void> {
  saveFile(await exportJson([conversation], new Date()), fileNameOf(conversation.title, 'json'))
}

/**
 * Downloads all conversations as a file for import.
 *
 * @param count number of conversations in the list
 * @throws if some could not be read; the file has the others
 */
export async function saveAll(history: HistoryStore, count: number): Promise<void> {
  const all = await history.all(),
    now = new Date()
  saveFile(await exportJson(all, now), `svc-conversations-${localDay(now.getTime())}.json`)
  if (all.length < count) throw new Error(say.history.damaged(formatCount(count - all.length), formatCount(count)))
  announce(say.history.exported(all.length))
}

/** Downloads a conversation as Markdown. */
export function saveMarkdown(conversation: Conversation): void {
  saveFile(new Blob([exportMarkdown(conversation)], { type: 'text/markdown' }), fileNameOf(conversation.title, 'md'))
}
