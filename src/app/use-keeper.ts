import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { ownHolder } from '../ledger/use/holder.ts'
import type { RecordedUse } from '../ledger/use/use-batch.ts'
import type { UseRecorder } from '../ledger/use/use-recorder.ts'
import type { Logger } from '../observe/log.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { HeldBy, HeldCost } from '../observe/under-way.ts'

/**
 * Records the use by requests, from its start on, and reports trouble with the database in the log. Before, and without
 * a database, it does nothing, and the code of the ledger is not loaded.
 */
export class UseKeeper {
  readonly #log: Pick<Logger, 'error' | 'info'>
  readonly #holds: (() => HeldBy | undefined) | undefined
  #loading: Promise<UseRecorder> | undefined
  #recorder: UseRecorder | undefined
  #place: LedgerPlace | undefined
  #zone: string | undefined

  /** @param holds the holds of this process; `undefined`: it never held anything */
  constructor(log: Pick<Logger, 'error' | 'info'>, holds?: () => HeldBy | undefined) {
    this.#log = log
    this.#holds = holds
  }

  /** Starts the thread, once. */
  readonly start = (place: LedgerPlace): void => {
    this.#place ??= place
    this.#loading ??= this.#load(place)
  }

  readonly add = (record: RequestRecord): void => this.#perform((to) => to.add(record))

  readonly addBatch = ({ source, number, count, records, holds }: RecordedUse): void => {
    const batch = { source, number, count, records, ...(holds === undefined ? {} : { holds }) }
    if (count > 0 || holds !== undefined) this.#perform((to) => to.addBatch(batch))
  }

  /** Writes the holds of this process soon, since that has changed. */
  readonly wake = (): void => this.#perform((to) => to.wake())

  /** Sums are cut at the hours of this time zone from now on. @param zone IANA name */
  readonly setZone = (zone: string): void => {
    if (zone === this.#zone) return
    this.#zone = zone
    this.#recorder?.setZone(zone)
  }

  /** Undefined before the start. */
  get place(): LedgerPlace | undefined {
    return this.#place
  }

  /** Requests without a row in requests.db. */
  get rowsDropped(): number {
    return this.#recorder?.rowsDropped ?? 0
  }

  /** Writes the use so far, for this time at most. */
  async flush(limitMs: number): Promise<void> {
    await (await this.#loading)?.flush(limitMs)
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    await (await this.#loading)?.close()
  }

  async #load(place: LedgerPlace): Promise<UseRecorder> {
    const [{ UseRecorder }, { startUseThread }] = await Promise.all([
      import('../ledger/use/use-recorder.ts'),
      import('../ledger/use/use-thread-link.ts'),
    ])
    const log = this.#log
    this.#recorder = new UseRecorder({
      start: (zone) => startUseThread({ place, zone }, (problem) => this.#reportKeys(problem)),
      onTrouble: (problem) =>
        problem === undefined
          ? log.info('the use of models is written again')
          : log.error('the use of models cannot be written; it waits in memory', { reason: problem }),
      onLost: (batches) =>
        log.error('the use of some requests is lost, since the database cannot be written', { batches }),
      ...(this.#holds === undefined ? {} : { holds: this.#holds }),
    })
    if (this.#zone !== undefined) this.#recorder.setZone(this.#zone)
    return this.#recorder
  }

  #reportKeys(problem: string | undefined): void {
    if (problem === undefined) this.#log.info('keys are read from the database again')
    else this.#log.error('keys cannot be read from the database; they stay as they were', { reason: problem })
  }

  /** Performs work with the recorder: at once, or when it is loaded. */
  #perform(work: (recorder: UseRecorder) => void): void {
    if (this.#recorder === undefined) void this.#loading?.then(work)
    else work(this.#recorder)
  }
}

/** The holds of this process, for the database. */
export interface HeldHere {
  /** Sets the source of the holds, once there are limits of money. */
  follow(sums: () => readonly HeldCost[] | undefined): void
  /** `undefined`: this process never held anything. */
  now(): HeldBy | undefined
}

/** Before a source is set, nothing is held. */
export function heldHere(): HeldHere {
  let sums: () => readonly HeldCost[] | undefined = () => undefined
  let holder: string | undefined
  return {
    follow(source) {
      sums = source
    },
    now() {
      const costs = sums()
      return costs === undefined ? undefined : { holder: (holder ??= ownHolder()), costs }
    },
  }
}
