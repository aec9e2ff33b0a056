import { RedisClient } from 'bun'
import { StoreUnavailable } from './store.ts'

/** How a {@link RedisConnection} is made. */
export interface RedisConnectionOptions {
  /** `redis:` or `rediss:`, already checked. */
  readonly url: string
  /** For each command, connecting included. Default 2 s. */
  readonly timeoutMs?: number
  /** The server cannot be used any more; `undefined`: it can be again. Told once for each change. */
  readonly onTrouble?: (trouble: StoreUnavailable | undefined) => void
}

/** One connection to a Redis server, made when it is needed and anew when it was lost. */
export interface RedisConnection {
  /**
   * Asks once, never again. @throws {StoreUnavailable} within the time: it cannot be reached, does not answer, or
   * refuses. At once when it did not answer just before
   */
  send(command: string, words: readonly string[]): Promise<unknown>
  /** Ends what is under way. */
  close(): void
}

/** After an attempt was in vain, nobody tries again for so long. */
const pauseMs = 250

/**
 * A connection on Bun's client, whose own reconnecting stays off: it ends after some attempts for good. Its timeout
 * ends with the connecting, and a server that answers the greeting with nonsense makes it wait for ever; so each
 * command has a timer here, and a connection on which one was late is dropped.
 *
 * While a server is known not to answer, no command waits for it: one that comes is refused at once. Whether it answers
 * again is asked in the background, one question at a time, for as long as there are such commands and a little longer;
 * what comes after a silence of both is tried for real.
 */
export function redisConnection({
  url,
  timeoutMs = 2_000,
  onTrouble = () => {},
}: RedisConnectionOptions): RedisConnection {
  let client: RedisClient | undefined
  let isClosed = false
  let isInTrouble = false
  /** When it was last late, by the monotonic clock; `undefined`: it answers, for all that is known. */
  let lateAt: number | undefined
  /** Commands under way. */
  let attempts = 0
  /** When there was a command last. */
  let askedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /**
   * For so long after an attempt was in vain, nobody waits for another; and for so long after a command, the question
   * is asked again.
   */
  const knownMs = timeoutMs * 2.5

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

  function note(trouble: StoreUnavailable | undefined): void {
    if (isInTrouble === (trouble !== undefined) || isClosed) return
    isInTrouble = !isInTrouble
    onTrouble(trouble)
  }

  async function sendInTime(used: RedisClient, command: string, words: readonly string[]): Promise<unknown> {
    try {
      const reply = await inTime(used.send(command, [...words]), timeoutMs)
      lateAt = undefined
      return reply
    } catch (error) {
      if (isLate(error)) noteLate()
      else if (isAnswer(error)) lateAt = undefined
      if (!leavesConnection(error)) drop(used)
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(sentence(reasonOf(error)))
    }
  }

  function noteLate(): void {
    lateAt = performance.now()
    clearTimeout(timer)
    if (lateAt - askedAt > knownMs) return
    timer = setTimeout(askWhetherItAnswers, pauseMs)
    timer.unref()
  }

  function askWhetherItAnswers(): void {
    // What comes of it is noted; there is nobody else to tell.
    if (!isClosed && attempts === 0 && lateAt !== undefined) attempt('PING', []).catch(() => {})
  }

  async function attempt(command: string, words: readonly string[]): Promise<unknown> {
    attempts++
    try {
      const reply = await sendInTime(client ?? connect(), command, words)
      note(undefined)
      return reply
    } catch (error) {
      if (error instanceof StoreUnavailable) note(error)
      throw error
    } finally {
      attempts--
    }
  }

  function refuseAtOnceWhileLate(): void {
    if (lateAt === undefined) return
    const ms = performance.now() - lateAt
    if (attempts === 0 && ms >= knownMs) return
    if (ms >= pauseMs) askWhetherItAnswers()
    throw new StoreUnavailable(sentence('does not answer'))
  }

  return {
    async send(command, words) {
      if (isClosed) throw new StoreUnavailable('the store is closed')
      askedAt = performance.now()
      refuseAtOnceWhileLate()
      return await attempt(command, words)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      if (client !== undefined) drop(client)
    },
  }
}

/** What a command comes back with. @throws {StoreUnavailable} when that takes too long, and what the client throws */
export async function inTime<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new StoreUnavailable(sentence('does not answer'))), timeoutMs)
  try {
    return await Promise.race([reply, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function sentence(reason: string): string {
  return `the server of the store ${reason}`
}

/**
 * What a server's own words mean, wherever in an answer they stand: up to Redis 6, what goes wrong in a script is
 * wrapped in more words. The words themselves are never shown: before Redis 6, a server repeats the command it does not
 * know, with the password in it.
 */
const refusals: readonly (readonly [words: RegExp, reason: string])[] = [
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

/** Why a command failed, without an address and without a password. */
function reasonOf(error: unknown): string {
  const code = codeOf(error),
    words = error instanceof Error ? error.message : ''
  if (code === 'ERR_REDIS_CONNECTION_CLOSED') return 'cannot be reached'
  if (code === 'ERR_REDIS_CONNECTION_TIMEOUT') return 'does not answer'
  if (code !== '' && !code.startsWith('ERR_REDIS_')) return `cannot be trusted (${code})`
  for (const [pattern, reason] of refusals) if (pattern.test(words)) return reason
  if (code === 'ERR_REDIS_SERVER_ERROR') return `answers with an error (${/^[A-Z]+/.exec(words)?.[0] ?? 'ERR'})`
  return 'does not speak the Redis protocol'
}

function isLate(error: unknown): boolean {
  return error instanceof StoreUnavailable || codeOf(error) === 'ERR_REDIS_CONNECTION_TIMEOUT'
}

function isAnswer(error: unknown): boolean {
  return codeOf(error) === 'ERR_REDIS_SERVER_ERROR'
}

/** The server refused one command; a replica that takes no writes may have a successor at the same address. */
function leavesConnection(error: unknown): boolean {
  return isAnswer(error) && !(error instanceof Error && error.message.includes('READONLY'))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
