import { ResourceUnavailable } from '../base/start-errors.ts'
import type { Environment } from '../config/file/environment.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { LedgerUnavailable, type AuditTable, type Ledger } from '../ledger/ledger.ts'
import type { UseAsker } from '../ledger/use/use-asker.ts'
import type { Logger } from '../observe/log.ts'
import type { KeyLedger } from '../people/keys/recorded-change.ts'
import type { LastingStores } from './extensions/run-extension.ts'

/** Something that is opened once, at its first use. */
export class OpenOnce<Opened> {
  readonly #open: () => Promise<Opened>
  #opening: Promise<Opened> | undefined

  constructor(open: () => Promise<Opened>) {
    this.#open = open
  }

  /** A failure is not kept: the next call tries again, since the cause may be mended. */
  open(): Promise<Opened> {
    return (this.#opening ??= this.#attempt())
  }

  /** `undefined`: it is not open. */
  async opened(): Promise<Opened | undefined> {
    return await this.#opening?.catch(() => undefined)
  }

  async #attempt(): Promise<Opened> {
    try {
      return await this.#open()
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }
}

export interface SharedLedgerOptions {
  readonly environment: Environment
  readonly log: Pick<Logger, 'error' | 'info'>
  /** Called once. */
  readonly onOpen: (place: LedgerPlace) => void
  /** This process replaces another one: a newer svc may have changed the database since the start of the service. */
  readonly isReplacement: boolean
}

/**
 * The ledger of this process, which is opened when an extension or a limit of money asks for it. Databases are loaded
 * only then; before, each function but `open` returns `undefined`.
 */
export class SharedLedger {
  readonly #options: SharedLedgerOptions
  readonly #once = new OpenOnce(() => this.#open())
  #opened: { readonly ledger: Ledger; readonly place: LedgerPlace; readonly asker: UseAsker } | undefined

  constructor(options: SharedLedgerOptions) {
    this.#options = options
  }

  /** @throws {UsageError} @throws {ResourceUnavailable} */
  readonly open = (): Promise<Ledger> => this.#once.open()

  readonly place = (): LedgerPlace | undefined => this.#opened?.place

  /** Reads the use. */
  readonly use = (): UseAsker | undefined => this.#opened?.asker

  /** The recorded changes. */
  readonly audit = (): AuditTable | undefined => this.#opened?.ledger.audit

  /** The keys. */
  readonly keys = (): KeyLedger | undefined => this.#opened?.ledger

  /** Records a change. */
  readonly record = (): Ledger['record'] | undefined => this.#opened?.ledger.record

  /** Opens a store of values that outlive the service. */
  readonly lasting: LastingStores = (name, options, now) => this.#opened?.ledger.lasting(name, options, now)

  /** Whether it is open, and no other machine uses it. */
  isOfThisMachine(): boolean {
    return this.#opened?.place.kind === 'file'
  }

  async close(): Promise<void> {
    const ledger = await this.#once.opened()
    this.#opened?.asker.close()
    await ledger?.close()
  }

  async #open(): Promise<Ledger> {
    const { environment, log, onOpen, isReplacement } = this.#options
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
      this.#opened = { ledger, place, asker: useAsker({ place }) }
      onOpen(place)
      return ledger
    } catch (error) {
      throw error instanceof LedgerUnavailable ? new ResourceUnavailable(error.message, { cause: error }) : error
    }
  }
}
