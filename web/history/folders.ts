import { storedNames } from '../models/stored-names.ts'

/** Commands of a folder's heading. */
export type FolderCommand = 'toggle' | 'rename' | 'delete'

/** Folders that are closed in the lists of this browser. */
export const closedFolders = storedNames('svc-closed-folders', 500)

/** Opens a closed folder, and closes an open one. */
export function toggleFolder(name: string): void {
  const closed = closedFolders.get()
  closedFolders.set(closed.includes(name) ? closed.filter((each) => each !== name) : [name, ...closed])
}

/** Returns the key of a folder's heading among the rows. Ids of conversations have no slash. */
export function folderKey(name: string): string {
  return `/${encodeURIComponent(name.toWellFormed())}`
}
