import { isGone } from './age.ts'
import { redisConnection, type RedisConnection, type RedisConnectionOptions } from './redis-connection.ts'
import { redisLimit } from './redis-limit.ts'
import { redisNotices, type RedisNotices } from './redis-notices.ts'
import { deleteScript, getScript, setScript, takeScript } from './redis-scripts.ts'
import { escaped } from './redis-text.ts'
import { StoreUnavailable, type Store, type StoreOptions, type Stores } from './store.ts'

/** How {@link redisStores} are made. */
export interface RedisOptions extends RedisConnectionOptions {
  /** The wall clock, in Unix milliseconds. */
  readonly now: () => number
}

/** {@link Stores} in a Redis server (6.2 or later) or a Valkey server, which several processes may share. */
export interface RedisStores extends Stores {
  /**
   * Resolves when a value was put there and taken back, and a notice told. @throws {StoreUnavailable} when that cannot
   * be done
   */
  ready(): Promise<void>
}

/** Stores whose keys begin with `svc:NAME:`. Connects when it is first used, and again after a connection was lost. */
export function redisStores({ now, ...options }: RedisOptions): RedisStores {
  const connection = redisConnection(options)
  const told = new Map<string, RedisNotices>()
  const from = crypto.randomUUID()
  return {
    open: (name, storeOptions) => redisStore(connection, now, name, storeOptions),
    limit: (name, limitOptions) => redisLimit(connection, name, limitOptions),
    notices(name) {
      const notices = told.get(name) ?? redisNotices({ ...options, connection, name, from })
      told.set(name, notices)
      return notices
    },
    async ready() {
      const parse = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
      const store = redisStore(connection, now, 'probe', { ttlMs: 10_000, most: 1_000, mostEach: 1_000, parse }),
        key = crypto.randomUUID()
      await store.set(key, key, 'probe')
      if ((await store.take(key)) !== key)
        throw new StoreUnavailable('the server of the store does not keep what it is given')
      // A user who may use keys may not use channels yet.
      await connection.send('PUBLISH', ['svc:probe:notices:0', ''])
    },
    async close() {
      connection.close()
      for (const notices of told.values()) notices.close()
    },
  }
}

function redisStore<Value>(
  connection: RedisConnection,
  now: () => number,
  name: string,
  { ttlMs, most, mostEach, parse }: StoreOptions<Value>,
): Store<Value> {
  const values = `svc:${name}:value:`
  const books = ['order', 'places', 'owned', 'ranking'].map((book) => `svc:${name}:${book}`)

  function read(reply: unknown): Value | undefined {
    const { createdAt, value } = parseEnvelope(reply)
    return createdAt === undefined || isGone(createdAt, now(), ttlMs) ? undefined : parse(value)
  }

  async function run(script: string, keys: readonly string[], ...words: readonly string[]): Promise<unknown> {
    return await connection.send('EVAL', [script, String(keys.length), ...keys, ...words])
  }

  return {
    async get(key) {
      return read(await run(getScript, [values + escaped(key)]))
    },
    async set(key, value, owner) {
      const envelope = JSON.stringify({ createdAt: now(), value }),
        word = escaped(key)
      // One more: at its limit a value is still there.
      const expiryMs = Math.ceil(ttlMs) + 1
      await run(
        setScript,
        [...books, values + word],
        word,
        envelope,
        escaped(owner),
        String(expiryMs),
        String(most),
        String(mostEach),
        values,
      )
    },
    async take(key) {
      return read(await run(takeScript, [...books, values + escaped(key)], escaped(key)))
    },
    async delete(key) {
      await run(deleteScript, [...books, values + escaped(key)], escaped(key))
    },
  }
}

/** What `set` wrote; empty when somebody else wrote it. */
function parseEnvelope(reply: unknown): { readonly createdAt?: number; readonly value?: unknown } {
  if (typeof reply !== 'string') return {}
  try {
    const envelope: unknown = JSON.parse(reply)
    if (typeof envelope !== 'object' || envelope === null || !('createdAt' in envelope) || !('value' in envelope))
      return {}
    return typeof envelope.createdAt === 'number' ? { createdAt: envelope.createdAt, value: envelope.value } : {}
  } catch {
    // It is not JSON.
    return {}
  }
}
