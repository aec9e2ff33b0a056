import type { Logger } from '../observe/log.ts'
import { BadStoreUrl, openStores } from '../stores/open-stores.ts'
import { StoreUnavailable, type Stores } from '../stores/store.ts'
import { UsageError } from './arguments.ts'
import { NotNow } from './not-now.ts'

/**
 * The stores that `--store` names. Somebody who asked for shared sessions must not get others.
 *
 * @param mayBeAway others serve already, and go on while it does not answer
 * @throws {UsageError} when no store can be meant
 * @throws {NotNow} when it does not answer, or is of no use
 */
export async function findStores(url: string | undefined, log: Logger, mayBeAway = false): Promise<Stores> {
  try {
    return await openStores(url, {
      now: Date.now,
      mayBeAway,
      onTrouble: (trouble) =>
        trouble === undefined
          ? log.info('the store answers again')
          : log.error('the store does not answer; whose session was not seen within the last minute is refused', {
              reason: trouble.message,
            }),
    })
  } catch (error) {
    if (error instanceof BadStoreUrl) throw new UsageError(`--store: ${error.message}`, { cause: error })
    throw error instanceof StoreUnavailable ? new NotNow(`--store: ${error.message}`, { cause: error }) : error
  }
}
