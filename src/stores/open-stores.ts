import { memoryStores } from './memory.ts'
import { redisStores, type RedisOptions } from './redis/redis.ts'
import type { Stores } from './store.ts'

/** The URL names no store. The message does not repeat the URL, which may contain a password. */
export class BadStoreUrl extends Error {
  override readonly name = 'BadStoreUrl'
}

const form =
  'allowed: memory, redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// with TLS; all but the host may be left out'

export interface OpenStoresOptions extends Omit<RedisOptions, 'url'> {
  /** Do not check that the server answers. Default: false. */
  readonly mayBeUnavailable?: boolean
}

/**
 * Opens the stores of a URL, and checks that they work.
 *
 * @param url `memory` or `undefined`: in this process
 * @throws {BadStoreUrl}
 * @throws {StoreUnavailable} when the server cannot be used
 */
export async function openStores(
  url: string | undefined,
  { now, onChange, timeoutMs, mayBeUnavailable = false }: OpenStoresOptions,
): Promise<Stores> {
  if (url === undefined || url === 'memory') return memoryStores(now)
  const stores = redisStores({
    url: checkRedisUrl(url),
    now,
    ...(onChange && { onChange }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  try {
    if (!mayBeUnavailable) await stores.ready()
    return stores
  } catch (error) {
    await stores.close()
    throw error
  }
}

/** Stricter than Bun's client, whose errors repeat the URL. */
function checkRedisUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null)
    throw new BadStoreUrl(`not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25); ${form}`)
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') throw new BadStoreUrl(`another kind of URL; ${form}`)
  if (url.hostname === '') throw new BadStoreUrl(`no host; ${form}`)
  if (!/^(\/\d{0,5})?$/.test(url.pathname)) throw new BadStoreUrl(`the database is not a number; ${form}`)
  if (url.search !== '' || url.hash !== '') throw new BadStoreUrl(`nothing may follow the database; ${form}`)
  if (!isEncoded(url.username) || !isEncoded(url.password))
    throw new BadStoreUrl(`the user name or the password has a % that is not %25; ${form}`)
  return url.href
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    // Only a malformed escape makes it throw.
    return false
  }
}
