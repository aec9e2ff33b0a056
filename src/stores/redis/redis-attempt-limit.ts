import type { Limit, LimitOptions } from '../store.ts'
import type { RedisConnection } from './redis-connection.ts'
import { escaped } from './redis-text.ts'

/**
 * One step of a {@link Limit}. KEYS: a sorted set of clients (SHA-1) by the time at which the bucket is full again, in
 * microseconds of the server's clock; clients with a full bucket are not in it. ARGV: client, microseconds per token,
 * size of the bucket, number of clients. Returns microseconds to wait; 0: allowed. Beyond the number of clients, those
 * with the fullest buckets are forgotten.
 */
const takeScript = `
local key, client = KEYS[1], redis.sha1hex(ARGV[1])
local interval, size, clients = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now, all = time[1] * 1000000 + time[2], interval * size
local function written(number) return string.format('%.0f', number) end

-- Further away than a whole bucket takes: the clock was set back.
local full = math.min(math.max(tonumber(redis.call('ZSCORE', key, client) or 0), now), now + all)
local wait = math.max(0, full + interval - all - now)
if wait == 0 then full = full + interval end

-- The first write: a server whose memory is full refuses it, and nothing has changed.
redis.call('ZADD', key, written(full), client)
redis.call('ZREMRANGEBYSCORE', key, '-inf', written(now))
redis.call('ZREMRANGEBYSCORE', key, '(' .. written(now + 61000000), '+inf')
redis.call('ZREMRANGEBYRANK', key, 0, -1 - clients)
redis.call('PEXPIRE', key, 61000)
return wait
`

/** A limit that several processes share, under the key `svc:NAME:limit`, which expires a minute after its last use. */
export function redisLimit(
  connection: RedisConnection,
  name: string,
  { perMinute, clientsMax = 20_000 }: LimitOptions,
): Limit {
  // Rounded up: never more than perMinute. With a million of them, everything takes less than 61 s.
  const interval = Math.ceil(60_000_000 / perMinute)
  return {
    async take(client) {
      if (perMinute === 0) return undefined
      const waitMicroseconds = Number(
        await connection.send('EVAL', [
          takeScript,
          '1',
          `svc:${name}:limit`,
          escaped(client),
          String(interval),
          String(perMinute),
          String(clientsMax),
        ]),
      )
      return waitMicroseconds === 0 ? undefined : Math.ceil(waitMicroseconds / 1_000_000)
    },
  }
}
