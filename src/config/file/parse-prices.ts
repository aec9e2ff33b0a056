import type { TextRule } from '../../base/text-rule.ts'
import type { PriceList } from '../../prices/price-book.ts'
import { namedShape, namesBy, objectShape } from '../../shapes/containers.ts'
import { mapShape, textShape, type ValueShape } from '../../shapes/shape.ts'
import { findHome, type Home } from '../home.ts'
import type { Environment } from './environment.ts'
import { readFileBy, schemaAddress } from './read-file.ts'
import { priceShape } from './read-price.ts'
import { readConfigText } from './read-text.ts'
import { idRule, modelNameRule } from './rules.ts'

const namesRule: TextRule = {
  ...modelNameRule,
  allowed: 'a model name, or the beginning of names and "*"',
  pattern: /^(?!\s)[^\u0000-\u001f\u007f]+(?<!\s)$/,
}

const pricesByName: ValueShape<PriceList> = namedShape(namedShape(priceShape, namesBy(namesRule)), namesBy(idRule))

/** The table of prices.json. */
export const pricesFileShape = objectShape(
  { $schema: schemaAddress, prices: pricesByName },
  { required: ['prices'], hints: { models: 'prices' } },
)

/**
 * Parses prices.json (docs/configuration.md#prices).
 *
 * @param text undefined without a file: no prices
 * @throws {ConfigError} with all faults
 */
export function parsePrices(text: string | undefined, file: string): PriceList {
  return text === undefined ? new Map() : readFileBy(text, file, pricesFileShape).prices
}

/** A list of prices that was fetched. */
export interface FetchedPrices {
  /** The address or file that it is from. */
  readonly from: string
  /** Unix milliseconds. */
  readonly fetchedAt: number
  readonly prices: PriceList
}

const timeRule: TextRule = {
  allowed: 'a time such as 2026-11-23T10:00:00Z',
  pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  lengthMax: 32,
}
const fetchedFileShape: ValueShape<FetchedPrices> = objectShape(
  {
    from: textShape({ allowed: 'the address of a list', pattern: /./, lengthMax: 2_048 }),
    fetched_at: mapShape(textShape(timeRule), (text) => Date.parse(text)),
    prices: pricesByName,
  },
  { required: ['from', 'fetched_at', 'prices'] },
)

/**
 * Parses prices.fetched.json, which `svc prices update` writes.
 *
 * @param text undefined without a file: nothing was fetched
 * @throws {ConfigError} with all faults
 */
export function parseFetchedPrices(text: string | undefined, file: string): FetchedPrices | undefined {
  return text === undefined ? undefined : readFileBy(text, file, fetchedFileShape)
}

/** The prices of this machine. */
export interface PricesHere {
  readonly own: PriceList
  readonly fetched: FetchedPrices | undefined
}

/** Reads the prices of this machine. @throws {ConfigError} */
export async function loadPrices(environment: Environment): Promise<PricesHere> {
  const files = priceFiles(environment)
  if (files === undefined) return { own: new Map(), fetched: undefined }
  return {
    own: parsePrices(await readConfigText(files.prices), files.prices),
    fetched: parseFetchedPrices(await readConfigText(files.fetchedPrices), files.fetchedPrices),
  }
}

/** The paths of prices.json and prices.fetched.json; undefined without a home folder. */
export function priceFiles(environment: Environment): Pick<Home, 'prices' | 'fetchedPrices'> | undefined {
  try {
    return findHome(environment)
  } catch {
    return undefined
  }
}
