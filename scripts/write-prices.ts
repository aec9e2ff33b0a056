/**
 * `npm run prices -- MODELS_DEV LITELLM_LIST`: writes `src/prices/price-list.txt` from a checkout of models.dev and the
 * file `model_prices_and_context_window.json` of LiteLLM. Both are MIT licensed. Where they differ, the model is left
 * out, and named on standard output. `npm run prices -- --mend` writes the list that is there anew, by the facts and
 * rules of now.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob, TOML } from 'bun'
import { shippedPrices } from '../src/app/shipped-prices.ts'
import { isRecord, type JsonObject } from '../src/base/json-value.ts'
import { modelsDevPrice, type PriceEntry } from '../src/config/file/models-dev.ts'
import { parsePrices } from '../src/config/file/parse-prices.ts'
import { priceFacts } from '../src/formats/model.ts'
import { mendedPrice } from '../src/prices/mended-price.ts'
import { listedName, withFacts } from './price-facts.ts'
import { priceFaults } from './price-rules.ts'
import { agreed, fromLiteLlm, sourceNames } from './price-sources.ts'

const output = join(import.meta.dir, '../src/prices/price-list.txt')

async function main([checkout, listFile]: readonly string[]): Promise<void> {
  if (checkout === '--mend') return mend()
  if (checkout === undefined || listFile === undefined)
    throw new Error('usage: npm run prices -- MODELS_DEV LITELLM_LIST, or npm run prices -- --mend')
  const list: unknown = JSON.parse(await readFile(listFile, 'utf8'))
  if (!isRecord(list)) throw new Error(`${listFile} is not LiteLLM's list`)
  const lines: string[] = []
  for (const [brand, { modelsDev, liteLlm }] of Object.entries(sourceNames)) {
    const theirs =
      modelsDev === undefined ? new Map() : await modelsOf(join(checkout, 'providers', modelsDev, 'models'))
    const prices = pricesOf(brand, liteLlmPrices(list, liteLlm), theirs)
    const line = lineOf(brand, prices)
    if (line !== undefined) lines.push(line)
  }
  const date = new Date().toISOString().slice(0, 10)
  await writeFile(output, `${[date, ...lines].join('\n')}\n`)
  console.log(`${lines.length} brands in ${output}`)
}

async function mend(): Promise<void> {
  const [date = '', ...lines] = (await readFile(output, 'utf8')).trimEnd().split('\n')
  const known = shippedPrices([date, ...lines].join('\n'))
  const brands = lines.map((line) => line.slice(2, line.indexOf('"', 2)))
  const mended = brands.map((brand) => {
    const prices = Array.from(known(brand) ?? [], ([model, price]) => [model, priceFacts(price)] as const)
    return lineOf(brand, Object.fromEntries(prices))
  })
  await writeFile(output, `${[date, ...mended].join('\n')}\n`)
}

/** The line of a brand; undefined without prices. @throws if a price breaks a rule */
function lineOf(brand: string, prices: Readonly<Record<string, PriceEntry>>): string | undefined {
  const checked = parsePrices(JSON.stringify({ prices: { [brand]: prices } }), brand).get(brand)
  if (checked === undefined || checked.size === 0) return undefined
  const mended = Array.from(
    checked,
    ([model, price]) => [listedName(model), mendedPrice(withFacts(brand, model, price))] as const,
  )
  const faults = mended.flatMap(([model, price]) => priceFaults(model, price).map((fault) => `${model}: ${fault}`))
  if (faults.length > 0) throw new Error(`prices of ${brand} break rules:\n${faults.join('\n')}`)
  return JSON.stringify([brand, Object.fromEntries(mended)])
}

function pricesOf(
  brand: string,
  liteLlm: ReadonlyMap<string, PriceEntry>,
  modelsDev: ReadonlyMap<string, PriceEntry>,
): Readonly<Record<string, PriceEntry>> {
  const models = [...new Set([...liteLlm.keys(), ...modelsDev.keys()])].toSorted()
  return Object.fromEntries(
    models.flatMap((model) => {
      const [one, other] = [liteLlm.get(model), modelsDev.get(model)]
      const price = agreed(one, other)
      if (price === 'conflict') {
        const [ours, theirs] = [one, other].map((each) => `${String(each?.['input'])}, ${String(each?.['output'])}`)
        console.log(`${brand}/${model}: LiteLLM ${ours}; models.dev ${theirs}`)
      }
      return price === 'conflict' || price === undefined ? [] : [[model, price]]
    }),
  )
}

function liteLlmPrices(list: JsonObject, provider: string | undefined): ReadonlyMap<string, PriceEntry> {
  const isPrefixed = Object.keys(list).some((name) => name.startsWith(`${provider}/`)) && provider !== 'openai'
  return new Map(
    Object.entries(list).flatMap(([name, entry]) => {
      if (!isRecord(entry) || entry['litellm_provider'] !== provider) return []
      const price = fromLiteLlm(entry)
      const isOf = isPrefixed ? name.startsWith(`${provider}/`) : !name.includes('/')
      const model = isPrefixed ? name.slice(`${provider}/`.length) : name
      return price === undefined || !isOf ? [] : [[model, price] as const]
    }),
  )
}

async function modelsOf(folder: string): Promise<ReadonlyMap<string, PriceEntry>> {
  const found = new Map<string, PriceEntry>()
  for await (const file of new Glob('**/*.toml').scan(folder)) {
    const price = modelsDevPrice(TOML.parse(await readFile(join(folder, file), 'utf8')))
    if (price !== undefined) found.set(file.slice(0, -'.toml'.length), price)
  }
  return found
}

await main(process.argv.slice(2))
