import { tabStorage } from './rescue.ts'

/**
 * Keeps the last words that somebody writes when the page goes: the history is asynchronous, and may come too late
 * then. Gone with the tab.
 */
export interface RescuedDraft {
  put(text: string): void
  /** What was rescued, once. */
  take(): string | undefined
}

/**
 * @param owner whose words they are: afterwards somebody else may sit here @param id of the conversation @param storage
 *   the tab's; absent: it is forbidden
 */
export function rescuedDraft(
  owner: string,
  id: string,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined = tabStorage(),
): RescuedDraft {
  const key = `svc.draft.${owner}.${id}`
  return {
    put(text) {
      try {
        storage?.setItem(key, text)
      } catch {
        // Full: what was kept a moment ago has to do.
      }
    },
    take() {
      const text = storage?.getItem(key) ?? undefined
      storage?.removeItem(key)
      return text
    },
  }
}
