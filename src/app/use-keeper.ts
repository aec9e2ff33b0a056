import { dirname, join } from 'node:path'
import type { RecordedUse } from '../ledger/use/use-batch.ts'
import type { UseRecorder } from '../ledger/use/use-recorder.ts'
import type { Logger } from '../observe/log.ts'
import type { RequestRecord } from '../observe/record.ts'

/** Records the use by requests, from its start on. Before, and without a database, it does nothing. */
export interface UseKeeper {
  /** Starts the thread, once. @param path of svc.db; requests.db is beside it */
  start(path: string): void
  add(record: RequestRecord): void
  addBatch(batch: RecordedUse): void
  /** Sums are cut at the hours of this time zone from now on. @param zone IANA name */
  setZone(zone: string): void
  /** Path of svc.db; undefined before the start. */
  readonly path: string | undefined
  /** Writes the use so far, for this time at most. */
  flush(limitMs: number): Promise<void>
  /** Requests without a row in requests.db. */
  readonly rowsDropped: number
  /** Writes the rest. */
  close(): Promise<void>
}

/** Makes a keeper that reports trouble with the database in the log. The code of the ledger is loaded by its start. */
export function useKeeper(log: Pick<Logger, 'error' | 'info'>): UseKeeper {
  let loading: Promise<UseRecorder> | undefined
  let recorder: UseRecorder | undefined
  let ledgerPath: string | undefined
  let zone: string | undefined

  async function load(path: string): Promise<UseRecorder> {
    const [{ useRecorder }, { startUseThread }] = await Promise.all([
      import('../ledger/use/use-recorder.ts'),
      import('../ledger/use/use-thread-link.ts'),
    ])
    const files = { path, rowsPath: join(dirname(path), 'requests.db') }
    recorder = useRecorder({
      start: (zone) => startUseThread({ ...files, zone }),
      onTrouble: (problem) =>
        problem === undefined
          ? log.info('the use of models is written again')
          : log.error('the use of models cannot be written; it waits in memory', { reason: problem }),
      onLost: (batches) =>
        log.error('the use of some requests is lost, since the database cannot be written', { batches }),
    })
    if (zone !== undefined) recorder.setZone(zone)
    return recorder
  }

  /** Performs work with the recorder: at once, or when it is loaded. */
  function perform(work: (recorder: UseRecorder) => void): void {
    if (recorder === undefined) void loading?.then(work)
    else work(recorder)
  }

  return {
    start(path) {
      ledgerPath ??= path
      loading ??= load(path)
    },
    add: (record) => perform((to) => to.add(record)),
    addBatch({ source, number, count, records }) {
      if (count > 0) perform((to) => to.addBatch({ source, number, count, records }))
    },
    setZone(next) {
      if (next === zone) return
      zone = next
      recorder?.setZone(next)
    },
    get path() {
      return ledgerPath
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
