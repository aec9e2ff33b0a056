import { open, readFile, rm, stat } from 'node:fs/promises'
import { member, tryParseJson } from '../../src/base/command-line/running-service.ts'
import { errorCode, isMissing } from '../../src/base/error-code.ts'
import { isRecord } from '../../src/base/json-value.ts'
import type { ClientHost } from '../host.ts'
import type { KnownTokens } from './agent-tokens.ts'

/** A process that holds the lock longer has ended. Beyond the limit of an answer of the service. */
const staleMs = 30_000
const lockStepMs = 50

/** The tokens of this user at services, in a file that only they can read. */
export class KeptTokens {
  readonly #host: Pick<ClientHost, 'writeFile'>
  readonly #path: string

  constructor(host: Pick<ClientHost, 'writeFile'>, path: string) {
    this.#host = host
    this.#path = path
  }

  /** Origins of the services. */
  async services(): Promise<readonly string[]> {
    return Object.keys(await this.#read())
  }

  async get(root: string): Promise<KnownTokens | undefined> {
    const entry = (await this.#read())[root]
    const [access, refresh, expires] = ['access', 'refresh', 'expires'].map((name) => member(entry, name))
    return typeof access === 'string' && typeof refresh === 'string' && typeof expires === 'number'
      ? { access, refresh, expires }
      : undefined
  }

  /** Stores tokens, or removes them. Within {@link locked}. */
  async set(root: string, tokens: KnownTokens | undefined): Promise<void> {
    const { [root]: _, ...others } = await this.#read()
    const all = tokens === undefined ? others : { ...others, [root]: tokens }
    await this.#host.writeFile(this.#path, `${JSON.stringify(all, undefined, 2)}\n`)
  }

  /** Does work while no other process of this user does such work. */
  async locked<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const lock = `${this.#path}.lock`
    if ((await this.#readText()) === undefined) await this.#host.writeFile(this.#path, '{}\n')
    while (!(await takeLock(lock))) {
      signal.throwIfAborted()
      await Bun.sleep(lockStepMs)
    }
    try {
      return await work()
    } finally {
      await rm(lock, { force: true })
    }
  }

  async #read(): Promise<Readonly<Record<string, unknown>>> {
    const text = await this.#readText()
    const value = text === undefined ? {} : tryParseJson(new TextEncoder().encode(text))
    if (!isRecord(value)) throw new Error(`${this.#path} is not a JSON object: remove it, and use svc login again`)
    return value
  }

  async #readText(): Promise<string | undefined> {
    try {
      return await readFile(this.#path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
}

/** Takes a lock. @returns `false`: another process has it */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    const found = await stat(lock).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > staleMs) await rm(lock, { force: true })
    return false
  }
}
