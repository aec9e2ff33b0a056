import { ResourceUnavailable } from '../base/start-errors.ts'
import type { Environment } from '../config/file/resolve-provider.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { LedgerUnavailable, type AuditTable, type Ledger } from '../ledger/ledger.ts'
import type { UseAsker } from '../ledger/use/use-asker.ts'
import type { Logger } from '../observe/log.ts'

/** The ledger of this process, which is opened when an extension or a limit of money asks for it. */
export interface SharedLedger {
  /** @throws {UsageError} @throws {ResourceUnavailable} */
  open(): Promise<Ledger>
  /** Where it is; `undefined`: it is not open. */
  place(): LedgerPlace | undefined
  /** Reads the use; `undefined`: the ledger is not open. */
  use(): UseAsker | undefined
  /** It is open, and no other machine uses it. */
  isOfThisMachine(): boolean
  /** The recorded changes; `undefined`: the ledger is not open. */
  audit(): AuditTable | undefined
  /** Records a change; `undefined`: the ledger is not open. */
  record(): Ledger['record'] | undefined
  close(): Promise<void>
}

export interface SharedLedgerOptions {
  readonly environment: Environment
  readonly log: Pick<Logger, 'error' | 'info'>
  /** Called once. */
  readonly onOpen: (place: LedgerPlace) => void
  /** This process replaces another one: a newer svc may have changed the database since the start of the service. */
  readonly isReplacement: boolean
}

/** The ledger of the environment. Databases are loaded only when it is opened. */
export function sharedLedger({ environment, log, onOpen, isReplacement }: SharedLedgerOptions): SharedLedger {
  let asker: UseAsker | undefined
  let openedPlace: LedgerPlace | undefined
  let audit: AuditTable | undefined
  let record: Ledger['record'] | undefined

  async function open(): Promise<Ledger> {
    const { ledgerPlace, openLedgerAt } = await import('./ledger-place.ts')
    const place = ledgerPlace(environment)
    try {
      const ledger = await openLedgerAt(place, {
        isService: true,
        mayBeNewer: isReplacement,
        onTrouble: (problem) =>
          problem === undefined
            ? log.info('the database of keys is there again')
            : log.error('the database of keys cannot be used; keys stay as they were', { reason: problem }),
      })
      const { useAsker } = await import('../ledger/use/use-asker.ts')
      asker = useAsker({ place })
      openedPlace = place
      audit = ledger.audit
      record = ledger.record
      onOpen(place)
      return ledger
    } catch (error) {
      throw error instanceof LedgerUnavailable ? new ResourceUnavailable(error.message, { cause: error }) : error
    }
  }

  const once = openOnce(open)
  return {
    open: once.open,
    use: () => asker,
    place: () => openedPlace,
    isOfThisMachine: () => openedPlace?.kind === 'file',
    audit: () => audit,
    record: () => record,
    async close() {
      const ledger = await once.opened()
      asker?.close()
      await ledger?.close()
    },
  }
}

/** Something that is opened at its first use. */
export interface OpenedOnce<Opened> {
  /** A failure is not kept: the next call tries again, since the cause may be mended. */
  open(): Promise<Opened>
  /** `undefined`: it is not open. */
  opened(): Promise<Opened | undefined>
}

/** Opens something once for all that use it. */
export function openOnce<Opened>(open: () => Promise<Opened>): OpenedOnce<Opened> {
  let opening: Promise<Opened> | undefined

  async function attempt(): Promise<Opened> {
    try {
      return await open()
    } catch (error) {
      opening = undefined
      throw error
    }
  }

  return {
    open: () => (opening ??= attempt()),
    opened: async () => await opening?.catch(() => undefined),
  }
}
