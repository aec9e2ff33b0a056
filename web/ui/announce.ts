import { createStore } from '../store.ts'

/** What is read out next; the frame shows it to nobody else. */
export const announcement = createStore('')

/** Has something read out, politely, such as "Answer complete". The same words again are read out again. */
export function announce(text: string): void {
  announcement.set(announcement.get() === text ? `${text}\u00a0` : text)
}
