import { formatEvent } from '../../bytes/event-stream.ts'
import type { Observer } from '../../observe/observer.ts'
import type { Remembered, Scope } from '../../observe/recent-requests.ts'

/** How far the stream of one reader has got. */
export interface Position {
  readonly scope: Scope
  /** Mark of the last event: the reader has everything recorded until then. */
  readonly after: number
  /** Number of records that the last notification announced; 0: none yet. */
  readonly announced: number
}

/** Everything recorded after a position. */
export interface RequestsEvent {
  /** The `after` of the next position. */
  readonly mark: number
  readonly hasRequests: boolean
  /** The event as it is sent. Made at the first call. */
  bytes(): Uint8Array
}

/**
 * Finds and formats events for readers. Owners at the same position share one query and one formatted event.
 *
 * @param answerOf the JSON data of an event
 */
export function requestEvents(
  { remembered }: Pick<Observer, 'remembered'>,
  answerOf: (found: Remembered) => unknown,
): (position: Position) => Promise<RequestsEvent> {
  let lastQuery: (Position & { readonly event: Promise<RequestsEvent> }) | undefined
  let lastFormatted: { readonly after: number; readonly mark: number; readonly bytes: Uint8Array } | undefined

  function bytesOf(found: Remembered, { scope, after }: Position): Uint8Array {
    const { mark } = found
    if (scope === 'all users' && lastFormatted?.after === after && lastFormatted.mark === mark)
      return lastFormatted.bytes
    const bytes = formatEvent(new TextEncoder().encode(JSON.stringify(answerOf(found))))
    if (scope === 'all users') lastFormatted = { after, mark, bytes }
    return bytes
  }

  async function query(position: Position): Promise<RequestsEvent> {
    const found = await remembered(position.scope, position.after)
    return { mark: found.mark, hasRequests: found.requests.length > 0, bytes: () => bytesOf(found, position) }
  }

  return function eventAfter(position) {
    const { scope, after, announced } = position
    if (scope !== 'all users' || announced === 0) return query(position)
    // The last query has everything that was announced to this reader; newer records are announced to both.
    if (lastQuery?.after === after && lastQuery.announced >= announced) return lastQuery.event
    const event = query(position)
    const asked = { ...position, event }
    lastQuery = asked
    event.catch(() => {
      if (lastQuery === asked) lastQuery = undefined
    })
    return event
  }
}
