import { RedisClient } from 'bun'
import { inTime } from './redis-connection.ts'

/** How a {@link RedisListener} is made. */
export interface RedisListenerOptions {
  /** `redis:` or `rediss:`, already checked. */
  readonly url: string
  readonly channel: string
  /** For each answer of the server. Default 2 s. */
  readonly timeoutMs?: number
  /** How often the server is asked whether it is still there. Default 10 s. */
  readonly heartbeatMs?: number
  /** What was published, in order. */
  readonly onMessage: (message: string) => void
  /** Every time it begins to listen. When it rejects, listening begins anew, later. */
  readonly onListening: () => Promise<void>
}

/** A connection that listens to a channel, made anew whenever it is lost. */
export interface RedisListener {
  close(): void
}

const pauseMsFirst = 250,
  pauseMsMost = 10_000

/**
 * Listens from now on. After a connection was lost, or could not be had, it tries again after 250 ms, then 500 ms, … 10
 * s.
 */
export function redisListener(options: RedisListenerOptions): RedisListener {
  let isClosed = false
  let pauseMs = pauseMsFirst
  let client: RedisClient | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function listen(): Promise<void> {
    const used = new RedisClient(options.url, { autoReconnect: false, connectionTimeout: options.timeoutMs ?? 2_000 })
    client = used
    try {
      await listenWith(used, options, () => {
        pauseMs = pauseMsFirst
      })
    } catch {
      // Whatever is wrong, there is nobody to tell: who asks the store hears of it.
    } finally {
      used.close()
    }
    if (isClosed) return
    timer = setTimeout(() => void listen(), pauseMs)
    timer.unref()
    pauseMs = Math.min(pauseMs * 2, pauseMsMost)
  }

  void listen()
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
      client?.close()
    },
  }
}

/** Listens until the connection is lost, or the server no longer answers. */
async function listenWith(
  client: RedisClient,
  { channel, timeoutMs = 2_000, heartbeatMs = 10_000, onMessage, onListening }: RedisListenerOptions,
  onBegin: () => void,
): Promise<void> {
  const lost = Promise.withResolvers<void>()
  client.onclose = () => lost.resolve()
  await inTime(client.subscribe(channel, onMessage), timeoutMs)
  await onListening()
  onBegin()
  // A machine that is gone says nothing of it. Nothing is asked that may be refused: Bun's client (1.4.5) does not survive that while it listens.
  const heartbeat = setInterval(
    () => void inTime(client.send('PING', []), timeoutMs).catch(() => client.close()),
    heartbeatMs,
  )
  heartbeat.unref()
  await lost.promise
  clearInterval(heartbeat)
}
