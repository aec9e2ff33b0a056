import { parseFetchedPrices, parsePrices } from '../config/file/parse-prices.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import type { Logger } from '../observe/log.ts'
import type { PriceBook } from '../prices/price-book.ts'

export interface FollowPricesOptions {
  /** Paths of prices.json and prices.fetched.json, which need not exist. */
  readonly files: { readonly prices: string; readonly fetchedPrices: string }
  readonly prices: PriceBook
  readonly follow: FollowFile
  readonly log: Pick<Logger, 'info' | 'error'>
}

/** Loads both files of prices, and each again when it changes, all or nothing. @throws {ConfigError} for faults */
export async function followPrices(options: FollowPricesOptions): Promise<Pick<FollowedFile, 'close'>> {
  const { files, prices } = options
  const own = await followFile(files.prices, options, (text) => {
    const list = parsePrices(text, files.prices)
    return () => prices.replace(list)
  })
  try {
    const fetched = await followFile(files.fetchedPrices, options, (text) => {
      const list = parseFetchedPrices(text, files.fetchedPrices)
      return () => prices.replaceFetched(list?.prices ?? new Map())
    })
    return {
      close() {
        own.close()
        fetched.close()
      },
    }
  } catch (error) {
    own.close()
    throw error
  }
}

/** @param load parses a text. @returns its function that activates the prices */
async function followFile(
  path: string,
  { follow, log }: FollowPricesOptions,
  load: (text: string | undefined) => () => void,
): Promise<FollowedFile> {
  const watch = follow({
    path,
    load: async (text) => load(text),
    apply(activate, isReporter) {
      activate()
      if (isReporter) log.info('prices reloaded', { file: path })
    },
    report(error, isReporter) {
      if (!isReporter) return
      const reason = error instanceof Error ? error.message : String(error)
      log.error('the prices were not reloaded; the previous ones stay active', { reason })
    },
  })
  try {
    load(await watch.text)()
    return watch
  } catch (error) {
    watch.close()
    throw error
  }
}
