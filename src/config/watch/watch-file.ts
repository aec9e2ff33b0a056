import { watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ConfigError, type ConfigFault } from '../config.ts'
import { readConfigText } from '../file/load-config.ts'

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

/** A watched file. */
export interface FileWatch {
  /** Reads the file. If it has changed, `onChange` is called first. */
  look(): Promise<FileContent>
  /**
   * Calls `onChange` even if the file is unchanged, as for SIGHUP. Resolves when that is done; never rejects.
   *
   * @returns whether it was read
   */
  reload(): Promise<boolean>
  /** Stops the watch: `onChange` is not called any more. */
  close(): void
}

/**
 * Watches a configuration file (docs/configuration.md). `onChange` is called with each content that differs from the
 * previous one. Calls never overlap. Neither the watch nor its timer keeps the process alive.
 */
export function watchFile(
  path: string,
  onChange: (content: FileContent) => Promise<unknown>,
  { restMs, pollMs }: WatchTiming = { restMs: 50, pollMs: 1_000 },
): FileWatch {
  let isClosed = false
  let content: FileContent | undefined
  let date: string | undefined
  let watcher: FSWatcher | undefined
  let rest: ReturnType<typeof setTimeout> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  const poll = setInterval(() => void checkDate(), pollMs)
  poll.unref()

  function look(isForced = false): Promise<FileContent> {
    const looked = queue.then(() => read(isForced))
    queue = looked.catch(() => undefined)
    return looked
  }

  async function read(isForced: boolean): Promise<FileContent> {
    const before = content
    watchAgain()
    // The date is read first, so that a later write changes it.
    date = await readDate(path)
    const found = (content = await readContent(path))
    const isChanged = before !== undefined && !Bun.deepEquals(found, before)
    if ((isChanged || isForced) && !isClosed) await onChange(found)
    return found
  }

  async function checkDate(): Promise<void> {
    const found = await readDate(path)
    if (isClosed || found === date) return
    date = found
    readSoon()
  }

  function readSoon(): void {
    if (isClosed) return
    clearTimeout(rest)
    rest = setTimeout(() => void look().catch(() => undefined), restMs)
    rest.unref()
  }

  /**
   * Watches the file that is at the path now: editors replace files. Not its folder, which also has the databases of
   * the service: thousands of events a second.
   */
  function watchAgain(): void {
    watcher?.close()
    watcher = undefined
    if (isClosed) return
    try {
      const started = (watcher = watch(path, { persistent: false }, readSoon))
      started.on('error', () => started.close())
    } catch {
      // There is no file yet, or the machine has no watches left: `checkDate` finds changes.
    }
  }

  return {
    look: () => look(),
    reload: () =>
      look(true).then(
        () => true,
        () => false,
      ),
    close() {
      isClosed = true
      clearInterval(poll)
      clearTimeout(rest)
      watcher?.close()
    },
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
