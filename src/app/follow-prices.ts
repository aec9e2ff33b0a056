import { parsePrices } from '../config/file/parse-prices.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import type { Logger } from '../observe/log.ts'
import type { PriceBook } from '../prices/price-book.ts'

/** Options of {@link followPrices}. */
export interface FollowPricesOptions {
  /** Path of prices.json, which need not exist. */
  readonly path: string
  readonly prices: PriceBook
  readonly follow: FollowFile
  readonly log: Pick<Logger, 'info' | 'error'>
}

/** Loads prices.json, and again on each change, all or nothing. @throws {ConfigError} for faults at the start */
export async function followPrices({ path, prices, follow, log }: FollowPricesOptions): Promise<FollowedFile> {
  const watch = follow({
    path,
    load: async (text) => parsePrices(text, path),
    apply(list, isReporter) {
      prices.replace(list)
      if (isReporter) log.info('prices reloaded', { file: path })
    },
    report(error, isReporter) {
      if (!isReporter) return
      const reason = error instanceof Error ? error.message : String(error)
      log.error('the prices were not reloaded; the previous ones stay active', { reason })
    },
  })
  try {
    prices.replace(parsePrices(await watch.text, path))
    return watch
  } catch (error) {
    watch.close()
    throw error
  }
}
