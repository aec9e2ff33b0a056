import { fingerprint } from '../config/fingerprint.ts'
import { readFingerprint, watchConfig, type ConfigWatch, type WatchTiming } from '../config/watch-config.ts'
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
  /** Workers have found something there, sound or not, and none has been told to do without it since. */
  isNeeded: boolean
}

const triesMost = 5

/** What {@link fileCoordinator} needs. */
export interface FileCoordinatorOptions {
  /** Called before the workers load a file anew. */
  readonly onPrepare?: (path: string) => void
  /** Told of every attempt to take a file over. */
  readonly onOutcome?: (path: string, outcome: 'ok' | 'failed') => void
  /** How fast changes are noticed. */
  readonly timing?: WatchTiming
  /**
   * Milliseconds a worker may take for an answer: an extension may ask its identity provider before it is ready.
   * Default 60,000.
   */
  readonly answerMs?: number
}

/** Watches files for workers. */
export function fileCoordinator({
  onPrepare,
  onOutcome,
  timing,
  answerMs = 60_000,
}: FileCoordinatorOptions = {}): FileCoordinator {
  const files = new Map<string, Shared>()

  function fileOf(path: string): Shared {
    const known = files.get(path)
    if (known !== undefined) return known
    const workers = new Set<FileWorker>()
    const made: Shared = {
      workers,
      isNeeded: false,
      watch: watchConfig(
        path,
        () => {
          onPrepare?.(path)
          return prepareAll(path, workers, answerMs)
        },
        async (ready) => {
          await takeOver(path, ready)
          made.isNeeded = await isThere(path)
        },
        async (error) => {
          made.isNeeded ||= await isThere(path)
          await keep(path, workers, error)
        },
        timing,
      ),
    }
    files.set(path, made)
    return made
  }

  async function takeOver(path: string, workers: readonly FileWorker[]): Promise<void> {
    await Promise.allSettled(
      workers.map((worker, place) => inTime(worker.ask('takeOver', { path, isSpeaker: place === 0 }), answerMs)),
    )
    onOutcome?.(path, 'ok')
  }

  async function keep(path: string, workers: ReadonlySet<FileWorker>, error: unknown): Promise<void> {
    const fault = toFileFault(error)
    await Promise.allSettled(
      Array.from(workers, (worker, place) =>
        inTime(worker.ask('keep', { path, fault, isSpeaker: place === 0 }), answerMs),
      ),
    )
    onOutcome?.(path, 'failed')
  }

  return {
    answersTo: (worker) => ({
      async follow(path) {
        const file = fileOf(path)
        file.workers.add(worker)
        await file.watch.ready
        const found = await isThere(path)
        // What stays in force at the others may be sign-in: one that begins without it would let everybody in.
        if (file.isNeeded && !found)
          throw new Error(
            `${path} is gone, and what it held stays in force: put it back, or start the whole service again`,
          )
        file.isNeeded ||= found
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

async function isThere(path: string): Promise<boolean> {
  return (await readFingerprint(path)) !== fingerprint(undefined)
}

/** @returns those that have loaded it, all the same content @throws why one could not */
async function prepareAll(
  path: string,
  workers: ReadonlySet<FileWorker>,
  answerMs: number,
): Promise<readonly FileWorker[]> {
  for (let attempt = 1; attempt <= triesMost; attempt++) {
    const answers = await Promise.all(
      Array.from(workers, async (worker) => ({ worker, prepared: await prepare(path, worker, workers, answerMs) })),
    )
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

/** @returns nothing for a worker that has ended meanwhile, or is about to: who takes its place reads the file anyway */
async function prepare(
  path: string,
  worker: FileWorker,
  workers: ReadonlySet<FileWorker>,
  answerMs: number,
): Promise<Prepared | undefined> {
  try {
    return await inTime(worker.ask('prepare', path), answerMs)
  } catch (error) {
    if (workers.has(worker)) throw error
    return undefined
  }
}

/**
 * A worker that stands still must not keep the others from ever taking a file over again. @throws when there is no
 * answer in time
 */
async function inTime<Answer>(answer: Promise<Answer>, answerMs: number): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('a worker does not answer')), answerMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
