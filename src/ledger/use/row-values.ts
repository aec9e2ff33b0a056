import type { RecordedAttempt, RequestRecord } from '../../observe/record.ts'
import type { Cost } from '../../prices/cost.ts'
import { isPlain, measureUnits } from '../../prices/units.ts'
import { limitsLabel } from './limits-label.ts'
import type { NamesTable } from './names-table.ts'
import type { ChargedRequest } from './use-batch.ts'

type PriceSource = Cost['source']

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
} as const

const sourceShift = 6
/** Sources of prices by their numbers, which never change. 0: not stored. */
const costSources: readonly (PriceSource | undefined)[] = [
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
export function costSourceOf(flags: number): PriceSource | undefined {
  return costSources[(flags & rowFlags.source) >> sourceShift]
}

const tokenColumns = ['input', 'cached', 'write5', 'write60', 'output', 'reasoning'] as const
/** Attempts stored of one request; a longer trail has many retries. */
const attemptsMax = 32

/** The columns of a request, in the order of {@link requestValues}. */
export const requestColumns = [
  'time',
  'id',
  'api',
  'line',
  'person',
  'team',
  'model',
  'provider',
  'status',
  'error',
  'ms',
  'first_ms',
  ...tokenColumns,
  'cost',
  'flags',
  'attempts',
  'limits',
  'waited_ms',
] as const

/** The columns of an attempt but for `seq`, the number of its request, in the order of {@link attemptValues}. */
export const attemptColumns = ['n', 'provider', 'status', 'class', 'ms', 'input', 'output', 'cost', 'flags'] as const

/** Values of {@link requestColumns}. */
export function requestValues(
  { record, charges }: ChargedRequest,
  names: NamesTable,
): readonly (string | number | null)[] {
  const { time, id, api, status, error = '', totalMs, firstTokenMs, trail, cost, limits, waitedMs } = record
  const [{ line, person, team = '', model, provider, counters }] = charges
  return [
    time,
    id,
    names.idOf('api', api),
    line,
    names.idOfPerson(person),
    names.idOf('team', team),
    names.idOf('model', model),
    names.idOf('provider', provider),
    status,
    names.idOf('error', error),
    Math.round(totalMs),
    firstTokenMs === undefined ? null : Math.round(firstTokenMs),
    ...tokenColumns.map((name) => counters[name] ?? 0),
    cost?.nanoUsd ?? null,
    flagsOf(record, counters.unpriced === 1),
    trail.length,
    names.idOf('limits', limitsLabel(limits)) || null,
    waitedMs === undefined ? null : Math.round(waitedMs),
  ]
}

/** Values of {@link attemptColumns}: none if the first attempt was answered. */
export function attemptValues(
  { record: { trail } }: ChargedRequest,
  names: NamesTable,
): readonly (readonly (number | null)[])[] {
  if (trail.length < 2 && trail[0]?.failure === undefined) return []
  return trail.slice(0, attemptsMax).map((attempt, n) => [n, ...valuesOf(attempt, names)])
}

function valuesOf(
  { name, status = 0, failure = '', ms, tokens, cost, ambiguous, bookedNanoUsd }: RecordedAttempt,
  names: NamesTable,
): readonly (number | null)[] {
  const { units } = measureUnits(tokens === undefined ? undefined : { totalTokens: undefined, ...tokens })
  return [
    names.idOf('provider', name),
    status,
    names.idOf('error', failure),
    Math.round(ms),
    units.input,
    units.output,
    // As in the sums.
    bookedNanoUsd ?? cost?.nanoUsd ?? null,
    (ambiguous === true ? rowFlags.ambiguous : 0) | (bookedNanoUsd === undefined ? 0 : rowFlags.booked),
  ]
}

function flagsOf({ stream, usage, cost }: RequestRecord, isUnpriced: boolean): number {
  return (
    (stream ? rowFlags.stream : 0) |
    (usage?.isEstimated === true ? rowFlags.estimated : 0) |
    (isUnpriced ? rowFlags.unpriced : 0) |
    (cost?.source === 'reported' ? rowFlags.reported : 0) |
    (cost?.hasConflict === true ? rowFlags.conflict : 0) |
    (isPlain(usage) ? rowFlags.plain : rowFlags.billedMore) |
    (Math.max(0, costSources.indexOf(cost?.source)) << sourceShift)
  )
}
