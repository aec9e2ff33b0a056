import { describe, expect, test } from 'bun:test'
import type { FollowFile } from '../config/watch/follow-file.ts'
import type { Price } from '../formats/model.ts'
import { priceBook } from '../prices/price-book.ts'
import { followPrices } from './follow-prices.ts'
import { ageWarning, fetchedText, priceUpdate } from './price-update.ts'
import { shippedPrices } from './shipped-prices.ts'

const day = 86_400_000
const provider = { id: 'mine', brand: 'openai', listedBrand: 'openai' }
const files = { prices: 'prices.json', fetchedPrices: 'prices.fetched.json' }
const fetched = (input: number) => fetchedText('x', 0, new Map([['openai', new Map([['m', { input, output: 0 }]])]]))

/** Follows files with these texts, and changes them. */
async function subject(texts: Record<string, string | undefined>) {
  const changes = new Map<string, (text: string | undefined) => Promise<void>>()
  const follow: FollowFile = ({ path, load, apply, report }) => {
    changes.set(path, async (text) => {
      try {
        await apply(await load(text), true)
      } catch (error) {
        await report(error, true)
      }
    })
    return {
      text: Promise.resolve(texts[path]),
      reload: async () => true,
      again: async () => undefined,
      close: () => void changes.delete(path),
    }
  }
  const book = priceBook(shippedPrices('["openai",{"m":{"input":1,"output":0},"n":{"input":9,"output":0}}]\n'))
  const errors: string[] = []
  const log = { info: () => undefined, error: (message: string) => void errors.push(message) }
  const followed = await followPrices({ files, prices: book, follow, log })
  return { book, errors, followed, change: (path: string, text?: string) => changes.get(path)?.(text), changes }
}

describe('the fetched list of prices', () => {
  test('is before the list of this version and behind prices.json, and its changes are followed', async () => {
    const { book, change, errors, followed, changes } = await subject({ [files.fetchedPrices]: fetched(2) })
    expect([book.find(provider, 'm'), book.find(provider, 'n')?.source]).toEqual([
      { price: { input: 2, output: 0 }, source: 'fetched' },
      'list',
    ])
    await change(files.fetchedPrices, fetched(3))
    expect(book.find(provider, 'm')?.price.input).toBe(3)
    await change(files.fetchedPrices, '{')
    expect([book.find(provider, 'm')?.price.input, errors.length]).toEqual([3, 1])
    await change(files.prices, '{"prices":{"openai":{"m":{"input":4,"output":0}}}}')
    expect(book.find(provider, 'm')?.source).toBe('prices.json')
    await change(files.prices)
    await change(files.fetchedPrices)
    expect(book.find(provider, 'm')).toEqual({ price: { input: 1, output: 0 }, source: 'list' })
    followed.close()
    expect(changes.size).toBe(0)
  })

  test('holds at the address of the brand only, and for exact names', async () => {
    const { book } = await subject({ [files.fetchedPrices]: fetched(2).replace('"m"', '"*"') })
    expect(book.find(provider, 'm')?.source).toBe('list')
    expect(book.find({ id: 'mine', brand: 'openai' }, 'm')).toBeUndefined()
  })

  test('ends the start when it is damaged', async () => {
    await expect(subject({ [files.fetchedPrices]: '{"prices":{}}' })).rejects.toThrow('fetched_at')
  })

  test('is compared with the prices that count', () => {
    const shipped = shippedPrices('["openai",{"m":{"input":1,"output":0},"n":{"input":9,"output":0}}]\n')
    const next = { prices: new Map([['openai', new Map([['m', { input: 20, output: 0 }]])]]), isPartial: true }
    expect(priceUpdate(shipped, new Map(), next).changes).toMatchObject([{ model: 'm', doubt: 'moved tenfold' }])
  })

  test('keeps fees, and the price of text beside pictures, and is mended as the list of svc', () => {
    const known = { input: 1, output: 4, imageOutput: 30, search: 0.01, tools: { maps: 0.02 }, flex: { input: 0.5 } }
    const shipped = shippedPrices(`["gemini",${JSON.stringify({ m: known, n: known })}]\n`)
    const models: [string, Price][] = [
      ['m', { input: 1, output: 30 }],
      ['n', { input: 2, output: 6, reasoning: 6 }],
    ]
    const next = { prices: new Map([['gemini', new Map(models)]]), isPartial: true }
    const after = priceUpdate(shipped, new Map(), next).prices.get('gemini')
    expect(after?.get('m')).toEqual({ ...known, flex: { input: 0.5, imageOutput: 30 } })
    expect(after?.get('n')).toEqual({ input: 2, output: 6, search: 0.01, tools: { maps: 0.02 } })
  })

  test('keeps the tiers of a price that stays the same, if the list has none', () => {
    const known = { input: 1, output: 4, cachedInput: 0.5, flex: { input: 0.5 } }
    const shipped = shippedPrices(`["openai",${JSON.stringify({ m: known, n: known })}]\n`)
    const models: [string, Price][] = [
      ['m', { input: 1, output: 4, cachedInput: 0.25 }],
      ['n', { input: 2, output: 4 }],
    ]
    const prices = new Map([['openai', new Map(models)]])
    const after = (isPartial: boolean) => priceUpdate(shipped, new Map(), { prices, isPartial }).prices.get('openai')
    expect(after(true)?.get('m')).toEqual({ ...known, cachedInput: 0.25, flex: { input: 0.5, cachedInput: 0.125 } })
    expect(after(true)?.get('n')).toEqual({ input: 2, output: 4 })
    expect(after(false)?.get('m')).toEqual({ input: 1, output: 4, cachedInput: 0.25 })
  })
})

describe('complaint: unknown, stale, confused prices', () => {
  test('a list older than 90 days is reported with its age', () => {
    expect(ageWarning(0, 90.5 * day)).toBeUndefined()
    expect(ageWarning(0, 91 * day)).toBe('the list of prices is 91 days old: svc prices update fetches a newer one')
  })
})
