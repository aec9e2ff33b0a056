import type { Observer } from '../observe/observer.ts'
import type { Remembered, Scope } from '../observe/recent-requests.ts'
import { formatEvent } from '../wire/event-stream.ts'

/** Where somebody is who follows the requests. */
export interface Place {
  readonly scope: Scope
  /** They have what was recorded until then. */
  readonly after: number
  /** So many were recorded, as they were told last; 0: they were told nothing yet. */
  readonly told: number
}

/** What follows a place. */
export interface NewsEvent {
  /** How far it reaches. */
  readonly mark: number
  readonly hasRequests: boolean
  /** As it is sent. Made when first asked for. */
  bytes(): Uint8Array
}

/**
 * Owners who follow are told the same at the same time: it is asked for once, and made once.
 *
 * @param answerOf what is sent of it, as JSON
 */
export function sharedEvents(
  { remembered }: Pick<Observer, 'remembered'>,
  answerOf: (news: Remembered) => unknown,
): (place: Place) => Promise<NewsEvent> {
  let lastAsked: (Place & { readonly event: Promise<NewsEvent> }) | undefined
  let lastMade: { readonly after: number; readonly mark: number; readonly bytes: Uint8Array } | undefined

  function bytesOf(news: Remembered, { scope, after }: Place): Uint8Array {
    if (scope === 'everybody' && lastMade?.after === after && lastMade.mark === news.mark) return lastMade.bytes
    const bytes = formatEvent(new TextEncoder().encode(JSON.stringify(answerOf(news))))
    if (scope === 'everybody') lastMade = { after, mark: news.mark, bytes }
    return bytes
  }

  async function ask(place: Place): Promise<NewsEvent> {
    const news = await remembered(place.scope, place.after)
    return { mark: news.mark, hasRequests: news.requests.length > 0, bytes: () => bytesOf(news, place) }
  }

  return function eventAfter(place) {
    const { scope, after, told } = place
    if (scope !== 'everybody' || told === 0) return ask(place)
    // Who was told of no more than whoever asked last gets what they asked for: of what is newer, both will be told.
    if (lastAsked?.after === after && lastAsked.told >= told) return lastAsked.event
    const event = ask(place)
    const asked = { ...place, event }
    lastAsked = asked
    event.catch(() => {
      if (lastAsked === asked) lastAsked = undefined
    })
    return event
  }
}
