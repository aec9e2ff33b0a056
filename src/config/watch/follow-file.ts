import { ConfigError } from '../config.ts'
import { FileWatch, type FileContent, type WatchTiming } from './watch-file.ts'

/** A file that is reloaded when it changes, with the callbacks for its text. */
export interface Followed<Value> {
  readonly path: string
  /** Parses the text; `undefined` without a file. @throws when the text has faults */
  load(text: string | undefined): Promise<Value>
  /**
   * Applies the value.
   *
   * @param isReporter whether this process logs the change; of several processes only one does
   */
  apply(value: Value, isReporter: boolean): void | Promise<void>
  /** Reports a file that cannot be used. The active value stays. */
  report(error: unknown, isReporter: boolean): void | Promise<void>
}

/** A followed file. */
export interface FollowedFile {
  /**
   * The initial text; `undefined` without a file. Only later changes are applied.
   *
   * @throws {ConfigError} when it cannot be read
   */
  readonly text: Promise<string | undefined>
  /**
   * Applies the file even if it is unchanged, as for SIGHUP. Resolves when that is done; never rejects.
   *
   * @returns whether no process of the service uses another content any more
   */
  reload(): Promise<boolean>
  /** Applies the last usable content once more, in this process alone: something that its parsing reads has changed. */
  again(): Promise<unknown>
  /** Stops following: nothing is applied or reported any more. */
  close(): void
}

/** Follows a file, which this process or another one watches. */
export type FollowFile = <Value>(followed: Followed<Value>) => FollowedFile

/** Follows files in this process alone. */
export function followHere(timing?: WatchTiming): FollowFile {
  return (followed) => {
    const applier = fileApplier(followed)
    let isApplied = true
    const watch = new FileWatch(
      followed.path,
      async (content) => {
        isApplied = (await applier.apply(content, true)) !== false
      },
      timing,
    )
    return {
      text: watch.look().then(applier.begin),
      again: applier.again,
      reload: async () => (await watch.reload()) && isApplied,
      close() {
        applier.close()
        watch.close()
      },
    }
  }
}

/** Applies contents of a followed file, each completely or not at all. */
export interface FileApplier {
  /** Takes the first content, which is applied by the caller. @returns its text @throws {ConfigError} */
  begin(content: FileContent): string | undefined
  /** Applies the last content that could be used. */
  again(): Promise<unknown>
  /** @returns whether the content was applied; `undefined` once closed */
  apply(content: FileContent, isReporter: boolean): Promise<boolean | undefined>
  close(): void
}

/** Makes the applier of one file. It applies one content after the other. */
export function fileApplier<Value>({ load, apply, report }: Followed<Value>): FileApplier {
  let isClosed = false
  let queue: Promise<unknown> = Promise.resolve()
  let last: FileContent | undefined

  async function applyNow(content: FileContent, isReporter: boolean): Promise<boolean | undefined> {
    try {
      const value = await load(requireText(content))
      if (isClosed) return undefined
      await apply(value, isReporter)
      last = content
      return true
    } catch (error) {
      if (isClosed) return undefined
      await report(error, isReporter)
      return false
    }
  }

  function inTurn(work: () => Promise<boolean | undefined>): Promise<boolean | undefined> {
    const done = queue.then(work)
    queue = done.catch(() => undefined)
    return done
  }

  return {
    begin(content) {
      last = content
      return requireText(content)
    },
    again: () => inTurn(async () => (last === undefined ? undefined : applyNow(last, false))),
    apply: (content, isReporter) => inTurn(() => applyNow(content, isReporter)),
    close() {
      isClosed = true
    },
  }
}

/** Returns the text of a content. @throws {ConfigError} when the file cannot be read */
export function requireText({ text, faults }: FileContent): string | undefined {
  if (faults !== undefined) throw new ConfigError(faults)
  return text
}
