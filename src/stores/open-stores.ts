import { memoryStores } from './memory.ts'
import { redisStores, type RedisOptions } from './redis.ts'
import type { Stores } from './store.ts'

/** The place named for stores is none. Its message shows nothing of what was named, since a password may be in it. */
export class BadStoreUrl extends Error {
  override readonly name = 'BadStoreUrl'
}

const form =
  'allowed: memory, redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// with TLS; all but the host may be left out'

/** What {@link openStores} needs beside a URL. */
export interface OpenOptions extends Omit<RedisOptions, 'url'> {
  /** The server need not answer yet. */
  readonly mayBeAway?: boolean
}

/**
 * The stores that a URL names, checked to work.
 *
 * @param url `memory` or `undefined`: in this process
 * @throws {BadStoreUrl}
 * @throws {StoreUnavailable} when the server named cannot be used
 */
export async function openStores(
  url: string | undefined,
  { now, onTrouble, timeoutMs, mayBeAway = false }: OpenOptions,
): Promise<Stores> {
  if (url === undefined || url === 'memory') return memoryStores(now)
  const stores = redisStores({
    url: checkRedisUrl(url),
    now,
    ...(onTrouble && { onTrouble }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  try {
    if (!mayBeAway) await stores.ready()
    return stores
  } catch (error) {
    await stores.close()
    throw error
  }
}

/** Bun's client takes more than this, and answers what it does not take with errors that show it. */
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
