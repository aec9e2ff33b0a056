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

/** A connection to a Redis server, opened at first use and again after it was lost. */
export interface RedisConnection {
  /**
   * Sends a command once, without retry.
   *
   * @throws {StoreUnavailable} within the limit, when the server cannot be reached, does not answer or refuses; at once
   *   after a recent timeout
   * @throws {ScriptUnknown}
   */
  send(command: string, words: readonly string[]): Promise<unknown>
  /** Ends pending commands. */
  close(): void
}

/** The server does not have the script of an EVALSHA: it has restarted, for example. */
export class ScriptUnknown extends Error {
  override readonly name = 'ScriptUnknown'
}

/** Between a timeout and the next attempt. */
const pauseMs = 250

/**
 * Uses Bun's client without its reconnecting, which gives up for good after some attempts. The client's timeout covers
 * connecting only, and a server that answers the greeting with nonsense keeps it waiting for ever. So each command has
 * a timer here, and a connection with a timeout is dropped.
 *
 * After a timeout, commands fail at once. A PING in the background finds out whether the server answers again, while
 * there are commands and a little longer. A command after a longer pause is tried for real.
 */
export function redisConnection({
  url,
  timeoutMs = 2_000,
  onChange = () => {},
}: RedisConnectionOptions): RedisConnection {
  let client: RedisClient | undefined
  let isClosed = false
  let isUnavailable = false
  /** Monotonic time of the last timeout; `undefined` once the server has answered. */
  let timedOutAt: number | undefined
  /** Pending commands. */
  let pending = 0
  /** Monotonic time of the last command. */
  let sentAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Time after a timeout during which commands fail at once; time after a command during which pings continue. */
  const pingingMs = timeoutMs * 2.5

  function connect(): RedisClient {
    const fresh = new RedisClient(url, { autoReconnect: false, connectionTimeout: timeoutMs })
    fresh.onclose = () => drop(fresh)
    client = fresh
    return fresh
  }

  function drop(dropped: RedisClient): void {
    if (client === dropped) client = undefined
    dropped.close()
  }

  function setFailure(failure: StoreUnavailable | undefined): void {
    if (isUnavailable === (failure !== undefined) || isClosed) return
    isUnavailable = !isUnavailable
    onChange(failure)
  }

  async function sendWithTimeout(used: RedisClient, command: string, words: readonly string[]): Promise<unknown> {
    try {
      const reply: unknown = await withTimeout(used.send(command, [...words]), timeoutMs)
      timedOutAt = undefined
      return reply
    } catch (error) {
      if (isTimeout(error)) startPinging()
      else if (isErrorReply(error)) timedOutAt = undefined
      if (!keepsConnection(error)) drop(used)
      if (isErrorReply(error) && messageOf(error).startsWith('NOSCRIPT')) throw new ScriptUnknown()
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(sentence(reasonOf(error)))
    }
  }

  function startPinging(): void {
    timedOutAt = performance.now()
    clearTimeout(timer)
    if (timedOutAt - sentAt > pingingMs) return
    timer = setTimeout(ping, pauseMs)
    timer.unref()
  }

  function ping(): void {
    // `attempt` has recorded the outcome.
    if (!isClosed && pending === 0 && timedOutAt !== undefined) attempt('PING', []).catch(() => {})
  }

  async function attempt(command: string, words: readonly string[]): Promise<unknown> {
    pending++
    try {
      const reply = await sendWithTimeout(client ?? connect(), command, words)
      setFailure(undefined)
      return reply
    } catch (error) {
      if (error instanceof StoreUnavailable) setFailure(error)
      throw error
    } finally {
      pending--
    }
  }

  function failAfterTimeout(): void {
    if (timedOutAt === undefined) return
    const ms = performance.now() - timedOutAt
    if (pending === 0 && ms >= pingingMs) return
    if (ms >= pauseMs) ping()
    throw new StoreUnavailable(sentence('does not answer'))
  }

  return {
    async send(command, words) {
      if (isClosed) throw new StoreUnavailable('the store is closed')
      sentAt = performance.now()
      failAfterTimeout()
      return await attempt(command, words)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      if (client !== undefined) drop(client)
    },
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
