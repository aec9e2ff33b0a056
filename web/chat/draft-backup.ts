import { tabStorage } from './answer-backup.ts'

/** Backs up a draft when the page is unloaded, since the asynchronous history may be too late. Ends with the tab. */
export interface DraftBackup {
  put(text: string): void
  /** Returns the backup and deletes it. */
  take(): string | undefined
}

/**
 * Creates the backup of a draft.
 *
 * @param owner user id, since another user may sign in in this tab
 * @param id of the conversation
 * @param storage session storage; absent if forbidden
 */
export function draftBackup(
  owner: string,
  id: string,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined = tabStorage(),
): DraftBackup {
  const key = `svc.draft.${owner}.${id}`
  return {
    put(text) {
      try {
        storage?.setItem(key, text)
      } catch {
        // Full: the last saved draft must do.
      }
    },
    take() {
      const text = storage?.getItem(key) ?? undefined
      storage?.removeItem(key)
      return text
    },
  }
}
