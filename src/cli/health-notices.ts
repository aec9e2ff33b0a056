import { fingerprint } from '../config/fingerprint.ts'
import { aged, keptFor, parseHealthNews, type HealthNews } from '../service/health-news.ts'
import type { Notices } from '../stores/store.ts'

/**
 * A machine that is busy hears late. What is kept can be dated well, so of two news that are closer than that the one
 * that is kept counts: it is the last of its provider that was kept.
 */
const lagMs = 1_000

/**
 * Shares news of health with other machines. What is kept for newcomers is told to this one at the start, as old as it
 * is by then.
 *
 * @param hear takes over what others tell
 * @returns tells them
 */
export function shareHealth(notices: Notices, hear: (news: HealthNews) => void): (news: HealthNews) => void {
  notices.listen((text, keptMs) => {
    const news = readNews(text)
    if (news === undefined) return
    const elapsedMs = keptMs === undefined ? 0 : (keptFor(news)?.ms ?? 0) - keptMs
    // Told just now, it counts as it is, above all where it says that a trouble is over.
    const now = elapsedMs <= 0 ? justTold(news) : aged(news, elapsedMs)
    if (now !== undefined) hear(now)
  })
  return (news) => {
    const kept = keptFor(news)
    // Names of models may be longer than a key may be.
    notices.tell(JSON.stringify(news), kept === undefined ? undefined : { key: fingerprint(kept.key), ms: kept.ms })
  }
}

function justTold(news: HealthNews): HealthNews {
  return news.kind === 'failed' || news.kind === 'answered' || news.kind === 'succeeded' ? { ...news, lagMs } : news
}

function readNews(text: string): HealthNews | undefined {
  try {
    return parseHealthNews(JSON.parse(text))
  } catch {
    return undefined // It is not JSON.
  }
}
