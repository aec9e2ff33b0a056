import { stat } from 'node:fs/promises'
import { errorCode } from '../base/error-code.ts'
import { UsageError } from '../base/start-errors.ts'
import type { Environment } from '../config/file/environment.ts'
import { isLoopback } from '../config/file/provider-target.ts'
import { readPriceList, type ForeignPriceList } from '../config/file/read-price-list.ts'
import { priceFacts, type Price } from '../formats/model.ts'
import { mendedPrice } from '../prices/mended-price.ts'
import type { PriceList, ShippedPrices } from '../prices/price-book.ts'
import { priceChanges, type PriceChange } from '../prices/price-changes.ts'
import { httpClient } from '../transport/http-client.ts'
import { hostFetch } from './extensions/host-fetch.ts'

/** The list of models.dev has some 3 MiB. */
const listBytesMax = 32 * 1024 * 1024
const fetchMsDefault = 60_000

/**
 * Reads a list of prices from an address or a file: https, or http on this machine. No redirect is followed.
 *
 * @throws {UsageError} for an address that is not allowed
 * @throws {ConfigError} for a list with faults
 */
export async function fetchPriceList(
  from: string,
  environment: Environment,
  timeoutMs = fetchMsDefault,
): Promise<ForeignPriceList> {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(from) ? await fetched(from, environment, timeoutMs) : await read(from)
  return readPriceList(text, from)
}

async function fetched(from: string, environment: Environment, timeoutMs: number): Promise<string> {
  const url = URL.canParse(from) ? new URL(from) : undefined
  if (url === undefined)
    throw new UsageError('--from: found an address that is not valid (not shown, since it may have a password)')
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--from: an address with a password is not allowed')
  if (!(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.href))))
    throw new UsageError(`--from: found "${from}", allowed: an https address, http on this machine, or a file`)
  const transport = httpClient()
  try {
    const response = await hostFetch(transport, environment)(url.href, {
      method: 'GET',
      headers: { accept: 'application/json', 'user-agent': 'svc' },
      timeoutMs,
      bytesMax: listBytesMax,
    })
    if (response.status !== 200) throw new Error(`${url.origin} answered ${response.status}${movedTo(response)}`)
    return await response.text()
  } catch (error) {
    throw new Error(`the list of prices was not fetched: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  } finally {
    transport.close()
  }
}

/** Redirects are not followed: they could lead to any address. */
function movedTo({ status, headers }: Response): string {
  const location = headers.get('location')
  return status >= 300 && status < 400 && location !== null ? `: --from ${location.slice(0, 200)} would follow it` : ''
}

async function read(file: string): Promise<string> {
  try {
    const status = await stat(file)
    if (!status.isFile() || status.size > listBytesMax)
      throw new UsageError(`--from: ${file} is not a file of at most ${listBytesMax} bytes`)
    return await Bun.file(file).text()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--from: ${file} cannot be read (${errorCode(error) ?? 'unknown'})`, { cause: error })
  }
}

/** An update of the fetched list of prices. */
export interface PriceUpdate {
  readonly prices: PriceList
  /** The differences in the prices that count, with those of svc behind the fetched ones. */
  readonly changes: readonly PriceChange[]
}

/**
 * Plans an update. A partial list keeps the known parts of a price whose input and output stay the same.
 *
 * @param previous fetched before
 */
export function priceUpdate(shipped: ShippedPrices, previous: PriceList, next: ForeignPriceList): PriceUpdate {
  const brands = [...new Set([...previous.keys(), ...next.prices.keys()])]
  const counting = (list: PriceList): PriceList =>
    new Map(brands.map((brand) => [brand, new Map([...(shipped(brand) ?? []), ...(list.get(brand) ?? [])])]))
  const before = counting(previous)
  const prices = next.isPartial ? withKnownParts(next.prices, before) : next.prices
  return { prices, changes: priceChanges(before, counting(prices)) }
}

function withKnownParts(prices: PriceList, before: PriceList): PriceList {
  const completed = (brand: string, model: string, price: Price): Price => {
    const known = before.get(brand)?.get(model)
    if (known === undefined) return mendedPrice(price)
    // The list has one price for text and pictures of an answer: that of pictures.
    const { output } = known.imageOutput === price.output ? known : price
    const isSame = known.input === price.input && known.output === output
    return mendedPrice({ ...(isSame ? known : feesOf(known)), ...price, output })
  }
  return new Map(
    Array.from(prices, ([brand, models]) => [
      brand,
      new Map(Array.from(models, ([model, price]) => [model, completed(brand, model, price)])),
    ]),
  )
}

/** The parts that do not depend on the prices of tokens. */
function feesOf({ request, search, searchRequest, tools, multiples }: Price): Partial<Price> {
  const fees = { request, search, searchRequest, tools, multiples }
  return Object.fromEntries(Object.entries(fees).filter(([, fee]) => fee !== undefined))
}

/** The text of prices.fetched.json. */
export function fetchedText(from: string, now: number, prices: PriceList): string {
  const entries = Array.from(prices, ([brand, models]): [string, unknown] => [
    brand,
    Object.fromEntries(Array.from(models, ([model, price]) => [model, priceFacts(price)])),
  ])
  const head = { from, fetched_at: new Date(now).toISOString() }
  return `${JSON.stringify({ ...head, prices: Object.fromEntries(entries) }, undefined, 1)}\n`
}

const dayMs = 86_400_000
const oldDays = 90

/** A warning for a list of prices that is older than 90 days; `undefined`: it is not. Times are Unix milliseconds. */
export function ageWarning(listedAt: number, now: number): string | undefined {
  const days = Math.floor((now - listedAt) / dayMs)
  if (days <= oldDays) return undefined
  return `the list of prices is ${days} days old: svc prices update fetches a newer one`
}
