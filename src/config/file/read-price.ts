import {
  pricedEach,
  unitPriceNames,
  type Price,
  type PriceStep,
  type TierPrice,
  type UnitPrices,
} from '../../formats/model.ts'
import {
  readElements,
  readIntegerField,
  readKnownMembers,
  readMembers,
  readNumber,
  type Field,
  type MemberNames,
} from './fields.ts'
import type { Findings } from './findings.ts'

/** USD per million tokens. */
const tokenPriceMax = 1_000_000
/** USD. */
const eachPriceMax = 1_000
/** Of all prices of tokens. */
const multipleMax = 100

const unitNames: readonly string[] = unitPriceNames.map(([name]) => name)
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
const priceMembers: MemberNames = {
  names: [...unitNames, 'above', 'flex', 'priority', 'tools', 'multiples'],
  required: ['input', 'output'],
  hints,
}
const tierMembers: MemberNames = { names: [...unitNames, 'above'], hints }
const stepMembers: MemberNames = { names: ['tokens', ...unitNames], required: ['tokens'], hints }

/** Reads a price (docs/configuration.md#prices); 0 stands for one of nothing. `undefined` when it has faults. */
export function readPrice(field: Field | undefined, findings: Findings): Price | undefined {
  if (field === undefined) return undefined
  if (field.node.type === 'number' && field.node.value === 0) return { input: 0, output: 0 }
  const members = readKnownMembers(field, priceMembers, findings)
  const { input, output, ...others } = readUnits(members, findings)
  const above = readSteps(members.get('above'), findings)
  const flex = readTier(members.get('flex'), findings)
  const priority = readTier(members.get('priority'), findings)
  const tools = readNumbers(members.get('tools'), eachPriceMax, findings)
  const multiples = readNumbers(members.get('multiples'), multipleMax, findings)
  if (input === undefined || output === undefined) return undefined
  return {
    input,
    output,
    ...others,
    ...(above === undefined ? {} : { above }),
    ...(flex === undefined ? {} : { flex }),
    ...(priority === undefined ? {} : { priority }),
    ...(tools === undefined ? {} : { tools }),
    ...(multiples === undefined ? {} : { multiples }),
  }
}

/** Reads an object of numbers from 0 on, with any names. */
function readNumbers(
  field: Field | undefined,
  max: number,
  findings: Findings,
): Readonly<Record<string, number>> | undefined {
  if (field === undefined) return undefined
  const members = [...(readMembers(field, findings) ?? [])]
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      const number = readNumber(member, 0, max, findings)
      return number === undefined ? [] : [[name, number]]
    }),
  )
}

function readUnits(members: ReadonlyMap<string, Field>, findings: Findings): Partial<UnitPrices> {
  return Object.fromEntries(
    unitPriceNames.flatMap(([name, key]) => {
      const max = pricedEach.has(name) ? eachPriceMax : tokenPriceMax
      const price = readNumber(members.get(name), 0, max, findings)
      return price === undefined ? [] : [[key, price]]
    }),
  )
}

function readTier(field: Field | undefined, findings: Findings): TierPrice | undefined {
  if (field === undefined) return undefined
  const members = readKnownMembers(field, tierMembers, findings)
  const above = readSteps(members.get('above'), findings)
  return { ...readUnits(members, findings), ...(above === undefined ? {} : { above }) }
}

function readSteps(field: Field | undefined, findings: Findings): readonly PriceStep[] | undefined {
  if (field === undefined) return undefined
  const known = new Set<number>()
  return (readElements(field, findings) ?? []).flatMap((item) => {
    const members = readKnownMembers(item, stepMembers, findings)
    const place = members.get('tokens')
    const tokens = readIntegerField(place, 1, Number.MAX_SAFE_INTEGER, findings)
    if (tokens === undefined || place === undefined) return []
    if (known.has(tokens)) findings.add(place, `a second entry for ${tokens}`, 'each number of tokens once')
    known.add(tokens)
    return [{ tokens, ...readUnits(members, findings) }]
  })
}
