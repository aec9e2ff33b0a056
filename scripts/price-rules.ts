import { pricedEach, unitPriceNames, type Price } from '../src/formats/model.ts'
import { isCachedPrice, isNear, standardOf } from '../src/prices/mended-price.ts'

/** The rules that a price of the list breaks, as sentences. */
export function priceFaults(model: string, price: Price): readonly string[] {
  const { input, output, cachedInput, cacheWrite, reasoning, imageOutput } = price
  const faults: (string | false)[] = [
    cachedInput !== undefined && !isCachedPrice(cachedInput, input) && `cached ${cachedInput} is not below ${input}`,
    cacheWrite !== undefined && cacheWrite < input && `a cache write ${cacheWrite} is below ${input}`,
    reasoning === output && `reasoning repeats the output ${output}`,
    /^gemini-.*-image/.test(model) && (imageOutput ?? 0) <= output && 'pictures have no price of their own',
    model.startsWith('ft:') && !model.endsWith(':*') && 'it is no name of a fine-tuned model',
    ...(['flex', 'priority'] as const).flatMap((tier) => tierFaults(tier, price)),
  ]
  return faults.filter((fault) => fault !== false)
}

/** Whether a price follows those of its tier. */
function follows(name: string): boolean {
  return !pricedEach.has(name) && name !== 'input' && name !== 'output'
}

function tierFaults(tier: 'flex' | 'priority', price: Price): readonly (string | false)[] {
  const { [tier]: units } = price
  if (units === undefined) return []
  return unitPriceNames.flatMap(([name, key]) => {
    const [usd, standard] = [units[key], standardOf(price, key)]
    return [
      usd !== undefined && !isNear(usd, standard) && `${tier} ${name} ${usd} is far from ${standard}`,
      usd === undefined && follows(name) && price[key] !== undefined && `${tier} has no ${name}`,
    ]
  })
}
