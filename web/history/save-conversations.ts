import type { Conversation } from './conversation.ts'
import { exportMarkdown } from './export-markdown.ts'
import { fileNameOf, saveFile } from './save-file.ts'
import { exportJson } from './transfer.ts'

/** Downloads a conversation as a file for import. */
export async function saveJson(conversation: Conversation): Promise<void> {
  saveFile(await exportJson([conversation], new Date()), fileNameOf(conversation.title, 'json'))
}

/** Downloads all conversations as a file for import. */
export async function saveAll(conversations: readonly Conversation[]): Promise<void> {
  const now = new Date()
  saveFile(await exportJson(conversations, now), `svc-conversations-${now.toISOString().slice(0, 10)}.json`)
}

/** Downloads a conversation as Markdown. */
export function saveMarkdown(conversation: Conversation): void {
  saveFile(new Blob([exportMarkdown(conversation)], { type: 'text/markdown' }), fileNameOf(conversation.title, 'md'))
}
