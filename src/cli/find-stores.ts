import type { Logger } from '../observe/log.ts'
import { BadStoreUrl, openStores } from '../stores/open-stores.ts'
import { StoreUnavailable, type Stores } from '../stores/store.ts'
import { UsageError } from './arguments.ts'

/** The stores that `--store` names. Somebody who asked for shared sessions must not get others. @throws {UsageError} */
export async function findStores(url: string | undefined, log: Logger): Promise<Stores> {
  try {
    return await openStores(url, {
      now: Date.now,
      onTrouble: (trouble) => (trouble === undefined ? log.info('the store answers again') : log.error('the store does not answer; whose session was not seen within the last minute is refused', { reason: trouble.message })),
    })
  } catch (error) {
    throw error instanceof BadStoreUrl || error instanceof StoreUnavailable ? new UsageError(`--store: ${error.message}`, { cause: error }) : error
  }
}
