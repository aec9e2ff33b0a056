import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { ownHolder } from '../ledger/use/holder.ts'
import type { RecordedUse } from '../ledger/use/use-batch.ts'
import type { UseRecorder } from '../ledger/use/use-recorder.ts'
import type { Logger } from '../observe/log.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { HeldBy, HeldCost } from '../observe/under-way.ts'

/** Records the use by requests, from its start on. Before, and without a database, it does nothing. */
export interface UseKeeper {
  /** Starts the thread, once. */
  start(place: LedgerPlace): void
  add(record: RequestRecord): void
  addBatch(batch: RecordedUse): void
  /** Writes what this process holds soon, since that has changed. */
  wake(): void
  /** Sums are cut at the hours of this time zone from now on. @param zone IANA name */
  setZone(zone: string): void
  /** Undefined before the start. */
  readonly place: LedgerPlace | undefined
  /** Writes the use so far, for this time at most. */
  flush(limitMs: number): Promise<void>
  /** Requests without a row in requests.db. */
  readonly rowsDropped: number
  /** Writes the rest. */
  close(): Promise<void>
}

/**
 * Makes a keeper that reports trouble with the database in the log. The code of the ledger is loaded by its start.
 *
 * @param holds what this process holds; `undefined`: it never held anything
 */
export function useKeeper(log: Pick<Logger, 'error' | 'info'>, holds?: () => HeldBy | undefined): UseKeeper {
  let loading: Promise<UseRecorder> | undefined
  let recorder: UseRecorder | undefined
  let ledger: LedgerPlace | undefined
  let zone: string | undefined

  async function load(place: LedgerPlace): Promise<UseRecorder> {
    const [{ useRecorder }, { startUseThread }] = await Promise.all([
      import('../ledger/use/use-recorder.ts'),
      import('../ledger/use/use-thread-link.ts'),
    ])
    recorder = useRecorder({
      start: (zone) => startUseThread({ place, zone }, reportKeys),
      onTrouble: (problem) =>
        problem === undefined
          ? log.info('the use of models is written again')
          : log.error('the use of models cannot be written; it waits in memory', { reason: problem }),
      onLost: (batches) =>
        log.error('the use of some requests is lost, since the database cannot be written', { batches }),
      ...(holds === undefined ? {} : { holds }),
    })
    if (zone !== undefined) recorder.setZone(zone)
    return recorder
  }

  function reportKeys(problem: string | undefined): void {
    if (problem === undefined) log.info('keys are read from the database again')
    else log.error('keys cannot be read from the database; they stay as they were', { reason: problem })
  }

  /** Performs work with the recorder: at once, or when it is loaded. */
  function perform(work: (recorder: UseRecorder) => void): void {
    if (recorder === undefined) void loading?.then(work)
    else work(recorder)
  }

  return {
    start(place) {
      ledger ??= place
      loading ??= load(place)
    },
    add: (record) => perform((to) => to.add(record)),
    addBatch({ source, number, count, records, holds: held }) {
      const batch = { source, number, count, records, ...(held === undefined ? {} : { holds: held }) }
      if (count > 0 || held !== undefined) perform((to) => to.addBatch(batch))
    },
    wake: () => perform((to) => to.wake()),
    setZone(next) {
      if (next === zone) return
      zone = next
      recorder?.setZone(next)
    },
    get place() {
      return ledger
    },
    async flush(limitMs) {
      await (await loading)?.flush(limitMs)
    },
    get rowsDropped() {
      return recorder?.rowsDropped ?? 0
    },
    async close() {
      await (await loading)?.close()
    },
  }
}

/** What this process holds, for the database. */
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
