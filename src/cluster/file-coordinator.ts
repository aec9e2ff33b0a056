import { watchConfig, type ConfigWatch, type WatchTiming } from '../config/watch-config.ts'
import type { Channel } from './channel.ts'
import { fromFileFault, toFileFault } from './file-fault.ts'
import type { FileFollowerAnswers, Prepared } from './follow-together.ts'

/** What workers ask the primary of the files they follow. */
export type FileCoordinatorAnswers = {
  /** Watches a file; resolves when what it holds is known: what is written from then on is a change. */
  follow(path: string): Promise<void>
  /** Takes a file over anew, changed or not. Resolves when that is done or given up. */
  reload(path: string): Promise<void>
}

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

/** Watches files for workers. @param timing how fast changes are noticed */
export function fileCoordinator(timing?: WatchTiming): FileCoordinator {
  const files = new Map<string, Shared>()

  function fileOf(path: string): Shared {
    const known = files.get(path)
    if (known !== undefined) return known
    const workers = new Set<FileWorker>()
    const made: Shared = {
      workers,
      watch: watchConfig(path, () => prepareAll(path, workers), (ready) => takeOverAll(path, ready), (error) => keepAll(path, workers, error), timing),
    }
    files.set(path, made)
    return made
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

async function takeOverAll(path: string, workers: readonly FileWorker[]): Promise<void> {
  await Promise.allSettled(workers.map((worker, place) => worker.ask('takeOver', { path, isSpeaker: place === 0 })))
}

async function keepAll(path: string, workers: ReadonlySet<FileWorker>, error: unknown): Promise<void> {
  const fault = toFileFault(error)
  await Promise.allSettled(Array.from(workers, (worker, place) => worker.ask('keep', { path, fault, isSpeaker: place === 0 })))
}
