import { ConfigError, formatFault, type Config } from '../config/config.ts'
import type { FollowFile } from '../config/watch/follow-file.ts'
import type { ReloadNotice } from '../http/page/page-api.ts'
import type { Logger } from '../observe/log.ts'
import { harmless } from '../observe/text.ts'
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
  /** Follows the file. */
  readonly follow: FollowFile
}

/** The current configuration of a running service. */
export interface ActiveConfig {
  readonly config: Config
  /** The gateway of that configuration. */
  readonly gateway: AssembledGateway
  /** Why the file was not loaded; `undefined`: it was. */
  readonly notice: ReloadNotice | undefined
  /** Reloads the file; a faulty one is reported and ignored. Never rejects. */
  reload(): Promise<unknown>
  /** Stops following the file. */
  close(): void
}

/**
 * Loads a configuration, and reloads it on each change of its file, all or nothing (docs/configuration.md).
 *
 * @throws as the first `load` does
 */
export async function activeConfig({
  path,
  load,
  admit,
  dependencies,
  log,
  onActive,
  onReload,
  follow,
}: ActiveConfigOptions): Promise<ActiveConfig> {
  const started = Promise.withResolvers<void>()
  let notice: ReloadNotice | undefined
  // Watched before it is read, so that no change is missed.
  const watch = follow({ path, load: loadAgain, apply: takeOver, report: keep })
  let config: Config
  try {
    config = await load(await watch.text)
    admit(config)
  } catch (error) {
    watch.close()
    throw error
  }
  let gateway = assembleGateway(config, dependencies)
  onActive(config)
  started.resolve()

  /** Without a file, `load` detects providers. Detected providers never replace those of a file. */
  async function loadAgain(text: string | undefined): Promise<Config> {
    const next = text === undefined ? undefined : await load(text)
    await started.promise
    if (next !== undefined) return next
    if (config.source.kind !== 'file') return load(undefined)
    throw new ConfigError([
      { file: path, field: '', found: 'no file any more', allowed: 'a file; the previous configuration stays active' },
    ])
  }

  async function takeOver(next: Config, isReporter: boolean): Promise<void> {
    admit(next)
    const before = gateway
    gateway = assembleGateway(next, dependencies, before)
    config = next
    notice = undefined
    onActive(config)
    before.close(gateway)
    if (!isReporter) return
    onReload('ok')
    const providers = gateway.providers.map(({ id }) => id).join(', ')
    if (providers === '') log.warn('configuration reloaded, but no provider in it is usable')
    else log.info('configuration reloaded', { providers })
  }

  function keep(error: unknown, isReporter: boolean): void {
    notice = reloadNotice(error, Date.now())
    if (!isReporter) return
    onReload('failed')
    log.error('the configuration was not reloaded; the previous one stays active', {
      reason: error instanceof Error ? error.message : String(error),
    })
  }

  return {
    get config() {
      return config
    },
    get gateway() {
      return gateway
    },
    get notice() {
      return notice
    },
    reload: () => watch.reload(),
    close: () => watch.close(),
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
