import { RedisClient } from 'bun'
import { StoreUnavailable } from '../store.ts'

/** Options of a {@link RedisConnection}. */
export interface RedisConnectionOptions {
  /** `redis:` or `rediss:`, checked. */
  readonly url: string
  /** Limit of each command, connecting included. Default 2 s. */
  readonly timeoutMs?: number
  /** Called when the server becomes unavailable, and with `undefined` when it is available again. */
  readonly onChange?: (failure: StoreUnavailable | undefined) => void
}

/** The server does not have the script of an EVALSHA: it has restarted, for example. */
export class ScriptUnknown extends Error {
  override readonly name = 'ScriptUnknown'
}

/** Between a timeout and the next attempt. */
const pauseMs = 250

/**
 * A connection to a Redis server, opened at first use and again after it was lost.
 *
 * It uses Bun's client without its reconnecting, which gives up for good after some attempts. The client's timeout
 * covers connecting only, and a server that answers the greeting with nonsense keeps it waiting for ever. So each
 * command has a timer here, and a connection with a timeout is dropped.
 *
 * After a timeout, commands fail at once. A PING in the background finds out whether the server answers again, while
 * there are commands and a little longer. A command after a longer pause is tried for real.
 */
export class RedisConnection {
  readonly #url: string
  readonly #timeoutMs: number
  readonly #onChange: (failure: StoreUnavailable | undefined) => void
  /** Time after a timeout during which commands fail at once; time after a command during which pings continue. */
  readonly #pingingMs: number
  #client: RedisClient | undefined
  #isClosed = false
  #isUnavailable = false
  /** Monotonic time of the last timeout; `undefined` once the server has answered. */
  #timedOutAt: number | undefined
  /** Pending commands. */
  #pending = 0
  /** Monotonic time of the last command. */
  #sentAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ url, timeoutMs = 2_000, onChange = () => {} }: RedisConnectionOptions) {
    this.#url = url
    this.#timeoutMs = timeoutMs
    this.#onChange = onChange
    this.#pingingMs = timeoutMs * 2.5
  }

  /**
   * Sends a command once, without retry.
   *
   * @throws {StoreUnavailable} within the limit, when the server cannot be reached, does not answer or refuses; at once
   *   after a recent timeout
   * @throws {ScriptUnknown}
   */
  async send(command: string, words: readonly string[]): Promise<unknown> {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed')
    this.#sentAt = performance.now()
    this.#failAfterTimeout()
    return await this.#attempt(command, words)
  }

  /** Ends pending commands. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    if (this.#client !== undefined) this.#drop(this.#client)
  }

  #connect(): RedisClient {
    const fresh = new RedisClient(this.#url, { autoReconnect: false, connectionTimeout: this.#timeoutMs })
    fresh.onclose = () => this.#drop(fresh)
    this.#client = fresh
    return fresh
  }

  #drop(dropped: RedisClient): void {
    if (this.#client === dropped) this.#client = undefined
    dropped.close()
  }

  #setFailure(failure: StoreUnavailable | undefined): void {
    if (this.#isUnavailable === (failure !== undefined) || this.#isClosed) return
    this.#isUnavailable = !this.#isUnavailable
    this.#onChange(failure)
  }

  async #sendWithTimeout(used: RedisClient, command: string, words: readonly string[]): Promise<unknown> {
    try {
      const reply: unknown = await withTimeout(used.send(command, [...words]), this.#timeoutMs)
      this.#timedOutAt = undefined
      return reply
    } catch (error) {
      if (isTimeout(error)) this.#startPinging()
      else if (isErrorReply(error)) this.#timedOutAt = undefined
      if (!keepsConnection(error)) this.#drop(used)
      if (isErrorReply(error) && messageOf(error).startsWith('NOSCRIPT')) throw new ScriptUnknown()
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(sentence(reasonOf(error)))
    }
  }

  #startPinging(): void {
    this.#timedOutAt = performance.now()
    clearTimeout(this.#timer)
    if (this.#timedOutAt - this.#sentAt > this.#pingingMs) return
    this.#timer = setTimeout(() => this.#ping(), pauseMs)
    this.#timer.unref()
  }

  #ping(): void {
    if (this.#isClosed || this.#pending > 0 || this.#timedOutAt === undefined) return
    // `#attempt` has recorded the outcome.
    this.#attempt('PING', []).catch(() => {})
  }

  async #attempt(command: string, words: readonly string[]): Promise<unknown> {
    this.#pending++
    try {
      const reply = await this.#sendWithTimeout(this.#client ?? this.#connect(), command, words)
      this.#setFailure(undefined)
      return reply
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#setFailure(error)
      throw error
    } finally {
      this.#pending--
    }
  }

  #failAfterTimeout(): void {
    if (this.#timedOutAt === undefined) return
    const ms = performance.now() - this.#timedOutAt
    if (this.#pending === 0 && ms >= this.#pingingMs) return
    if (ms >= pauseMs) this.#ping()
    throw new StoreUnavailable(sentence('does not answer'))
  }
}

/** @throws {StoreUnavailable} after `timeoutMs` */
async function withTimeout<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new StoreUnavailable(sentence('does not answer'))), timeoutMs)
  try {
    return await Promise.race([reply, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

function sentence(reason: string): string {
  return `the server of the store ${reason}`
}

/**
 * Error replies of the server and their meaning. The pattern may match anywhere: Redis up to 6 wraps errors of scripts.
 * Replies themselves are not shown: servers before Redis 6 repeat an unknown command, which may contain the password.
 */
const refusals: readonly (readonly [reply: RegExp, reason: string])[] = [
  [/NOAUTH/, 'wants a password'],
  [/WRONGPASS/, 'refuses the user name or the password'],
  [/NOPERM/, 'does not permit its user what is needed'],
  [/DENIED/, 'refuses connections from other machines (protected mode)'],
  [/ERR DB index/, 'has no database of that number'],
  [/unknown (redis )?command/i, 'is too old: Redis 6.2 or later is needed, or Valkey'],
  [/MOVED|CROSSSLOT|CLUSTERDOWN/, 'is part of a cluster, which is not supported'],
  [/READONLY/, 'is a replica that takes no writes'],
  [/OOM/, 'is out of memory'],
  [/LOADING/, 'is still loading'],
]

/** Why a command failed, without address or password. */
function reasonOf(error: unknown): string {
  const code = codeOf(error),
    words = messageOf(error)
  if (code === 'ERR_REDIS_CONNECTION_CLOSED') return 'cannot be reached'
  if (code === 'ERR_REDIS_CONNECTION_TIMEOUT') return 'does not answer'
  if (code !== '' && !code.startsWith('ERR_REDIS_')) return `cannot be trusted (${code})`
  for (const [pattern, reason] of refusals) if (pattern.test(words)) return reason
  if (code === 'ERR_REDIS_SERVER_ERROR') return `answers with an error (${/^[A-Z]+/.exec(words)?.[0] ?? 'ERR'})`
  return 'does not speak the Redis protocol'
}

function isTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable || codeOf(error) === 'ERR_REDIS_CONNECTION_TIMEOUT'
}

function isErrorReply(error: unknown): boolean {
  return codeOf(error) === 'ERR_REDIS_SERVER_ERROR'
}

/** An error reply concerns one command. A read-only replica may have been replaced at the same address. */
function keepsConnection(error: unknown): boolean {
  return isErrorReply(error) && !messageOf(error).includes('READONLY')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
