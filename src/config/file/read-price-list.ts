import { isRecord } from '../../base/json-value.ts'
import type { PriceList } from '../../prices/price-book.ts'
import { ConfigError } from '../config.ts'
import { modelsDevPrices } from './models-dev.ts'
import { configBytesMax } from './parse-config.ts'
import { parsePrices } from './parse-prices.ts'

/** A list of prices from elsewhere. */
export interface ForeignPriceList {
  readonly prices: PriceList
  /** It has neither prices of service tiers nor all other parts: those that are known already are still right. */
  readonly isPartial: boolean
}

/**
 * Reads a list of prices from elsewhere: that of models.dev, or one as prices.json. All of it must be valid.
 *
 * @param from its address or file, for errors
 * @throws {ConfigError} with all faults
 */
export function readPriceList(text: string, from: string): ForeignPriceList {
  const list = parsed(text)
  if (!isRecord(list)) throw fault(from, 'no JSON object', 'the list of models.dev, or one as prices.json')
  if (isRecord(list['prices']))
    return { prices: parsePrices(text.length > configBytesMax ? tooLong(from) : text, from), isPartial: false }
  const prices = modelsDevPrices(list)
  if (Object.keys(prices).length === 0) throw fault(from, 'no price of a known brand', 'the list of models.dev')
  const written = JSON.stringify({ prices })
  return { prices: parsePrices(written.length > configBytesMax ? tooLong(from) : written, from), isPartial: true }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function tooLong(from: string): never {
  throw fault(from, `more than ${configBytesMax} characters of prices`, `at most ${configBytesMax}`)
}

function fault(file: string, found: string, allowed: string): ConfigError {
  return new ConfigError([{ file, field: '', found, allowed }])
}
