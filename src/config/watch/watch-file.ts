import { watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ConfigError, type ConfigFault } from '../config.ts'
import { readConfigText } from '../file/read-text.ts'

/** Times of a watch, in milliseconds. */
export interface WatchTiming {
  /** Delay after the last event before the file is read, since editors write in several steps. Default 50. */
  readonly restMs: number
  /** Interval between checks of the date, since new files have no events, nor have some file systems. Default 1,000. */
  readonly pollMs: number
}

/** The content of a file: its text, or why it cannot be read; neither without a file. Plain JSON. */
export interface FileContent {
  readonly text?: string
  readonly faults?: readonly ConfigFault[]
}

/**
 * Watches a configuration file (docs/configuration.md). `onChange` is called with each content that differs from the
 * previous one. Calls never overlap. Neither the watch nor its timer keeps the process alive.
 */
export class FileWatch {
  readonly #path: string
  readonly #onChange: (content: FileContent) => Promise<unknown>
  readonly #restMs: number
  readonly #poll: ReturnType<typeof setInterval>
  #isClosed = false
  #content: FileContent | undefined
  #date: string | undefined
  #watcher: FSWatcher | undefined
  #rest: ReturnType<typeof setTimeout> | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(
    path: string,
    onChange: (content: FileContent) => Promise<unknown>,
    { restMs, pollMs }: WatchTiming = { restMs: 50, pollMs: 1_000 },
  ) {
    this.#path = path
    this.#onChange = onChange
    this.#restMs = restMs
    this.#poll = setInterval(() => void this.#checkDate(), pollMs)
    this.#poll.unref()
  }

  /** Reads the file. If it has changed, `onChange` is called first. */
  look(): Promise<FileContent> {
    return this.#enqueue(false)
  }

  /**
   * Calls `onChange` even if the file is unchanged, as for SIGHUP. Resolves when that is done; never rejects.
   *
   * @returns whether it was read
   */
  reload(): Promise<boolean> {
    return this.#enqueue(true).then(
      () => true,
      () => false,
    )
  }

  /** Stops the watch: `onChange` is not called any more. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#poll)
    clearTimeout(this.#rest)
    this.#watcher?.close()
  }

  #enqueue(isForced: boolean): Promise<FileContent> {
    const looked = this.#queue.then(() => this.#read(isForced))
    this.#queue = looked.catch(() => undefined)
    return looked
  }

  async #read(isForced: boolean): Promise<FileContent> {
    const before = this.#content
    this.#watchAgain()
    // The date is read first, so that a later write changes it.
    this.#date = await readDate(this.#path)
    const found = (this.#content = await readContent(this.#path))
    const isChanged = before !== undefined && !Bun.deepEquals(found, before)
    if ((isChanged || isForced) && !this.#isClosed) await this.#onChange(found)
    return found
  }

  async #checkDate(): Promise<void> {
    const found = await readDate(this.#path)
    if (this.#isClosed || found === this.#date) return
    this.#date = found
    this.#readSoon()
  }

  #readSoon(): void {
    if (this.#isClosed) return
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => void this.look().catch(() => undefined), this.#restMs)
    this.#rest.unref()
  }

  /**
   * Watches the file that is at the path now: editors replace files. Not its folder, which also has the databases of
   * the service: thousands of events a second.
   */
  #watchAgain(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    if (this.#isClosed) return
    try {
      const started = (this.#watcher = watch(this.#path, { persistent: false }, () => this.#readSoon()))
      started.on('error', () => started.close())
    } catch {
      // There is no file yet, or the machine has no watches left: `#checkDate` finds changes.
    }
  }
}

async function readContent(path: string): Promise<FileContent> {
  try {
    const text = await readConfigText(path)
    return text === undefined ? {} : { text }
  } catch (error) {
    if (error instanceof ConfigError) return { faults: error.faults }
    throw error
  }
}

/** Reads modification time, size and inode, which change with every write. */
async function readDate(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    // Missing or unreadable.
    return 'none'
  }
}
