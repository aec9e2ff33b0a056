import { LedgerUnavailable } from '../ledger.ts'
import type { PerformWork } from '../work.ts'
import { preparedUse, type PreparedUse } from './named-use.ts'
import type { ReadBatch } from './use-batch.ts'
import { UseNames } from './use-names.ts'
import { forgottenPeople, NamesOutdated } from './use-works.ts'
import { zoneHours, type ZoneHours } from './zone-hours.ts'

export interface UseWriterOptions {
  /** Finds and stores names. Stored names stay, also if the batch fails. */
  readonly perform: PerformWork
  /** IANA name. */
  readonly zone: string
  /** Unix milliseconds. */
  readonly now: () => number
}

/**
 * Prepares batches for their transaction. Names have their ids before it, so that those stay right if it fails, and
 * machines that store the same names do not wait for each other's batches.
 */
export class UseWriter {
  hours: ZoneHours
  readonly #names: UseNames
  readonly #perform: PerformWork

  /** @throws {RangeError} for an unknown zone */
  constructor({ perform, zone, now }: UseWriterOptions) {
    this.#perform = perform
    this.hours = zoneHours(zone)
    this.#names = new UseNames(now)
  }

  setZone(zone: string): void {
    if (zone !== this.hours.zone) this.hours = zoneHours(zone)
  }

  /** Looks up all ids again. */
  forgetNames(): void {
    this.#names.clear()
  }

  /** Adds batches, and again if ids became outdated meanwhile. @throws {LedgerUnavailable} */
  async write<Value>(batches: readonly ReadBatch[], add: (prepared: PreparedUse) => Promise<Value>): Promise<Value> {
    try {
      return await add(await this.#prepare(batches))
    } catch (error) {
      if (error instanceof NamesOutdated) {
        this.forgetNames()
        return await add(await this.#prepare(batches))
      }
      // Ids may belong to a database that was put back since.
      if (!(error instanceof LedgerUnavailable)) this.forgetNames()
      throw error
    }
  }

  async #prepare(batches: readonly ReadBatch[]): Promise<PreparedUse> {
    const names = this.#names
    names.mark ??= await this.#perform(forgottenPeople)
    names.collect()
    const prepared = preparedUse(batches, this.hours, names)
    if (!names.hasNew) return prepared
    try {
      await this.#perform(() => names.store())
    } catch (error) {
      names.clear() // It may know ids that were rolled back.
      throw error
    }
    return preparedUse(batches, this.hours, names)
  }
}
