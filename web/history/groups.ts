import { language } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import type { ConversationHead } from './conversation.ts'

/** Conversations under one heading. */
export interface Group {
  readonly label: string
  /** The folder that the group is. Absent: a date, or the pinned ones. */
  readonly folder?: string | undefined
  readonly isPinned: boolean
  /** Number of conversations. */
  readonly count: number
  /** Those to list: none of a closed folder. */
  readonly heads: readonly ConversationHead[]
}

const month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' })

/** Orders names of folders. */
export const byName = new Intl.Collator(language, { numeric: true })

/**
 * Groups the list: pinned, folders by name, then today, yesterday, this week (since Monday), and the months before.
 *
 * @param heads in list order
 * @param now local time
 * @param closed folders whose conversations are not listed
 */
export function groupsOf(
  heads: readonly ConversationHead[],
  now: Date,
  closed: readonly string[] = [],
): readonly Group[] {
  const today = dayOf(now, 0),
    yesterday = dayOf(now, -1),
    monday = dayOf(now, -((now.getDay() + 6) % 7))
  let from = 0,
    to = 0,
    label = ''
  /** Formats a month once for all conversations in a row, since formatting is slow. */
  function monthOf(time: number): string {
    if (time < from || time >= to) {
      const date = new Date(time)
      from = new Date(date.getFullYear(), date.getMonth()).getTime()
      to = new Date(date.getFullYear(), date.getMonth() + 1).getTime()
      label = month.format(time)
    }
    return label
  }
  function labelOf({ isPinned, updated }: ConversationHead): string {
    if (isPinned) return say.history.pinned
    if (updated >= today) return say.history.today
    if (updated >= yesterday) return say.history.yesterday
    return updated >= monday ? say.history.thisWeek : monthOf(updated)
  }
  // A blank is the mark of folders: labels of dates have none before them.
  const grouped = Map.groupBy(heads, (head) =>
    head.isPinned || head.folder === undefined ? labelOf(head) : ` ${head.folder}`,
  )
  return [...grouped]
    .map(([key, those]): Group => {
      const folder = key.startsWith(' ') ? key.slice(1) : undefined
      return {
        label: folder ?? key,
        folder,
        isPinned: key === say.history.pinned,
        count: those.length,
        heads: folder !== undefined && closed.includes(folder) ? [] : those,
      }
    })
    .toSorted((one, other) => rankOf(one) - rankOf(other) || byName.compare(one.folder ?? '', other.folder ?? ''))
}

function rankOf({ isPinned, folder }: Group): number {
  if (isPinned) return 0
  return folder === undefined ? 2 : 1
}

/** Start of a local day. */
function dayOf(now: Date, offset: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset).getTime()
}
