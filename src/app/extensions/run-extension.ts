import { ConfigError } from '../../config/config.ts'
import type { Environment } from '../../config/file/environment.ts'
import { exists, exposureOf, parseExtensionFile, type ExtensionFile } from '../../config/file/extension-file.ts'
import { extensionFile } from '../../config/home.ts'
import type { FollowedFile, FollowFile } from '../../config/watch/follow-file.ts'
import { ExtensionConfigError, type Contribution, type Extension, type Host } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import type { Logger } from '../../observe/log.ts'
import type { KeysContribution } from '../../people/keys/service-keys.ts'
import type { Store, StoreOptions, Stores } from '../../stores/store.ts'

/** Opens a store whose values last. @param now Unix milliseconds */
export type LastingStores = <Value>(
  name: string,
  options: StoreOptions<Value>,
  now: () => number,
) => Store<Value> | undefined

export interface ExtensionOptions {
  readonly name: string
  readonly environment: Environment
  readonly stores: Stores
  /** Opens a store in the database of the service. `undefined`: it has none. */
  readonly lasting?: LastingStores
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

/** An extension that runs, and restarts on each change of its file. */
export class RunningExtension {
  readonly name: string
  readonly #options: ExtensionOptions
  readonly #extension: Extension<KeysContribution>
  /** Path of its configuration file. */
  readonly path: string
  readonly #started = Promise.withResolvers<void>()
  readonly #watch: FollowedFile
  #contribution: KeysContribution | undefined
  /** Contributions that a file asked for: without it they stay. Others need none. */
  readonly #ofFile = new WeakSet<KeysContribution>()

  constructor(extension: Extension<KeysContribution>, options: ExtensionOptions) {
    this.name = options.name
    this.#extension = extension
    this.#options = options
    this.path = extensionFile(options.environment, options.name)
    // Watched before it is read, so that no change is missed.
    this.#watch = options.follow<KeysContribution | undefined>({
      path: this.path,
      load: async (text) => {
        // Decides by the contribution before, which the first start may still be making.
        await this.#started.promise
        return this.#make(text)
      },
      apply: (next, isReporter) => this.#replace(next, isReporter),
      report: (error, isReporter) => this.#keep(error, isReporter),
    })
  }

  /** Makes the first contribution. @throws as {@link runExtension} does */
  async start(): Promise<void> {
    try {
      await this.#activate(await this.#make(await this.#watch.text))
    } catch (error) {
      this.#watch.close()
      throw error
    } finally {
      this.#started.resolve()
    }
  }

  get isOn(): boolean {
    return this.#contribution !== undefined
  }

  /** Its present contribution; `undefined` while it is off. */
  get contribution(): KeysContribution | undefined {
    return this.#contribution
  }

  /** Reloads its file, as SIGHUP asks for. Never rejects. @returns as {@link FollowedFile.reload} */
  reload(): Promise<boolean> {
    return this.#watch.reload()
  }

  /** The contribution that a text of its file would make. It is not used. @throws {ConfigError} for faults */
  async tried(text: string): Promise<Contribution | undefined> {
    const file = await parseExtensionFile(text, { file: this.path, environment: this.#options.environment })
    const made = await this.#startWith(file)
    await made?.close?.()
    return made
  }

  async close(): Promise<void> {
    this.#watch.close()
    await this.#contribution?.close?.()
  }

  async #make(text: string | undefined): Promise<KeysContribution | undefined> {
    const { environment, log, warn = log.warn } = this.#options
    const file = await parseExtensionFile(text, { file: this.path, environment })
    if (file === undefined && this.#contribution !== undefined && this.#ofFile.has(this.#contribution))
      throw new ConfigError([
        { file: this.path, field: '', found: 'no file any more', allowed: 'a file; the last one stays active' },
      ])
    if (file !== undefined) await this.#warnOfExposure()
    const next = await this.#startWith(file)
    if (next !== undefined && file !== undefined) this.#ofFile.add(next)
    if (next === undefined) {
      const reason = file === undefined ? `there is no ${this.path}` : `${this.path} says so`
      warn(
        `${this.name} was requested and is OFF: ${reason}. ` +
          'Unless another extension requires sign-in, every client that reaches this service can use it',
      )
    }
    return next
  }

  #startWith(file: ExtensionFile | undefined): Promise<KeysContribution | undefined> {
    return startWith(this.#extension, file, { ...this.#options, name: this.name })
  }

  /** Check and change are one step, so that of two conflicting changes one is refused. */
  async #activate(next: KeysContribution | undefined): Promise<void> {
    try {
      this.#options.admit?.(next)
      this.#contribution = next
    } catch (error) {
      await next?.close?.()
      throw error
    }
  }

  async #warnOfExposure(): Promise<void> {
    const { log, warn = log.warn } = this.#options
    const exposure = await exposureOf(this.path)
    if (exposure !== undefined)
      warn(`${this.path} may hold a secret, and ${exposure}: chmod 600 makes it readable by its owner only`)
  }

  async #replace(next: KeysContribution | undefined, isReporter: boolean): Promise<void> {
    const before = this.#contribution
    await this.#activate(next)
    this.#options.onChange()
    await before?.close?.()
    if (!isReporter) return
    this.#options.log.info('extension reloaded', { extension: this.name, state: next === undefined ? 'off' : 'on' })
  }

  /** The contribution stays. Without one, a faulty file closes the service: the owner wants sign-in. */
  async #keep(error: unknown, isReporter: boolean): Promise<void> {
    await this.#started.promise
    if (this.#contribution === undefined && (await exists(this.path))) {
      this.#contribution = closed(this.name)
      this.#ofFile.add(this.#contribution)
      this.#options.onChange()
    }
    if (isReporter) this.#options.onFault(error)
  }
}

