import type { ProviderSecrets } from '../../content/remove-secrets.ts'
import type { TakenAnswer, TakenContent } from '../../content/taken-content.ts'
import type { ContentResult } from './content-writer.ts'

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
export class ContentKeeper {
  readonly #options: Required<ContentKeeperOptions>
  #waiting: TakenContent[] = []
  /** Of all that is not stored yet. */
  #bytes = 0
  #thread: ContentThread | undefined
  #sending: Promise<void> | undefined
  #timer: Timer | undefined
  #losses = 0
  #reportTimer: Timer | undefined

  constructor(options: ContentKeeperOptions) {
    this.#options = { ...{ gatherMs: 50, waitingBytesMax: 32 * 1024 * 1024 }, ...options }
  }

  /** Costs little more than adding to a list: the content is handed over later. Its bytes must not change any more. */
  keep(taken: TakenContent): void {
    const more = bytesOf(taken)
    if (this.#bytes + more > this.#options.waitingBytesMax) return this.#lose(1, 'too much content waits to be stored')
    this.#bytes += more
    this.#waiting.push(taken)
    this.#timer ??= setTimeout(() => this.#post(), this.#options.gatherMs)
  }

  /** Hands over the rest, and waits for its end for 5 s at most. */
  async close(): Promise<void> {
    let isOver = false
    const end = Promise.withResolvers<void>()
    const endTimer = setTimeout(() => {
      isOver = true
      end.resolve()
    }, closeMs)
    for (this.#post(); this.#sending !== undefined && !isOver; this.#post())
      await Promise.race([this.#sending, end.promise])
    clearTimeout(endTimer)
    clearTimeout(this.#reportTimer)
    if (this.#waiting.length + this.#losses > 0)
      this.#options.onLost(this.#waiting.length + this.#losses, 'the service has ended')
    await this.#thread?.close()
  }

  #lose(requests: number, reason: string): void {
    this.#losses += requests
    if (this.#reportTimer !== undefined) return
    this.#report(reason)
    this.#reportTimer = setTimeout(() => {
      this.#reportTimer = undefined
      if (this.#losses > 0) this.#report(reason)
    }, reportMs)
    this.#reportTimer.unref()
  }

  #report(reason: string): void {
    this.#options.onLost(this.#losses, reason)
    this.#losses = 0
  }

  #post(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#sending !== undefined || this.#waiting.length === 0) return
    const taken = this.#takeMessage()
    this.#sending = this.#send(taken).finally(() => {
      this.#bytes -= taken.reduce((sum, each) => sum + bytesOf(each), 0)
      this.#sending = undefined
      this.#post()
    })
  }

  #takeMessage(): readonly TakenContent[] {
    let sum = 0
    const end = this.#waiting.findIndex((each, index) => {
      sum += bytesOf(each)
      return index > 0 && sum > messageBytesMax
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  async #send(taken: readonly TakenContent[]): Promise<void> {
    try {
      this.#thread ??= this.#options.start()
      const { lost, reason = 'unknown' } = await this.#thread.write(taken, this.#options.secrets())
      if (lost > 0) this.#lose(lost, reason)
    } catch {
      this.#thread = undefined
      this.#lose(taken.length, 'the thread that writes it has ended')
    }
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
