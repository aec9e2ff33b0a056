import { ResourceUnavailable, UsageError } from '../base/start-errors.ts'
import type { Logger } from '../observe/log.ts'
import { BadStoreUrl, openStores } from '../stores/open-stores.ts'
import { StoreUnavailable, type Stores } from '../stores/store.ts'

/** Whether a store, as `--store` names it, is one for several machines. */
export function isSharedStore(url: string | undefined): url is string {
  return url !== undefined && url !== 'memory'
}

/**
 * Opens the stores of `--store`. There is no fallback to memory: sessions would not be shared.
 *
 * @param mayBeUnavailable do not require an answer, since other workers serve already
 * @throws {UsageError} for an invalid URL
 * @throws {ResourceUnavailable} when the server does not answer or cannot be used
 */
export async function findStores(url: string | undefined, log: Logger, mayBeUnavailable = false): Promise<Stores> {
  try {
    return await openStores(url, {
      now: Date.now,
      mayBeUnavailable,
      onChange: (failure) =>
        failure === undefined
          ? log.info('the store answers again')
          : log.error('the store does not answer; sessions not seen within the last minute are refused', {
              reason: failure.message,
            }),
    })
  } catch (error) {
    if (error instanceof BadStoreUrl) throw new UsageError(`--store: ${error.message}`, { cause: error })
    throw error instanceof StoreUnavailable
      ? new ResourceUnavailable(`--store: ${error.message}`, { cause: error })
      : error
  }
}
