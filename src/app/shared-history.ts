import type { Config } from '../config/config.ts'
import type { Environment } from '../config/file/environment.ts'
import { conversationMarks } from '../http/page/conversation-marks.ts'
import type { History } from '../ledger/history/history.ts'
import { LedgerUnavailable } from '../ledger/ledger.ts'
import type { Logger } from '../observe/log.ts'
import { OpenOnce } from './shared-ledger.ts'

export interface SharedHistoryOptions {
  readonly environment: Environment
  readonly log: Pick<Logger, 'info' | 'error'>
  /** This process replaces another one: a newer svc may have changed the database since the start of the service. */
  readonly isReplacement: boolean
  /** This process deletes old conversations: one of a machine does. */
  readonly isSweeper: boolean
  /** Milliseconds of the monotonic clock. For tests. */
  readonly passed?: () => number
}

const sweepMs = 3_600_000
const dayMs = 86_400_000

/** The conversations of people. Nothing of them is loaded until a configuration asks for it. */
export class SharedHistory {
  readonly #options: SharedHistoryOptions
  readonly #once = new OpenOnce(() => this.#open())
  /** Of the active configuration; `undefined`: nothing is deleted. */
  #days: number | undefined
  #timer: Timer | undefined
  /** When the last sweep was, by both clocks. */
  #lastSweep: { readonly time: number; readonly passed: number } | undefined
  /** When the wall clock is believed again. */
  #believedAt = 0

  constructor(options: SharedHistoryOptions) {
    this.#options = options
  }

  /**
   * Opens them, if a configuration asks for it.
   *
   * @throws {ConfigError} there is no key, or not the right one; the database cannot be used
   */
  async prepare(config: Config): Promise<void> {
    if (config.history !== 'server') return
    try {
      await this.#once.open()
    } catch (error) {
      const { historyFault } = await import('./history-keys.ts')
      throw historyFault(config, error)
    }
  }

  /** Deletes old conversations, if the configuration, which is active now, asks for it. */
  activate({ historyDays }: Config): void {
    this.#days = historyDays
    this.#sweep()
  }

  /** `undefined`: the configuration does not ask for them. */
  of({ history }: Config): Promise<History> | undefined {
    return history === 'server' ? this.#once.open() : undefined
  }

  async close(): Promise<void> {
    this.#days = undefined
    clearTimeout(this.#timer)
    const history = await this.#once.opened()
    await history?.close()
  }

  async #open(): Promise<History> {
    const { environment, isReplacement, log } = this.#options
    const [{ neededHistoryKeys }, { ledgerPlace }, { openHistory }] = await Promise.all([
      import('./history-keys.ts'),
      import('./ledger-place.ts'),
      import('../ledger/history/open-history.ts'),
    ])
    const keys = await neededHistoryKeys(environment)
    const history = await openHistory({
      place: ledgerPlace(environment),
      keys,
      isService: true,
      mayBeNewer: isReplacement,
      onRotated: (people) =>
        log.info('conversations are under the key of SVC_HISTORY_KEY now; SVC_HISTORY_KEY_OLD is not needed any more', {
          people,
        }),
    })
    return reporting(history, log)
  }

  /** Deletes old conversations now and every hour. A failure is logged, and the next hour tries again. */
  #sweep(): void {
    clearTimeout(this.#timer)
    const { isSweeper, log } = this.#options
    const days = this.#days
    if (days === undefined || !isSweeper) return
    this.#timer = setTimeout(() => this.#sweep(), sweepMs)
    this.#timer.unref()
    this.#removeOld(days).then(
      (removed) => {
        if (removed > 0) log.info('old conversations were deleted', { conversations: removed, days })
      },
      (error: unknown) => {
        // One that is away was logged.
        if (error instanceof LedgerUnavailable) return
        log.error('old conversations were not deleted', error instanceof Error ? { error } : {})
      },
    )
  }

  async #removeOld(days: number): Promise<number> {
    const history = await this.#once.open()
    return (await this.#believesClock(history)) ? history.sweep(Date.now() - days * dayMs, isPinned) : 0
  }

  /**
   * Whether the wall clock may be believed: only after a day if it is more than a day ahead of the last sweep, or, at
   * the start, of the last change. A wrong clock would delete all conversations; so it can be corrected in time.
   */
  async #believesClock(history: History): Promise<boolean> {
    const { log, passed = () => performance.now() } = this.#options
    const now = { time: Date.now(), passed: passed() }
    const last = this.#lastSweep
    const expected = last === undefined ? await history.lastWritten() : last.time + now.passed - last.passed
    this.#lastSweep = now
    if (expected !== undefined && now.time - expected > dayMs) {
      this.#believedAt = now.passed + dayMs
      log.info('old conversations are deleted in a day: if the clock is wrong, correct it', {
        clock: new Date(now.time).toISOString(),
        expected: new Date(expected).toISOString(),
      })
    }
    return now.passed >= this.#believedAt
  }
}

/** Logs that the database cannot be used, once, and that it can be used again. */
function reporting(history: History, log: SharedHistoryOptions['log']): History {
  let trouble: string | undefined
  /** Conversations that were logged. */
  const faulty = new Set<string>()

  async function reported<Value>(pending: Promise<Value>): Promise<Value> {
    try {
      const value = await pending
      if (trouble !== undefined) log.info('conversations are stored and read again')
      trouble = undefined
      return value
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      if (trouble !== error.message)
        log.error('conversations cannot be stored or read; pages keep changes and send them later', {
          reason: error.message,
        })
      trouble = error.message
      throw error
    }
  }

  return {
    changes: (...given) => reported(history.changes(...given)),
    async read(person, ids) {
      const found = await reported(history.read(person, ids))
      for (const { id, fault } of found)
        if (fault !== undefined && !faulty.has(id)) {
          faulty.add(id)
          log.error('a conversation cannot be read; the others of its person can', { conversation: id, reason: fault })
        }
      return found
    },
    write: (...given) => reported(history.write(...given)),
    remove: (...given) => reported(history.remove(...given)),
    clear: (...given) => reported(history.clear(...given)),
    sweep: (...given) => reported(history.sweep(...given)),
    lastWritten: () => reported(history.lastWritten()),
    close: () => history.close(),
  }
}

async function isPinned(text: string): Promise<boolean> {
  return (await conversationMarks(new TextEncoder().encode(text))).isPinned
}
