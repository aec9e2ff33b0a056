import { ConfigError } from '../config/config.ts'
import { exists, exposureOf, readExtensionFile, type ExtensionFile } from '../config/extension-file.ts'
import type { FollowFile } from '../config/follow-file.ts'
import { extensionFile } from '../config/home.ts'
import type { Environment } from '../config/resolve-provider.ts'
import { ExtensionConfigFault, type Contribution, type Extension, type Host } from '../extensions/extension.ts'
import { loadExtension } from '../extensions/load.ts'
import type { Logger } from '../observe/log.ts'
import type { Stores } from '../stores/store.ts'
import { WireError } from '../wire/error.ts'

/** What {@link runExtension} needs. */
export interface ExtensionOptions {
  readonly name: string
  readonly environment: Environment
  readonly stores: Stores
  readonly fetch: Host['fetch']
  readonly log: Logger
  /** Takes what is noticed while its file is read: every process of the service notices that. Default: `log`. */
  readonly warn?: Logger['warn']
  /** Follows its file. */
  readonly follow: FollowFile
  /** Told when the contribution in force is another. */
  readonly onChange: () => void
  /** Told when a changed file was not taken over, in the process that speaks for all. */
  readonly onFault: (error: unknown) => void
  /** Whether what it would add may be in force beside the rest. Default: it may. @throws when it may not */
  readonly admit?: (next: Contribution) => void
  /** Finds an extension. Default: those that are built in. */
  readonly load?: (name: string) => Promise<Extension>
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** An extension at work. */
export interface RunningExtension {
  readonly name: string
  readonly isOn: boolean
  /** What it adds now; `undefined` while it is off. */
  readonly contribution: Contribution | undefined
  /** Reads its file again, as SIGHUP asks for. Never rejects. */
  reload(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts an extension, and starts it again for each change of its file. A file that becomes faulty, or is gone, leaves
 * in force what was; one that is faulty while the extension is off closes the service.
 *
 * @throws {UnknownExtension} @throws {ConfigError} when the file is faulty at the start, or what `admit` throws
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
  load = loadExtension,
  now = Date.now,
}: ExtensionOptions): Promise<RunningExtension> {
  const extension = await load(name)
  const path = extensionFile(environment, name)
  const started = Promise.withResolvers<void>()
  let contribution: Contribution | undefined

  async function start(): Promise<Contribution | undefined> {
    const file = await readExtensionFile(path, environment)
    if (file === undefined && contribution !== undefined)
      throw new ConfigError([
        { file: path, field: '', found: 'no file any more', allowed: 'a file; what was in force stays' },
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
    if (next === undefined) {
      const reason = file === undefined ? `there is no ${path}` : `${path} says so`
      warn(
        `${name} was asked for and is OFF: ${reason}. Unless another extension closes it, everybody who reaches this service may use it`,
      )
    }
    return next
  }

  async function startIn(host: Host, file: ExtensionFile | undefined): Promise<Contribution | undefined> {
    try {
      return await extension.start(host)
    } catch (error) {
      throw error instanceof ExtensionConfigFault && file !== undefined
        ? file.fault(error.field, error.found, error.allowed)
        : error
    }
  }

  /**
   * With nothing between the look at the rest and the change, so that of two extensions that change at once one is
   * refused.
   */
  async function putInForce(next: Contribution | undefined): Promise<void> {
    try {
      if (next !== undefined) admit(next)
      contribution = next
    } catch (error) {
      await next?.close?.()
      throw error
    }
  }

  async function warnOfExposure(): Promise<void> {
    const exposure = await exposureOf(path)
    if (exposure !== undefined) warn(`${path} may hold a secret, and ${exposure}: chmod 600 makes it its owner's alone`)
  }

  async function replace(next: Contribution | undefined, isSpeaker: boolean): Promise<void> {
    await started.promise
    const before = contribution
    await putInForce(next)
    onChange()
    await before?.close?.()
    if (isSpeaker) log.info('extension reloaded', { extension: name, state: next === undefined ? 'off' : 'on' })
  }

  /**
   * What is in force stays, unless that is nothing: who writes a file wants the service closed, not open until it has
   * no fault.
   */
  async function keep(error: unknown, isSpeaker: boolean): Promise<void> {
    await started.promise
    if (contribution === undefined && (await exists(path))) {
      contribution = closed(name)
      onChange()
    }
    if (isSpeaker) onFault(error)
  }

  // Watched before it is read, so that no change falls between.
  const watch = follow({ path, load: start, apply: replace, report: keep, discard: (next) => next?.close?.() })
  await watch.ready
  try {
    await putInForce(await start())
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

/** Lets nobody pass. */
function closed(name: string): Contribution {
  return {
    async guard() {
      throw new WireError(503, 'overloaded_error', 'not_ready', `Not ready: ${name} has a faulty configuration file`, {
        headers: { 'retry-after': '10' },
      })
    },
  }
}
