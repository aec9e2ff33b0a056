import type { ProviderConfig } from '../config/config.ts'
import { isKey, isPem, type Environment } from '../config/file/environment.ts'
import { keysEnvFile, KeyTexts, parseKeysEnv, readKeyText, type ProviderKeys } from '../config/file/key-texts.ts'
import { isReadableByAll } from '../config/file/load-config.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import type { Logger } from '../observe/log.ts'

export interface KeyFilesOptions {
  readonly environment: Environment
  readonly follow: FollowFile
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Receives warnings about files, one line each. */
  readonly warn: (message: string) => void
}

/** The active configuration. */
export interface KeyUsers {
  again(): Promise<unknown>
  providers(): readonly ProviderConfig[]
}

/** A refused key has its file read again, at most once in this time. */
const renewMs = 1_000

/**
 * The keys of providers in files, which are followed: `keys.env`, and the files that `api_key` names. A key is kept
 * until its file has another one, also when the file is gone.
 */
export class KeyFiles implements ProviderKeys {
  readonly #options: KeyFilesOptions
  readonly #texts: KeyTexts
  #variablesFile: string | undefined
  readonly #files = new Map<string, FollowedFile>()
  #users: KeyUsers = { again: async () => undefined, providers: () => [] }
  #renewing: Promise<unknown> = Promise.resolve()
  #renewedAt = -renewMs
  /** Files that are not there, which the log has said. */
  readonly #missing = new Set<string>()

  private constructor(options: KeyFilesOptions) {
    this.#options = options
    this.#texts = new KeyTexts(options.environment)
  }

  /** Reads keys.env, and follows it. @throws {ConfigError} if it has faults */
  static async start(options: KeyFilesOptions): Promise<KeyFiles> {
    const keys = new KeyFiles(options)
    keys.#variablesFile = keysEnvFile(options.environment)
    if (keys.#variablesFile !== undefined) await keys.#followVariables(keys.#variablesFile)
    return keys
  }

  get environment(): Environment {
    return this.#texts.environment
  }

  isFixed(variable: string): boolean {
    return this.#texts.isFixed(variable)
  }

  /** Follows the files of these providers only. */
  keep(providers: readonly ProviderConfig[]): void {
    const kept = new Set([this.#variablesFile, ...providers.flatMap(({ files = [] }) => files)])
    for (const [path, file] of this.#files) {
      if (kept.has(path)) continue
      file.close()
      this.#files.delete(path)
    }
  }

  /** Has the providers resolve their keys again after each change. */
  serve(users: KeyUsers): void {
    this.#users = users
  }

  async read(paths: readonly string[]): Promise<boolean> {
    const unread = [...new Set(paths)].filter((path) => !this.#files.has(path))
    await Promise.all(unread.map((path) => this.#followKey(path)))
    return unread.length > 0
  }

  /**
   * Reads all files again, at most once a second.
   *
   * @returns the key that the provider has now; `undefined`: its key is in no file, or it has another address by now
   */
  async renewed({ id, baseUrl, keyName = '' }: ProviderConfig): Promise<string | undefined> {
    if (this.isFixed(keyName)) return undefined
    if (performance.now() - this.#renewedAt >= renewMs) this.#renewing = this.reload()
    await this.#renewing
    const now = this.#users.providers().find((provider) => provider.id === id)
    return now?.baseUrl === baseUrl && now.keyName === keyName ? now.apiKey : undefined
  }

  /** Reads all files again now. Never rejects. */
  async reload(): Promise<void> {
    this.#renewedAt = performance.now()
    await Promise.all(Array.from(this.#files.values(), (file) => file.reload()))
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }

  async #followVariables(path: string): Promise<void> {
    const { follow, log, warn } = this.#options
    let last: string | undefined
    const file = follow({
      path,
      load: async (text) => ({ text, variables: parseKeysEnv(text, path) }),
      apply: async ({ text, variables }, isReporter) => {
        // Editors that write in place empty the file first.
        if (!this.#isThere(path, text === '' ? undefined : text, isReporter) || text === last) return
        last = text
        this.#texts.setVariables(variables)
        await this.#use(path, isReporter)
      },
      report(error, isReporter) {
        if (isReporter) log.error('keys.env was not read; its former keys stay in use', { reason: reasonOf(error) })
      },
    })
    this.#files.set(path, file)
    last = await file.text
    if (last === undefined) this.#missing.add(path)
    this.#texts.setVariables(parseKeysEnv(last, path))
    if (last !== undefined && (await isReadableByAll(path)))
      warn(`${path} has keys, and every user of this machine can read it: run chmod 600 ${path}`)
  }

  async #followKey(path: string): Promise<void> {
    const { follow, log } = this.#options
    const file = follow({
      path,
      load: async (text) => text,
      apply: async (text, isReporter) => {
        if (!this.#isThere(path, text, isReporter)) return
        if (text === undefined || !(isKey(text) || isPem(text))) {
          if (isReporter) log.warn('a key file has no usable key; the former one stays in use', { file: path })
          return
        }
        if (this.#texts.setFile(path, text)) await this.#use(path, isReporter)
      },
      report(error, isReporter) {
        if (isReporter)
          log.warn('a key file cannot be read; its former key stays in use', { file: path, reason: reasonOf(error) })
      },
    })
    this.#files.set(path, file)
    const text = await readKeyText(file.text)
    if (text === undefined) this.#missing.add(path)
    this.#texts.setFile(path, text)
  }

  /** Whether a file has a text. The log says once that it has none. */
  #isThere(path: string, text: string | undefined, isReporter: boolean): boolean {
    if (text !== undefined) this.#missing.delete(path)
    else if (!this.#missing.has(path)) {
      this.#missing.add(path)
      if (isReporter) this.#options.log.warn('a key file is gone; its former keys stay in use', { file: path })
    }
    return text !== undefined
  }

  async #use(path: string, isReporter: boolean): Promise<void> {
    await this.#users.again()
    if (isReporter) this.#options.log.info('keys were read again', { file: path })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
