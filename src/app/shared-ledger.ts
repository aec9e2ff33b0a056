import type { Environment } from '../config/file/resolve-provider.ts'
import { findHome } from '../config/home.ts'
import { LedgerTooNew, LedgerUnavailable, type AuditTable, type Ledger } from '../ledger/ledger.ts'
import type { UseAsker } from '../ledger/use/use-asker.ts'
import type { Logger } from '../observe/log.ts'
import { ResourceUnavailable, UsageError } from './start-errors.ts'

/** The ledger of this process, which is opened when an extension or a limit of money asks for it. */
export interface SharedLedger {
  /** @throws {UsageError} @throws {ResourceUnavailable} */
  open(): Promise<Ledger>
  /** Reads the use; `undefined`: the ledger is not open. */
  use(): UseAsker | undefined
  /** The recorded changes; `undefined`: the ledger is not open. */
  audit(): AuditTable | undefined
  close(): Promise<void>
}

/** The ledger in the home folder. SQLite is loaded only when it is opened. @param onOpen called once, with its path */
export function sharedLedger(
  environment: Environment,
  log: Pick<Logger, 'error' | 'info'>,
  onOpen: (path: string) => void,
): SharedLedger {
  let opened: Promise<Ledger> | undefined
  let asker: UseAsker | undefined
  let audit: AuditTable | undefined

  async function open(): Promise<Ledger> {
    const { openLedger } = await import('../ledger/open-ledger.ts')
    const { ledger: path } = findHome(environment)
    try {
      const ledger = await openLedger({
        path,
        onTrouble: (problem) =>
          problem === undefined
            ? log.info('the database of keys is there again')
            : log.error('the database of keys cannot be used; keys stay as they were', { reason: problem }),
      })
      const { useAsker } = await import('../ledger/use/use-asker.ts')
      asker = useAsker({ path })
      audit = ledger.audit
      onOpen(path)
      return ledger
    } catch (error) {
      if (error instanceof LedgerTooNew) throw new UsageError(error.message, { cause: error })
      throw error instanceof LedgerUnavailable ? new ResourceUnavailable(error.message, { cause: error }) : error
    }
  }

  /** A failure is not kept: the file may be mended. */
  async function openAgain(): Promise<Ledger> {
    try {
      return await open()
    } catch (error) {
      opened = undefined
      throw error
    }
  }

  return {
    open: () => (opened ??= openAgain()),
    use: () => asker,
    audit: () => audit,
    async close() {
      const ledger = await opened?.catch(() => undefined)
      asker?.close()
      await ledger?.close()
    },
  }
}
