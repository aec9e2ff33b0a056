import { ConfigError } from '../../config/config.ts'
import { exists, exposureOf, parseExtensionFile, type ExtensionFile } from '../../config/file/extension-file.ts'
import type { Environment } from '../../config/file/resolve-provider.ts'
import { extensionFile } from '../../config/home.ts'
import type { FollowFile } from '../../config/watch/follow-file.ts'
import { ExtensionConfigError, type Contribution, type Extension, type Host } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import type { Logger } from '../../observe/log.ts'
import type { KeysContribution } from '../../people/keys/service-keys.ts'
import type { Stores } from '../../stores/store.ts'

export interface ExtensionOptions {
  readonly name: string
  readonly environment: Environment
  readonly stores: Stores
  readonly fetch: Host['fetch']
  readonly log: Logger
  /** Logs warnings about its file, which every process of the service finds. Default: `log.warn`. */
  readonly warn?: Logger['warn']
  /** Follows its configuration file. */
  readonly follow: FollowFile
  /** Called when the contribution has changed. */
  readonly onChange: () => void
  /** Called when a reload failed, in the reporting process. */
  readonly onFault: (error: unknown) => void
  /** Checks a contribution against those of other extensions. Default: accepts it. @throws when they conflict */
  readonly admit?: (next: Contribution | undefined) => void
  readonly load: (name: string) => Promise<Extension<KeysContribution>>
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** A running extension. */
export interface RunningExtension {
  readonly name: string
  readonly isOn: boolean
  /** Its present contribution; `undefined` while it is off. */
  readonly contribution: KeysContribution | undefined
  /** Reloads its file, as SIGHUP asks for. Never rejects. */
  reload(): Promise<unknown>
  close(): Promise<void>
}

/**
 * Starts an extension, and restarts it on each change of its file. If the file becomes faulty or is deleted, the last
 * contribution stays active. If it becomes faulty while the extension is off, all requests get 503.
 *
 * @throws {UnknownExtensionError} @throws {ConfigError} when the file is faulty at the start @throws as `admit` does
 */
export async function runExtension({
  name,
  environment,
  stores,
  fetch,
  log,
  warn = log.warn,
  follow,
  onChange,
  onFault,
  admit = () => undefined,
  load,
  now = Date.now,
}: ExtensionOptions): Promise<RunningExtension> {
  const extension = await load(name)
  const path = extensionFile(environment, name)
  const started = Promise.withResolvers<void>()
  let contribution: KeysContribution | undefined
  /** Contributions that a file asked for: without it they stay. Others need none. */
  const ofFile = new WeakSet<KeysContribution>()

  async function start(text: string | undefined): Promise<KeysContribution | undefined> {
    const file = await parseExtensionFile(text, { file: path, environment })
    if (file === undefined && contribution !== undefined && ofFile.has(contribution))
      throw new ConfigError([
        { file: path, field: '', found: 'no file any more', allowed: 'a file; the last one stays active' },
      ])
    if (file !== undefined) await warnOfExposure()
    let isStarting = true
    const host: Host = {
      config: async () => file,
      store: (storeName, options) => stores.open(`${name}/${storeName}`, options),
      limit: (limitName, options) => stores.limit(`${name}/${limitName}`, options),
      fetch,
      now,
      elapsedMs: () => performance.now(),
      log: { ...log, warn: (message, fields) => (isStarting ? warn : log.warn)(message, fields) },
    }
    const next = await startIn(host, file)
    isStarting = false
    if (next !== undefined && file !== undefined) ofFile.add(next)
    if (next === undefined) {
      const reason = file === undefined ? `there is no ${path}` : `${path} says so`
      warn(
        `${name} was requested and is OFF: ${reason}. ` +
          'Unless another extension requires sign-in, every client that reaches this service can use it',
      )
    }
    return next
  }

  async function startIn(host: Host, file: ExtensionFile | undefined): Promise<KeysContribution | undefined> {
    try {
      return await extension.start(host)
    } catch (error) {
      throw error instanceof ExtensionConfigError && file !== undefined
        ? file.fault(error.field, error.found, error.allowed)
        : error
    }
  }

  /** Check and change are one step, so that of two conflicting changes one is refused. */
  async function activate(next: KeysContribution | undefined): Promise<void> {
    try {
      admit(next)
      contribution = next
    } catch (error) {
      await next?.close?.()
      throw error
    }
  }

  async function warnOfExposure(): Promise<void> {
    const exposure = await exposureOf(path)
    if (exposure !== undefined)
      warn(`${path} may hold a secret, and ${exposure}: chmod 600 makes it readable by its owner only`)
  }

  /** Decides by the contribution before, which the first start may still be making. */
  async function startAgain(text: string | undefined): Promise<KeysContribution | undefined> {
    await started.promise
    return start(text)
  }

  async function replace(next: KeysContribution | undefined, isReporter: boolean): Promise<void> {
    const before = contribution
    await activate(next)
    onChange()
    await before?.close?.()
    if (isReporter) log.info('extension reloaded', { extension: name, state: next === undefined ? 'off' : 'on' })
  }

  /** The contribution stays. Without one, a faulty file closes the service: the owner wants sign-in. */
  async function keep(error: unknown, isReporter: boolean): Promise<void> {
    await started.promise
    if (contribution === undefined && (await exists(path))) {
      contribution = closed(name)
      ofFile.add(contribution)
      onChange()
    }
    if (isReporter) onFault(error)
  }

  // Watched before it is read, so that no change is missed.
  const watch = follow({ path, load: startAgain, apply: replace, report: keep })
  try {
    await activate(await start(await watch.text))
  } catch (error) {
    watch.close()
    throw error
  } finally {
    started.resolve()
  }
  return {
    name,
    get isOn() {
      return contribution !== undefined
    },
    get contribution() {
      return contribution
    },
    reload: () => watch.reload(),
    async close() {
      watch.close()
      await contribution?.close?.()
    },
  }
}

/** Refuses all requests. */
function closed(name: string): Contribution {
  return {
    async guard() {
      throw new WireError(503, 'overloaded_error', 'not_ready', `Not ready: ${name} has a faulty configuration file`, {
        headers: { 'retry-after': '10' },
      })
    },
  }
}
