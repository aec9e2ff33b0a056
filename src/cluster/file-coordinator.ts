import { watchConfig, type ConfigWatch, type WatchTiming } from '../config/watch-config.ts'
import type { Channel } from './channel.ts'
import { fromFileFault, toFileFault } from './file-fault.ts'
import type { FileCoordinatorAnswers, FileFollowerAnswers, Prepared } from './file-messages.ts'

/** A worker, as far as files are concerned. */
export type FileWorker = Pick<Channel<FileFollowerAnswers>, 'ask'>

/** Has all workers take a changed file over, or none. */
export interface FileCoordinator {
  /** What one worker may ask. */
  answersTo(worker: FileWorker): FileCoordinatorAnswers
  /** The worker has ended. */
  forget(worker: FileWorker): void
  /** Every file anew, as SIGHUP asks for. */
  reloadAll(): Promise<void>
  close(): void
}

interface Shared {
  readonly watch: ConfigWatch
  readonly workers: Set<FileWorker>
}

const triesMost = 5
/** An extension may ask its identity provider before it is ready. */
const prepareMs = 60_000

/** What {@link fileCoordinator} needs. */
export interface FileCoordinatorOptions {
  /** Told of every attempt to take a file over. */
  readonly onOutcome?: (path: string, outcome: 'ok' | 'failed') => void
  /** How fast changes are noticed. */
  readonly timing?: WatchTiming
}

/** Watches files for workers. */
export function fileCoordinator({ onOutcome, timing }: FileCoordinatorOptions = {}): FileCoordinator {
  const files = new Map<string, Shared>()

  function fileOf(path: string): Shared {
    const known = files.get(path)
    if (known !== undefined) return known
    const workers = new Set<FileWorker>()
    const made: Shared = {
      workers,
      watch: watchConfig(path, () => prepareAll(path, workers), (ready) => takeOver(path, ready), (error) => keep(path, workers, error), timing),
    }
    files.set(path, made)
    return made
  }

  async function takeOver(path: string, workers: readonly FileWorker[]): Promise<void> {
    await Promise.allSettled(workers.map((worker, place) => worker.ask('takeOver', { path, isSpeaker: place === 0 })))
    onOutcome?.(path, 'ok')
  }

  async function keep(path: string, workers: ReadonlySet<FileWorker>, error: unknown): Promise<void> {
    const fault = toFileFault(error)
    await Promise.allSettled(Array.from(workers, (worker, place) => worker.ask('keep', { path, fault, isSpeaker: place === 0 })))
    onOutcome?.(path, 'failed')
  }

  return {
    answersTo: (worker) => ({
      async follow(path) {
        const { workers, watch } = fileOf(path)
        workers.add(worker)
        await watch.ready
      },
      reload: async (path) => await files.get(path)?.watch.reload(),
    }),
    forget(worker) {
      for (const { workers } of files.values()) workers.delete(worker)
    },
    async reloadAll() {
      await Promise.all(Array.from(files.values(), ({ watch }) => watch.reload()))
    },
    close() {
      for (const { watch } of files.values()) watch.close()
      files.clear()
    },
  }
}

/** @returns those that have loaded it, all the same content @throws why one could not */
async function prepareAll(path: string, workers: ReadonlySet<FileWorker>): Promise<readonly FileWorker[]> {
  for (let attempt = 1; attempt <= triesMost; attempt++) {
    const answers = await Promise.all(Array.from(workers, async (worker) => ({ worker, prepared: await prepare(path, worker, workers) })))
    const present = answers.flatMap(({ worker, prepared }) => (prepared === undefined ? [] : [{ worker, prepared }]))
    const fingerprints = new Set<string>()
    for (const { prepared } of present) {
      if ('fault' in prepared) throw fromFileFault(prepared.fault)
      fingerprints.add(prepared.fingerprint)
    }
    if (fingerprints.size <= 1) return present.map(({ worker }) => worker)
  }
  throw new Error(`${path} changes faster than all workers can read it`)
}

/** @returns nothing for a worker that has ended meanwhile: who takes its place reads the file anyway */
async function prepare(path: string, worker: FileWorker, workers: ReadonlySet<FileWorker>): Promise<Prepared | undefined> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('a worker does not answer')), prepareMs)
  try {
    return await Promise.race([worker.ask('prepare', path), late.promise])
  } catch (error) {
    if (workers.has(worker)) throw error
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
