import { threadFile } from './thread-file.ts'
import type { FromThread, ThreadOptions, ToThread } from './thread-messages.ts'
import type { RecordedUse, UseBatch } from './use-batch.ts'
import type { WriteResult } from './use-store.ts'

/** The thread that writes the use, as its starter sees it. */
export interface UseThread {
  /** One call at a time: the next one follows the result. */
  write(batches: readonly UseBatch[]): void
  setZone(zone: string): void
  /** Closes the database. Resolves when the thread has ended. */
  close(): Promise<void>
  /** Called once, when the database is open, and the holds of dead processes are booked. */
  onReady(listener: () => void): void
  onResult(listener: (result: WriteResult) => void): void
  /** Called once, when the thread has ended. */
  onEnd(listener: () => void): void
}

/**
 * Starts the thread. It does not keep the process alive.
 *
 * @param onKeysTrouble the keys cannot be read from the server; `undefined`: they can again
 */
export function startUseThread(
  options: ThreadOptions,
  onKeysTrouble: (problem: string | undefined) => void = () => undefined,
): UseThread {
  const worker = new Worker(threadFile(), { name: 'svc-ledger' })
  const closed = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  let listener: ((result: WriteResult) => void) | undefined
  const send = (message: ToThread): void => worker.postMessage(message)

  worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
    if (data.kind === 'written') listener?.(data.result)
    else if (data.kind === 'ready') ready.resolve()
    else if (data.kind === 'keys') onKeysTrouble(data.problem)
  }
  // An error of the thread ends it; `close` follows.
  worker.onerror = (event) => event.preventDefault()
  worker.addEventListener('close', () => closed.resolve())
  worker.unref()
  send({ kind: 'open', options })
  return {
    write(batches) {
      for (const batch of batches) send('sums' in batch ? { kind: 'sums', batch } : recordsMessage(batch))
      send({ kind: 'write' })
    },
    setZone: (zone) => send({ kind: 'zone', zone }),
    close() {
      worker.ref()
      send({ kind: 'close' })
      return closed.promise
    },
    onReady: (listen) => void ready.promise.then(listen),
    onResult(next) {
      listener = next
    },
    onEnd: (listen) => void closed.promise.then(listen),
  }
}

function recordsMessage({ holds, ...requests }: RecordedUse): ToThread {
  return { kind: 'records', ...requests, ...(holds === undefined ? {} : { holds: JSON.stringify(holds) }) }
}
