import { watch, type FSWatcher } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ConfigError } from './config.ts'
import { isMissing } from './error-code.ts'
import { fingerprint } from './fingerprint.ts'

/** How fast changes are noticed, in milliseconds. */
export interface WatchTiming {
  /** Rest after the last sign of a change: editors write in several steps. Default 50. */
  readonly restMs: number
  /** Between two looks at the file's date, for file systems that tell nothing. Default 1,000. */
  readonly pollMs: number
}

/** A file under watch. */
export interface ConfigWatch {
  /** Settles when the file's present content is known: what is written from then on is a change. */
  readonly ready: Promise<void>
  /**
   * Loads anew even if the file is the same, as SIGHUP asks for. Settles when the new configuration is in force or
   * reported as faulty; never rejects.
   */
  reload(): Promise<void>
  /** Nothing is loaded or applied any more. */
  close(): void
}

/**
 * Watches a configuration file (docs/configuration.md). When its content has changed, `load` is called and its result
 * given to `apply`: all or nothing. What `load` or `apply` throw goes to `report`, and what is in force stays. A file
 * that appears is loaded; one that disappears is reported only. Reloads never overlap. Neither the watch nor its timer
 * keeps the process alive. Begin the watch and await `ready` before the first load: then no change falls between the
 * two.
 */
export function watchConfig<Value>(
  path: string,
  load: () => Promise<Value>,
  apply: (config: Value) => void | Promise<void>,
  report: (error: unknown) => void | Promise<void>,
  { restMs, pollMs }: WatchTiming = { restMs: 50, pollMs: 1_000 },
): ConfigWatch {
  let isClosed = false
  let content: string | undefined
  let date: string | undefined
  let watcher: FSWatcher | undefined
  let rest: ReturnType<typeof setTimeout> | undefined
  let queue: Promise<void> = Promise.resolve()
  const poll = setInterval(() => void lookAtDate(), pollMs)
  poll.unref()
  const ready = enqueue(remember)
  watchFolder()

  function enqueue(step: () => Promise<void>): Promise<void> {
    queue = queue.then(() => (isClosed ? undefined : step())).catch(report)
    return queue
  }

  async function remember(): Promise<void> {
    date = await readDate(path)
    content = await readFingerprint(path)
  }

  async function reloadIfChanged(): Promise<void> {
    const seen = await readDate(path),
      found = await readFingerprint(path)
    if (found === content) return
    content = found
    if (found === fingerprint(undefined)) throw gone(path)
    await loadAndApply(seen)
  }

  async function loadAndApply(seen: string | undefined): Promise<void> {
    try {
      const config = await load()
      if (!isClosed) await apply(config)
    } finally {
      // Written meanwhile, perhaps to what it was before: nobody knows which text was loaded.
      if ((await readDate(path)) !== seen) {
        content = undefined
        rouse()
      }
    }
  }

  async function lookAtDate(): Promise<void> {
    if (watcher === undefined) watchFolder()
    const found = await readDate(path)
    if (isClosed || found === date) return
    date = found
    rouse()
  }

  function rouse(): void {
    clearTimeout(rest)
    rest = setTimeout(() => void enqueue(reloadIfChanged), restMs)
    rest.unref()
  }

  /** The folder is watched, not the file: an editor that replaces the file leaves a watch on the old one behind. */
  function watchFolder(): void {
    try {
      watcher = watch(dirname(path), { persistent: false }, (_, name) => {
        if (isClosed) return
        // Behind a symbolic link, other names change; their dates tell whether it concerns us.
        if (name === null || name === basename(path)) rouse()
        else void lookAtDate()
      })
      watcher.on('error', () => {
        watcher?.close()
        watcher = undefined
      })
    } catch {
      // No such folder yet, or no watches left on this machine: the date is looked at, and the watch tried again with it.
      watcher = undefined
    }
  }

  return {
    ready,
    reload() {
      return enqueue(async () => {
        await remember()
        await loadAndApply(date)
      })
    },
    close() {
      isClosed = true
      clearInterval(poll)
      clearTimeout(rest)
      watcher?.close()
    },
  }
}

function gone(path: string): ConfigError {
  return new ConfigError([
    { file: path, field: '', found: 'no file any more', allowed: 'a file; the configuration in force stays' },
  ])
}

/** What a file holds now, as {@link fingerprint} tells it; something of its own where it cannot be read. */
export async function readFingerprint(path: string): Promise<string> {
  try {
    return (await stat(path)).isFile() ? fingerprint(await readFile(path)) : 'no regular file'
  } catch (error) {
    // Loading tells its owner what is wrong with it; here it is only another state than before.
    return isMissing(error) ? fingerprint(undefined) : String(error)
  }
}

/** When a file was last written, its size and which file it is: another text each time it is written. */
export async function readDate(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    // Missing or out of reach: a state of its own.
    return 'none'
  }
}
