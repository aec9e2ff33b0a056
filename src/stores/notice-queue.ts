import { noticeKeptMsMost, noticeLengthMost, type KeptNotice } from './store.ts'

/** What is to be told. */
export interface Telling {
  readonly text: string
  readonly kept: KeptNotice | undefined
}

/** Notices that wait to be told; beyond, the oldest is dropped. */
const waitingMost = 256

/**
 * Tells one batch after the other, so that however much there is to tell, the server is asked once at a time. Of what waits under the same key, the last counts.
 * @param send when it rejects, what waits is dropped
 */
export function noticeQueue(send: (batch: readonly Telling[]) => Promise<unknown>): (text: string, kept?: KeptNotice) => void {
  let waiting: Telling[] = []
  let isSending = false

  async function sendAll(): Promise<void> {
    isSending = true
    try {
      while (waiting.length > 0) {
        const batch = waiting
        waiting = []
        await send(batch)
      }
    } catch {
      // The store is away. What was to be told is old when it is back.
      waiting = []
    } finally {
      isSending = false
    }
  }

  return function tell(text, kept) {
    if (text.length > noticeLengthMost || (kept !== undefined && !mayBeKept(kept))) return
    if (kept !== undefined) waiting = waiting.filter((other) => other.kept?.key !== kept.key)
    waiting.push({ text, kept })
    if (waiting.length > waitingMost) waiting.shift()
    if (!isSending) void sendAll()
  }
}

function mayBeKept({ key, ms }: KeptNotice): boolean {
  return key.length <= 200 && ms >= 0 && ms <= noticeKeptMsMost
}
