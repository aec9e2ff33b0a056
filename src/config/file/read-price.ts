import type { Price, PriceStep, TierPrice, UnitPrices } from '../../formats/model.ts'
import { listShape, namedShape, objectShape } from '../../shapes/containers.ts'
import { forRepeats, memberNode } from '../../shapes/node.ts'
import { eitherShape, integerShape, mapShape, numberShape, onlyShape, type ValueShape } from '../../shapes/shape.ts'

/** USD per million tokens. */
const perMillion = numberShape(0, 1_000_000)
/** USD. */
const each = numberShape(0, 1_000)

const units = {
  input: perMillion,
  output: perMillion,
  cached_input: perMillion,
  cache_write: perMillion,
  cache_write_1h: perMillion,
  reasoning: perMillion,
  audio_input: perMillion,
  audio_output: perMillion,
  image_input: perMillion,
  image_output: perMillion,
  request: each,
  search: each,
  search_request: each,
}
const hints = {
  cache_read: 'cached_input',
  cache_creation: 'cache_write',
  thinking: 'reasoning',
  thoughts: 'reasoning',
  web_search: 'search',
  image_output_tokens: 'image_output',
  multipliers: 'multiples',
  over: 'above',
  tiers: 'above',
}

/** As in the code, where the price of an hour is `cacheWriteHour`. */
function withHour<Prices extends { readonly cacheWrite1h?: number }>({
  cacheWrite1h,
  ...prices
}: Prices): Omit<Prices, 'cacheWrite1h'> & Pick<UnitPrices, 'cacheWriteHour'> {
  return { ...prices, ...(cacheWrite1h === undefined ? {} : { cacheWriteHour: cacheWrite1h }) }
}

export const stepShape: ValueShape<PriceStep> = mapShape(
  objectShape({ tokens: integerShape(1), ...units }, { required: ['tokens'], hints }),
  withHour,
)

const above = mapShape(listShape(stepShape), (steps, list, faults) => {
  forRepeats(
    list.elements().map((item) => [memberNode(item, 'tokens')?.value, memberNode(item, 'tokens')]),
    (node) => faults.add(node, `a second entry for ${String(node.value)}`, 'each number of tokens once'),
  )
  return steps
})

export const tierShape: ValueShape<TierPrice> = mapShape(objectShape({ ...units, above }, { hints }), withHour)

/** An object of numbers from 0 on, with any names. */
const numbersTo = (max: number): ValueShape<Readonly<Record<string, number>>> =>
  mapShape(namedShape(numberShape(0, max)), (numbers) => Object.fromEntries(numbers))

/** A price in full. */
export const fullPriceShape: ValueShape<Price> = mapShape(
  objectShape(
    {
      ...{ ...units, above, flex: tierShape, priority: tierShape, tools: numbersTo(1_000) },
      // Of all prices of tokens.
      multiples: numbersTo(100),
    },
    { required: ['input', 'output'], hints },
  ),
  withHour,
)

/** A price (docs/configuration.md#prices); 0 stands for one of nothing. */
export const priceShape: ValueShape<Price> = eitherShape(
  {
    number: mapShape(onlyShape(0, 'an object'), (): Price => ({ input: 0, output: 0 })),
    object: fullPriceShape,
  },
  'an object',
)