/**
 * Starts an extension with the content of its file.
 *
 * @throws {ConfigError} for a value that it refuses
 */
export async function startWith<Made extends Contribution>(
  extension: Extension<Made>,
  file: ExtensionFile | undefined,
  options: Pick<ExtensionOptions, 'name' | 'stores' | 'lasting' | 'fetch' | 'warn' | 'now'> & {
    readonly log: Host['log']
  },
): Promise<Made | undefined> {
  const { name, stores, lasting, fetch, log, warn = log.warn, now = Date.now } = options
  let isStarting = true
  const host: Host = {
    config: async () => file,
    store: (store, more) => stores.open(`${name}/${store}`, more),
    lastingStore: (store, more) => {
      const full = `${name}/${store}`
      return laterStore(() => lasting?.(full, more, now) ?? stores.open(full, more))
    },
    limit: (limit, more) => stores.limit(`${name}/${limit}`, more),
    fetch,
    now,
    elapsedMs: () => performance.now(),
    log: { ...log, warn: (message, fields) => (isStarting ? warn : log.warn)(message, fields) },
  }
  try {
    return await extension.start(host)
  } catch (error) {
    throw error instanceof ExtensionConfigError && file !== undefined
      ? file.fault(error.field, error.found, error.allowed)
      : error
  } finally {
    isStarting = false
  }
}

/** A store that is found at each use: the database opens with the first part of the service that needs it. */
function laterStore<Value>(find: () => Store<Value>): Store<Value> {
  return {
    get: (key) => find().get(key),
    set: (key, value, owner) => find().set(key, value, owner),
    take: (key) => find().take(key),
    takeAll: (owner) => find().takeAll(owner),
    delete: (key) => find().delete(key),
    list: (most) => find().list(most),
  }
}

/**
 * Starts an extension, and restarts it on each change of its file. If the file becomes faulty or is deleted, the last
 * contribution stays active. If it becomes faulty while the extension is off, all requests get 503.
 *
 * @throws {UnknownExtensionError} @throws {ConfigError} when the file is faulty at the start @throws as `admit` does
 */
export async function runExtension(options: ExtensionOptions): Promise<RunningExtension> {
  const running = new RunningExtension(await options.load(options.name), options)
  await running.start()
  return running
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
