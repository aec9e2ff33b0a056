import { language } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import type { ConversationHead } from './conversation.ts'

/** Conversations under one heading. */
export interface Group {
  readonly label: string
  readonly heads: readonly ConversationHead[]
}

const month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' })

/**
 * Groups the list: pinned, today, yesterday, this week (since Monday), and the months before.
 *
 * @param heads in list order
 * @param now local time
 */
export function groupsOf(heads: readonly ConversationHead[], now: Date): readonly Group[] {
  const today = dayOf(now, 0),
    yesterday = dayOf(now, -1),
    monday = dayOf(now, -((now.getDay() + 6) % 7))
  const months = new Map<number, string>()
  /** Formats each month once, since formatting is slow. */
  function monthOf(time: number): string {
    const date = new Date(time),
      number = date.getFullYear() * 12 + date.getMonth()
    const label = months.get(number) ?? month.format(time)
    months.set(number, label)
    return label
  }
  function labelOf({ isPinned, updated }: ConversationHead): string {
    if (isPinned) return say.history.pinned
    if (updated >= today) return say.history.today
    if (updated >= yesterday) return say.history.yesterday
    return updated >= monday ? say.history.thisWeek : monthOf(updated)
  }
  return [...Map.groupBy(heads, labelOf)].map(([label, those]) => ({ label, heads: those }))
}

/** Start of a local day. */
function dayOf(now: Date, offset: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset).getTime()
}
