import { harmless } from '../base/shown-text.ts'
import { ConfigError, formatFault, type Config } from '../config/config.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import type { ReloadNotice } from '../http/page/page-api.ts'
import type { Logger } from '../observe/log.ts'
import { assembleGateway, type AssembledGateway, type Dependencies } from './assemble.ts'

export interface ActiveConfigOptions {
  /** The file to follow, which need not exist. */
  readonly path: string
  /** Parses the file's text, or detects providers without a file. */
  readonly load: (text: string | undefined) => Promise<Config>
  /** Checks a configuration against the rest of the service, just before it becomes active. @throws {ConfigError} */
  readonly admit: (config: Config) => void
  readonly dependencies: Dependencies
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Called with each configuration that becomes active, the first one included. */
  readonly onActive: (config: Config) => void
  /** Called after every reload, in the reporting process. */
  readonly onReload: (result: 'ok' | 'failed') => void
  /** Called when a reload has changed the configuration, in the reporting process. Default: does nothing. */
  readonly onReplaced?: (active: ActiveConfig) => void
  /** Follows the file. */
  readonly follow: FollowFile
}

/** The current configuration of a running service, with its gateway. */
export class ActiveConfig {
  readonly #options: ActiveConfigOptions
  readonly #watch: FollowedFile
  #config: Config
  #gateway: AssembledGateway
  readonly #last: LastReload

  constructor(first: Config, watch: FollowedFile, last: LastReload, options: ActiveConfigOptions) {
    this.#options = options
    this.#watch = watch
    this.#last = last
    this.#config = first
    this.#gateway = assembleGateway(first, options.dependencies)
    options.onActive(first)
  }

  get config(): Config {
    return this.#config
  }

  /** The gateway of that configuration. */
  get gateway(): AssembledGateway {
    return this.#gateway
  }

  /** Why the file was not loaded; `undefined`: it was. */
  get notice(): ReloadNotice | undefined {
    return this.#last.notice
  }

  /** Reloads the file; a faulty one is reported and ignored. Never rejects. @returns as {@link FollowedFile.reload} */
  reload(): Promise<boolean> {
    return this.#watch.reload()
  }

  /** Loads the last usable text of the file again, since keys in other files have changed. */
  again(): Promise<unknown> {
    return this.#watch.again()
  }

  /** Stops following the file. The gateway keeps serving. */
  close(): void {
    this.#watch.close()
  }

  /** Makes another configuration the active one. @throws as `admit` does; then nothing has changed */
  replace(next: Config, isReporter: boolean): void {
    const { admit, dependencies, onActive, onReload, onReplaced, log } = this.#options
    admit(next)
    const before = this.#gateway
    this.#gateway = assembleGateway(next, dependencies, before)
    this.#config = next
    delete this.#last.notice
    onActive(next)
    before.close(this.#gateway)
    if (!isReporter) return
    onReload('ok')
    onReplaced?.(this)
    const providers = this.#gateway.providers.map(({ id }) => id).join(', ')
    if (providers === '') log.warn('configuration reloaded, but no provider in it is usable')
    else log.info('configuration reloaded', { providers })
  }
}

/** The outcome of the last reload, which may fail before the first configuration is active. */
interface LastReload {
  /** Absent: it succeeded, or there was none. */
  notice?: ReloadNotice
}

/**
 * Loads a configuration, and reloads it on each change of its file, all or nothing (docs/configuration.md).
 *
 * @throws as the first `load` does
 */
export async function activeConfig(options: ActiveConfigOptions): Promise<ActiveConfig> {
  const { path, load, admit, follow, onReload, log } = options
  const last: LastReload = {}
  const started = Promise.withResolvers<ActiveConfig>()
  // Watched before it is read, so that no change is missed.
  const watch = follow({
    path,
    /** Without a file, `load` detects providers. Detected providers never replace those of a file. */
    async load(text) {
      const next = text === undefined ? undefined : await load(text)
      const { config } = await started.promise
      if (next !== undefined) return next
      if (config.source.kind !== 'file') return load(undefined)
      throw new ConfigError([
        {
          file: path,
          field: '',
          found: 'no file any more',
          allowed: 'a file; the previous configuration stays active',
        },
      ])
    },
    apply: async (next, isReporter) => (await started.promise).replace(next, isReporter),
    report(error, isReporter) {
      last.notice = reloadNotice(error, Date.now())
      if (!isReporter) return
      onReload('failed')
      log.error('the configuration was not reloaded; the previous one stays active', {
        reason: error instanceof Error ? error.message : String(error),
      })
    },
  })
  try {
    const first = await load(await watch.text)
    admit(first)
    const active = new ActiveConfig(first, watch, last, options)
    started.resolve(active)
    return active
  } catch (error) {
    watch.close()
    throw error
  }
}

/**
 * The notice to owners that a reload failed. Faults contain no secrets; other errors are only in the log.
 *
 * @param time Unix milliseconds
 */
export function reloadNotice(error: unknown, time: number): ReloadNotice {
  const faults =
    error instanceof ConfigError
      ? error.faults.map((fault) => harmless(formatFault(fault)))
      : ['internal error; see the service log']
  return { time, faults }
}
