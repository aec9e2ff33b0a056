import { fileApplier, type FileApplier, type FollowFile } from '../config/watch/follow-file.ts'
import { FileWatch, type FileContent, type WatchTiming } from '../config/watch/watch-file.ts'
import { withinMs } from '../service/within.ts'
import type { Channel } from './channel.ts'

/** A worker waits this long for a reload; a primary that takes longer is stopped. */
const reloadMs = 90_000

/** Handled by the primary. */
export type SharedFileHandlers = {
  /**
   * Follows a file; later contents come by `takeFile`.
   *
   * @throws when the file is gone, but the other workers still use its last content
   */
  follow(path: string): Promise<FileContent>
  unfollow(path: string): void
  /** Has all workers take a file over, changed or not. @returns whether no worker uses another content any more */
  reload(path: string): Promise<boolean>
}

/** Handled by a worker. */
export type FollowerHandlers = {
  /**
   * Takes a content over.
   *
   * @returns whether it is active; `undefined`: the worker no longer follows the file
   */
  takeFile(order: {
    readonly path: string
    readonly content: FileContent
    readonly isReporter: boolean
  }): Promise<boolean | undefined>
}

/** A worker, as far as files are concerned. */
export type FileWorker = Pick<Channel<FollowerHandlers>, 'call'>

export interface SharedFilesOptions<Worker extends FileWorker> {
  /** Called before a text is sent to the workers. */
  readonly onChange?: (path: string) => void
  /** `failed`: no worker uses the text. */
  readonly onOutcome?: (path: string, outcome: 'ok' | 'failed') => void
  /** A worker could not use a text that another one uses: its configuration differs. */
  readonly onDifference?: (worker: Worker) => void
  /** A worker did not answer in time, and another one uses the text. It must serve no more requests. */
  readonly onSilent?: (worker: Worker) => void
  readonly timing?: WatchTiming
  /** How long a worker may take for a text, in milliseconds. Default 60,000. */
  readonly answerMs?: number
}

interface SharedFile<Worker> {
  readonly watch: FileWatch
  readonly workers: Set<Worker>
  /** A worker has read the file, and since then none has accepted that the file is gone. */
  isNeeded: boolean
  /** No worker uses another content than the last one. */
  isTaken: boolean
}

/** The files that workers follow, watched and read by the primary alone, so that all workers get the same text. */
export class SharedFiles<Worker extends FileWorker> {
  readonly #options: SharedFilesOptions<Worker>
  readonly #files = new Map<string, SharedFile<Worker>>()

  constructor(options: SharedFilesOptions<Worker> = {}) {
    this.#options = options
  }

  handlersOf(worker: Worker): SharedFileHandlers {
    return {
      follow: (path) => this.#follow(path, worker),
      unfollow: (path) => void this.#files.get(path)?.workers.delete(worker),
      reload: async (path) => {
        const file = this.#files.get(path)
        return file !== undefined && (await file.watch.reload()) && file.isTaken
      },
    }
  }

  /** The worker has ended. */
  forget(worker: Worker): void {
    for (const { workers } of this.#files.values()) workers.delete(worker)
  }

  /** Every file, changed or not, as SIGHUP asks for. */
  async reloadAll(): Promise<void> {
    await Promise.all(Array.from(this.#files.values(), ({ watch }) => watch.reload()))
  }

  close(): void {
    for (const { watch } of this.#files.values()) watch.close()
    this.#files.clear()
  }

  async #follow(path: string, worker: Worker): Promise<FileContent> {
    const file = this.#files.get(path) ?? this.#watch(path)
    const content = await file.watch.look()
    file.workers.add(worker)
    // The file may configure sign-in: a worker that starts without it would serve without sign-in.
    if (file.isNeeded && !isThere(content))
      throw new Error(
        `${path} is gone, and its last content stays active: put it back, or start the whole service again`,
      )
    file.isNeeded ||= isThere(content)
    return content
  }

  #watch(path: string): SharedFile<Worker> {
    const made: SharedFile<Worker> = {
      workers: new Set(),
      isNeeded: false,
      isTaken: true,
      watch: new FileWatch(path, (content) => this.#share(path, made, content), this.#options.timing),
    }
    this.#files.set(path, made)
    return made
  }

  async #share(path: string, file: SharedFile<Worker>, content: FileContent): Promise<void> {
    const { onChange, onOutcome, onDifference, onSilent, answerMs = 60_000 } = this.#options
    onChange?.(path)
    const answers = await Promise.all(
      Array.from(file.workers, async (worker, index) => ({
        worker,
        answer: await withinMs(
          worker.call('takeFile', { path, content, isReporter: index === 0 }).then(answerOf, () => 'left'),
          answerMs,
        ),
      })),
    )
    const refusing = answers.filter(({ answer }) => answer === 'refused')
    const late = answers.filter(({ answer }) => answer === undefined)
    const isUsed = answers.some(({ answer }) => answer === 'taken')
    const isTaken = refusing.length === 0 || isUsed
    if (isUsed) {
      for (const { worker } of refusing) onDifference?.(worker)
      for (const { worker } of late) onSilent?.(worker)
    }
    file.isTaken = refusing.length === 0 && (isUsed || late.length === 0)
    file.isNeeded = isThere(content) || (!isTaken && file.isNeeded)
    onOutcome?.(path, isTaken ? 'ok' : 'failed')
  }
}

/** @param isTaken see {@link FollowerHandlers.takeFile} */
function answerOf(isTaken: boolean | undefined): 'taken' | 'refused' | 'left' {
  if (isTaken === undefined) return 'left'
  return isTaken ? 'taken' : 'refused'
}

function isThere({ text, faults }: FileContent): boolean {
  return text !== undefined || faults !== undefined
}

/** Follows files in a worker; the primary watches them. */
export function followShared(primary: Pick<Channel<SharedFileHandlers>, 'call' | 'notify'>): {
  readonly follow: FollowFile
  readonly handlers: FollowerHandlers
} {
  const appliers = new Map<string, FileApplier>()
  return {
    follow(followed) {
      const { path } = followed
      const applier = fileApplier(followed)
      appliers.set(path, applier)
      return {
        text: primary.call('follow', path).then(applier.begin),
        again: applier.again,
        reload: () =>
          withinMs(primary.call('reload', path), reloadMs).then(
            (isTaken) => isTaken === true,
            () => false,
          ),
        close() {
          applier.close()
          appliers.delete(path)
          primary.notify('unfollow', path)
        },
      }
    },
    handlers: {
      takeFile: async ({ path, content, isReporter }) => await appliers.get(path)?.apply(content, isReporter),
    },
  }
}
