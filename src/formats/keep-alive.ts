import { keepAliveEvent } from '../bytes/event-stream.ts'

/** Keep-alive of a waiting stream, in a format. */
export interface KeepAlive {
  readonly bytes: Uint8Array
  /** Milliseconds before the first one, and between two, unless SVC_HEARTBEAT_MS sets another time. */
  readonly everyMs: number
}

/** A comment, which every reader of server-sent events ignores. */
export const commentKeepAlive: KeepAlive = { bytes: keepAliveEvent, everyMs: 10_000 }
