import { isExpired } from '../age.ts'
import { StoreUnavailable, type Store, type StoreOptions, type Stores } from '../store.ts'
import { redisLimit } from './redis-attempt-limit.ts'
import { RedisConnection, type RedisConnectionOptions } from './redis-connection.ts'
import { deleteScript, getScript, listScript, setScript, takeAllScript, takeScript } from './redis-scripts.ts'
import { escaped, unescaped } from './redis-text.ts'

export interface RedisOptions extends RedisConnectionOptions {
  /** Unix milliseconds. */
  readonly now: () => number
}

/** {@link Stores} in Redis 6.2 or later, or Valkey. Several processes may share them. */
export interface RedisStores extends Stores {
  /** Checks the server by storing a value and taking it back. @throws {StoreUnavailable} */
  ready(): Promise<void>
}

/** Stores with keys that begin with `svc:NAME:`. Connects at first use, and again after a connection was lost. */
export function redisStores({ now, ...options }: RedisOptions): RedisStores {
  const connection = new RedisConnection(options)
  return {
    open: (name, storeOptions) => redisStore(connection, now, name, storeOptions),
    limit: (name, limitOptions) => redisLimit(connection, name, limitOptions),
    async ready() {
      const parse = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
      const store = redisStore(connection, now, 'probe', {
          ttlMs: 10_000,
          valuesMax: 1_000,
          valuesPerOwnerMax: 1_000,
          parse,
        }),
        key = crypto.randomUUID()
      await store.set(key, key, 'probe')
      if ((await store.take(key)) !== key) throw new StoreUnavailable('the server of the store does not keep values')
    },
    close: async () => connection.close(),
  }
}

function redisStore<Value>(
  connection: RedisConnection,
  now: () => number,
  name: string,
  { ttlMs, valuesMax, valuesPerOwnerMax, parse }: StoreOptions<Value>,
): Store<Value> {
  const values = `svc:${name}:value:`
  const books = ['order', 'places', 'owned', 'ranking'].map((book) => `svc:${name}:${book}`)

  function read(reply: unknown): Value | undefined {
    const { createdAt, value } = parseEnvelope(reply)
    return createdAt === undefined || isExpired(createdAt, now(), ttlMs) ? undefined : parse(value)
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
      // A value that is exactly ttlMs old has not expired yet.
      const expiryMs = Math.ceil(ttlMs) + 1
      await run(
        setScript,
        [...books, values + word],
        word,
        envelope,
        escaped(owner),
        String(expiryMs),
        String(valuesMax),
        String(valuesPerOwnerMax),
        values,
      )
    },
    async take(key) {
      return read(await run(takeScript, [...books, values + escaped(key)], escaped(key)))
    },
    async takeAll(owner) {
      const replies = await run(takeAllScript, books, escaped(owner), values)
      return Array.isArray(replies) ? replies.flatMap((reply) => read(reply) ?? []) : []
    },
    async list(most) {
      const replies = await run(listScript, books, values, String(most))
      if (!Array.isArray(replies)) return []
      return replies.flatMap((key: unknown, index) => {
        const value = index % 2 === 0 ? read(replies[index + 1]) : undefined
        return typeof key !== 'string' || value === undefined ? [] : [{ key: unescaped(key), value }]
      })
    },
    async delete(key) {
      await run(deleteScript, [...books, values + escaped(key)], escaped(key))
    },
  }
}

/** Parses what `set` wrote; empty for anything else. */
function parseEnvelope(reply: unknown): { readonly createdAt?: number; readonly value?: unknown } {
  if (typeof reply !== 'string') return {}
  try {
    const envelope: unknown = JSON.parse(reply)
    if (typeof envelope !== 'object' || envelope === null || !('createdAt' in envelope) || !('value' in envelope))
      return {}
    return typeof envelope.createdAt === 'number' ? { createdAt: envelope.createdAt, value: envelope.value } : {}
  } catch {
    // Not JSON.
    return {}
  }
}
