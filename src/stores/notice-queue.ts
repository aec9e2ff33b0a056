import { noticeKeptMsMost, noticeLengthMost, type KeptNotice } from './store.ts'

/** What is to be told. */
export interface Telling {
  readonly text: string
  readonly kept: KeptNotice | undefined
  /** It was to be told so long ago, in milliseconds, and `kept.ms` is what is left of its time. Absent: now. */
  readonly agoMs?: number
}

/** Tells one batch after the other. */
export interface NoticeQueue {
  tell(text: string, kept?: KeptNotice): void
  /** What waits is told no more. */
  close(): void
}

/** How {@link noticeQueue} tells the time. */
export interface NoticeQueueOptions {
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
  /** After which what was refused is told again; then twice as long, and so on up to tenfold. */
  readonly againMs: number
}

interface Waiting extends Telling {
  readonly since: number
  /** It has waited for a store that was away. */
  readonly isLate: boolean
}

/** Of what is not kept; beyond, the oldest is dropped. */
const passingMost = 256
/** Of what is kept, which is the last state of something; beyond, the oldest is dropped. */
const keptMost = 1_000

/**
 * Tells one batch after the other, so that however much there is to tell, the server is asked once at a time. Of what
 * waits under the same key, the last counts. What is kept is told for as long as it would be kept, with the time that
 * is left of it then. Nothing is sent in the pause after a refusal, so that to tell costs little while the server is
 * away.
 *
 * @param send when it rejects, what is kept waits on, and the rest is dropped
 */
export function noticeQueue(
  send: (batch: readonly Telling[]) => Promise<unknown>,
  { now, againMs }: NoticeQueueOptions = { now: () => performance.now(), againMs: 1_000 },
): NoticeQueue {
  let waiting: readonly Waiting[] = []
  let isSending = false
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let pauseMs = againMs

  async function sendAll(): Promise<void> {
    timer = undefined
    isSending = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      if (await isRefused(batch)) return sendLater(batch)
    }
    pauseMs = againMs
    isSending = false
  }

  async function isRefused(batch: readonly Waiting[]): Promise<boolean> {
    const timely = batch.flatMap((each) => inTime(each, now()))
    try {
      if (timely.length > 0) await send(timely)
      return false
    } catch {
      return true
    }
  }

  /** The store is away. What is not kept is old when it is back. */
  function sendLater(batch: readonly Waiting[]): void {
    isSending = false
    waiting = [...batch.filter(({ kept }) => !isUnder(waiting, kept)), ...waiting]
      .flatMap((each) => (each.kept === undefined ? [] : [{ ...each, isLate: true }]))
      .slice(-keptMost)
    if (waiting.length === 0 || isClosed) return
    timer = setTimeout(() => void sendAll(), pauseMs)
    timer.unref()
    pauseMs = Math.min(pauseMs * 2, againMs * 10)
  }

  return {
    tell(text, kept) {
      if (isClosed || text.length > noticeLengthMost || (kept === undefined ? timer !== undefined : !mayBeKept(kept)))
        return
      const others = waiting.filter((other) => kept === undefined || other.kept?.key !== kept.key)
      waiting = within([...others, { text, kept, since: now(), isLate: timer !== undefined }])
      if (!isSending && timer === undefined) void sendAll()
    },
    close() {
      isClosed = true
      waiting = []
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** What has waited for a store that was away, with what is left of its time; nothing when that is over. */
function inTime({ text, kept, since, isLate }: Waiting, now: number): readonly Telling[] {
  if (!isLate || kept === undefined || kept.ms === 0) return [{ text, kept }]
  const agoMs = now - since,
    ms = kept.ms - agoMs
  return ms > 0 ? [{ text, kept: { ...kept, ms }, agoMs }] : []
}

/** Without the oldest of what there is too much of. */
function within(all: readonly Waiting[]): readonly Waiting[] {
  const last = all.at(-1)
  const isLike = (each: Waiting): boolean => (each.kept === undefined) === (last?.kept === undefined)
  const count = all.filter(isLike).length
  if (count <= (last?.kept === undefined ? passingMost : keptMost)) return all
  return all.toSpliced(all.findIndex(isLike), 1)
}

function isUnder(all: readonly Waiting[], kept: KeptNotice | undefined): boolean {
  return kept !== undefined && all.some((other) => other.kept?.key === kept.key)
}

function mayBeKept({ key, ms }: KeptNotice): boolean {
  return key.length <= 200 && ms >= 0 && ms <= noticeKeptMsMost
}
