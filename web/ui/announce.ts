import { createStore } from '../store.ts'

/** The text of the live region. */
export const announcement = createStore('')

/** Has a screen reader read a text politely, such as "Answer complete". The same text again is read again. */
export function announce(text: string): void {
  announcement.set(announcement.get() === text ? `${text}\u00a0` : text)
}
