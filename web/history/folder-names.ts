import type { ConversationHead } from './conversation.ts'
import { byName } from './groups.ts'

/** Returns the names of all folders, by name. */
export function folderNames(heads: readonly ConversationHead[]): readonly string[] {
  return [...new Set(heads.flatMap(({ folder }) => folder ?? []))].toSorted(byName.compare)
}
