import type { Usage } from '../formats/usage.ts'
import type { Cost } from '../prices/cost.ts'
import { isPlain, measureUnits, type Units } from '../prices/units.ts'
import type { Attempt } from '../service/trail.ts'
import type { Row } from './fields.ts'
import type { TokenKinds } from './request-entry.ts'

/** Columns of tokens. No token is counted in two of them. */
export const tokenColumns = ['input', 'cached', 'write5', 'write60', 'output', 'reasoning'] as const

/** Bits of the column `flags` of requests and attempts. Three bits, `source`, are a place in {@link costSources}. */
export const rowFlags = {
  stream: 1,
  estimated: 2,
  unpriced: 4,
  reported: 8,
  conflict: 16,
  ambiguous: 32,
  source: 64 | 128 | 256,
  /** Of an attempt: its cost is what limits of money booked. */
  booked: 512,
  /** The bill had nothing but the tokens of the row, or had more: both absent in rows of an earlier svc. */
  plain: 1_024,
  billedMore: 2_048,
  otherModel: 4_096,
  priceOfServed: 8_192,
} as const

const sourceShift = 6
/** Sources of prices by their numbers, which never change. 0: not stored. */
const costSources: readonly (Cost['source'] | undefined)[] = [
  undefined,
  'config',
  'reported',
  'reports',
  'prices.json',
  'fetched',
  'list',
  'catalogue',
]

/** The source of the price of a row; `undefined`: it is not stored. */
export function costSourceOf(flags: number): Cost['source'] | undefined {
  return costSources[(flags & rowFlags.source) >> sourceShift]
}

/** @param isUnpriced the answer has no known cost */
export function flagsOfRequest(
  {
    stream,
    usage,
    cost,
    isOtherModel,
  }: {
    readonly stream: boolean
    readonly usage?: Usage | undefined
    readonly cost?: Cost | undefined
    readonly isOtherModel?: true | undefined
  },
  isUnpriced: boolean,
): number {
  return (
    (stream ? rowFlags.stream : 0) |
    (usage?.isEstimated === true ? rowFlags.estimated : 0) |
    (isUnpriced ? rowFlags.unpriced : 0) |
    (cost?.source === 'reported' ? rowFlags.reported : 0) |
    (cost?.hasConflict === true ? rowFlags.conflict : 0) |
    (isOtherModel === true ? rowFlags.otherModel : 0) |
    (cost?.isOfServed === true ? rowFlags.priceOfServed : 0) |
    (isPlain(usage) ? rowFlags.plain : rowFlags.billedMore) |
    (Math.max(0, costSources.indexOf(cost?.source)) << sourceShift)
  )
}

/** Flags of an attempt. */
export function flagsOfAttempt({
  ambiguous,
  bookedNanoUsd,
}: Pick<Attempt, 'ambiguous'> & { readonly bookedNanoUsd?: number | undefined }): number {
  return (ambiguous === true ? rowFlags.ambiguous : 0) | (bookedNanoUsd === undefined ? 0 : rowFlags.booked)
}

export function hasFlag(row: Row, name: keyof typeof rowFlags): boolean {
  return (row.number('flags') & rowFlags[name]) !== 0
}

export function isOfKey(row: Row): boolean {
  return row.text('line') !== ''
}

export function sumOf(row: Row, columns: readonly string[]): number {
  return columns.reduce((sum, each) => sum + row.number(each), 0)
}

/** False for a provider that reported nothing, where nothing could be estimated. */
export function hasCounts(row: Row): boolean {
  return sumOf(row, tokenColumns) > 0 || hasFlag(row, 'estimated') || row.optional('cost') !== undefined
}

export function kindsOf(row: Row): TokenKinds {
  return {
    input: row.number('input'),
    cached: row.number('cached'),
    cacheWrite: sumOf(row, ['write5', 'write60']),
    output: row.number('output'),
    reasoning: row.number('reasoning'),
  }
}

export function unitsOf({ tokens }: Pick<Attempt, 'tokens'>): Units {
  return measureUnits(tokens === undefined ? undefined : { totalTokens: undefined, ...tokens }).units
}

export function hasTokens(row: Row): boolean {
  return sumOf(row, ['input', 'output']) > 0
}
