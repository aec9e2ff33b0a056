import type { ProviderSecrets } from '../../content/remove-secrets.ts'
import type { TakenAnswer, TakenContent } from '../../content/taken-content.ts'
import type { ContentResult } from './content-writer.ts'

/** Keeps content, by a thread. */
export interface ContentKeeper {
  /** Costs little more than adding to a list: the content is handed over later. Its bytes must not change any more. */
  keep(taken: TakenContent): void
  /** Hands over the rest, and waits for its end for 5 s at most. */
  close(): Promise<void>
}

/** The thread that writes content, as its starter sees it. */
export interface ContentThread {
  /** Resolves when the content is stored or lost; rejects when the thread has ended. One call at a time. */
  write(taken: readonly TakenContent[], secrets: ProviderSecrets): Promise<ContentResult>
  close(): Promise<void>
}

export interface ContentKeeperOptions {
  /** Starts the thread. Called by the first content, and after the end of a thread. */
  readonly start: () => ContentThread
  /** Secrets of providers that are removed now. */
  readonly secrets: () => ProviderSecrets
  /** Called with the number of requests whose content is lost. */
  readonly onLost: (requests: number, reason: string) => void
  /** Milliseconds that content is gathered. Default 50. */
  readonly gatherMs?: number
  /** Bytes that wait; further content is lost. Default 32 MiB. */
  readonly waitingBytesMax?: number
}

/** Bytes of one message, unless a single content has more. */
const messageBytesMax = 4 * 1024 * 1024
const closeMs = 5_000
/** Losses are reported together, at most this often. */
const reportMs = 10_000

/** Keeps content in memory until the thread has stored it. */
export function contentKeeper({
  start,
  secrets,
  onLost,
  gatherMs = 50,
  waitingBytesMax = 32 * 1024 * 1024,
}: ContentKeeperOptions): ContentKeeper {
  let waiting: TakenContent[] = []
  /** Of all that is not stored yet. */
  let bytes = 0
  let thread: ContentThread | undefined
  let sending: Promise<void> | undefined
  let timer: Timer | undefined
  let losses = 0
  let reportTimer: Timer | undefined

  function lose(requests: number, reason: string): void {
    losses += requests
    if (reportTimer !== undefined) return
    report(reason)
    reportTimer = setTimeout(() => {
      reportTimer = undefined
      if (losses > 0) report(reason)
    }, reportMs)
    reportTimer.unref()
  }

  function report(reason: string): void {
    onLost(losses, reason)
    losses = 0
  }

  function post(): void {
    clearTimeout(timer)
    timer = undefined
    if (sending !== undefined || waiting.length === 0) return
    const taken = takeMessage()
    sending = send(taken).finally(() => {
      bytes -= taken.reduce((sum, each) => sum + bytesOf(each), 0)
      sending = undefined
      post()
    })
  }

  function takeMessage(): readonly TakenContent[] {
    let sum = 0
    const end = waiting.findIndex((each, index) => {
      sum += bytesOf(each)
      return index > 0 && sum > messageBytesMax
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  async function send(taken: readonly TakenContent[]): Promise<void> {
    try {
      thread ??= start()
      const { lost, reason = 'unknown' } = await thread.write(taken, secrets())
      if (lost > 0) lose(lost, reason)
    } catch {
      thread = undefined
      lose(taken.length, 'the thread that writes it has ended')
    }
  }

  return {
    keep(taken) {
      const more = bytesOf(taken)
      if (bytes + more > waitingBytesMax) return lose(1, 'too much content waits to be stored')
      bytes += more
      waiting.push(taken)
      timer ??= setTimeout(post, gatherMs)
    },
    async close() {
      let isOver = false
      const end = Promise.withResolvers<void>()
      const endTimer = setTimeout(() => {
        isOver = true
        end.resolve()
      }, closeMs)
      for (post(); sending !== undefined && !isOver; post()) await Promise.race([sending, end.promise])
      clearTimeout(endTimer)
      clearTimeout(reportTimer)
      if (waiting.length + losses > 0) onLost(waiting.length + losses, 'the service has ended')
      await thread?.close()
    },
  }
}

function bytesOf({ question, answer }: TakenContent): number {
  return question.bytes.length + bytesOfAnswer(answer)
}

function bytesOfAnswer(answer: TakenAnswer | undefined): number {
  switch (answer?.kind) {
    case 'whole':
      return answer.sent.bytes.length
    case 'parts':
      return answer.pieces.reduce((sum, piece) => sum + piece.length, 0)
    default:
      return 0
  }
}
