import type { Config } from '../config/config.ts'
import type { Environment } from '../config/file/resolve-provider.ts'
import { conversationMarks } from '../http/page/conversation-marks.ts'
import type { History } from '../ledger/history/history.ts'
import { LedgerUnavailable } from '../ledger/ledger.ts'
import type { Logger } from '../observe/log.ts'
import { openOnce } from './shared-ledger.ts'

/** The conversations of people, opened when the configuration asks for them. */
export interface SharedHistory {
  /**
   * Opens them, if a configuration asks for it.
   *
   * @throws {ConfigError} there is no key, or not the right one; the database cannot be used
   */
  prepare(config: Config): Promise<void>
  /** Deletes old conversations, if the configuration, which is active now, asks for it. */
  activate(config: Config): void
  /** `undefined`: the configuration does not ask for them. */
  of(config: Config): Promise<History> | undefined
  close(): Promise<void>
}

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

/** Nothing of it is loaded until a configuration asks for it. */
export function sharedHistory({
  environment,
  log,
  isReplacement,
  isSweeper,
  passed = () => performance.now(),
}: SharedHistoryOptions): SharedHistory {
  /** Of the active configuration; `undefined`: nothing is deleted. */
  let days: number | undefined
  let timer: Timer | undefined
  /** When the last sweep was, by both clocks. */
  let lastSweep: { readonly time: number; readonly passed: number } | undefined
  /** When the wall clock is believed again. */
  let believedAt = 0

  async function open(): Promise<History> {
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

  const once = openOnce(open)

  /**
   * Whether the wall clock may be believed: only after a day if it is more than a day ahead of the last sweep, or, at
   * the start, of the last change. A wrong clock would delete all conversations; so it can be corrected in time.
   */
  async function isClockBelieved(history: History): Promise<boolean> {
    const now = { time: Date.now(), passed: passed() }
    const expected =
      lastSweep === undefined ? await history.lastWritten() : lastSweep.time + now.passed - lastSweep.passed
    lastSweep = now
    if (expected !== undefined && now.time - expected > dayMs) {
      believedAt = now.passed + dayMs
      log.info('old conversations are deleted in a day: if the clock is wrong, correct it', {
        clock: new Date(now.time).toISOString(),
        expected: new Date(expected).toISOString(),
      })
    }
    return now.passed >= believedAt
  }

  /** Deletes old conversations now and every hour. A failure is logged, and the next hour tries again. */
  function sweep(): void {
    clearTimeout(timer)
    if (days === undefined || !isSweeper) return
    timer = setTimeout(sweep, sweepMs)
    timer.unref()
    const since = days
    void once
      .open()
      .then(async (history) =>
        (await isClockBelieved(history)) ? history.sweep(Date.now() - since * dayMs, isPinned) : 0,
      )
      .then(
        (removed) => {
          if (removed > 0) log.info('old conversations were deleted', { conversations: removed, days: since })
        },
        (error: unknown) => {
          // One that is away was logged.
          if (error instanceof LedgerUnavailable) return
          log.error('old conversations were not deleted', error instanceof Error ? { error } : {})
        },
      )
  }

  return {
    async prepare(config) {
      if (config.history !== 'server') return
      try {
        await once.open()
      } catch (error) {
        const { historyFault } = await import('./history-keys.ts')
        throw historyFault(config, error)
      }
    },
    activate({ historyDays }) {
      days = historyDays
      sweep()
    },
    of: ({ history }) => (history === 'server' ? once.open() : undefined),
    async close() {
      days = undefined
      clearTimeout(timer)
      const history = await once.opened()
      await history?.close()
    },
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
