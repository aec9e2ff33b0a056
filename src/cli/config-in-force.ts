import type { Config } from '../config/config.ts'
import type { FollowFile } from '../config/follow-file.ts'
import type { ReloadNotice } from '../http/page-api.ts'
import type { Logger } from '../observe/log.ts'
import { assembleGateway, type AssembledGateway, type Surroundings } from './assemble.ts'
import { reloadNotice } from './reload-notice.ts'

/** What {@link configInForce} needs. */
export interface ConfigInForceOptions {
  /** The file that is watched, be it there or not. */
  readonly path: string
  /** The configuration as it is now. */
  readonly load: () => Promise<Config>
  readonly surroundings: Surroundings
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Told of every attempt to take a changed configuration over, in the process that speaks for all. */
  readonly onReload: (result: 'ok' | 'failed') => void
  /** Follows the file. */
  readonly follow: FollowFile
}

/** The configuration of a running service, which follows its file. */
export interface ConfigInForce {
  readonly config: Config
  /** What was made of it. */
  readonly gateway: AssembledGateway
  /** Why the file as it is now is not in force; `undefined`: it is. */
  readonly notice: ReloadNotice | undefined
  /** Takes the file over as it is now, as far as it is sound. Never rejects. */
  reload(): Promise<void>
  /** The file is followed no longer; what is in force stays. */
  close(): void
}

/**
 * Loads a configuration, and loads it again for each change of its file: all or nothing (docs/configuration.md).
 * @throws what the first `load` does
 */
export async function configInForce({
  path,
  load,
  surroundings,
  log,
  onReload,
  follow,
}: ConfigInForceOptions): Promise<ConfigInForce> {
  const started = Promise.withResolvers<void>()
  let notice: ReloadNotice | undefined
  // Watched before it is read, so that no change falls between.
  const watch = follow({ path, load, apply: takeOver, report: keep })
  let config: Config
  try {
    await watch.ready
    config = await load()
  } catch (error) {
    watch.close()
    throw error
  }
  let gateway = assembleGateway(config, surroundings)
  started.resolve()

  async function takeOver(next: Config, isSpeaker: boolean): Promise<void> {
    await started.promise
    const before = gateway
    gateway = assembleGateway(next, surroundings, before)
    config = next
    notice = undefined
    before.close(gateway)
    if (!isSpeaker) return
    onReload('ok')
    const providers = gateway.providers.map(({ id }) => id).join(', ')
    if (providers === '') log.warn('configuration reloaded, but no provider in it is usable')
    else log.info('configuration reloaded', { providers })
  }

  function keep(error: unknown, isSpeaker: boolean): void {
    notice = reloadNotice(error, Date.now())
    if (!isSpeaker) return
    onReload('failed')
    log.error('the configuration was not reloaded; the one before stays in force', {
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
