import type { MinuteEntry, RequestEntry } from '../../src/http/page-api.ts'

const minuteMs = 60_000
const minutesMost = 60

/**
 * The hour that ends with the minute of `now`, oldest first: always 60 of them, with nothing in those that had no
 * requests.
 */
export function lastHour(minutes: readonly MinuteEntry[], now: number): readonly MinuteEntry[] {
  const known = new Map(minutes.map((minute) => [minuteOf(minute.time), minute]))
  const first = minuteOf(now) - (minutesMost - 1) * minuteMs
  return Array.from({ length: minutesMost }, (_, index) => {
    const time = first + index * minuteMs
    return known.get(time) ?? { time, requests: 0, errors: 0, promptTokens: 0, completionTokens: 0 }
  })
}

/** The minutes that are known with those that changed in their places, oldest first; the newest 60 of them. */
export function mergeMinutes(known: readonly MinuteEntry[], changed: readonly MinuteEntry[]): readonly MinuteEntry[] {
  if (changed.length === 0) return known
  const all = new Map([...known, ...changed].map((minute) => [minute.time, minute]))
  return [...all.values()].toSorted((left, right) => left.time - right.time).slice(-minutesMost)
}

/** What came together in an hour. */
export interface HourFigures {
  readonly requests: number
  readonly errors: number
  /** 0 to 1; absent without requests. */
  readonly errorShare?: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Of the requests that are still remembered. */
  readonly firstTokenP95?: number
  /** USD, of the requests that are still remembered and whose price is known; absent: none is. */
  readonly cost?: number
  /** The hour had more requests than are remembered: `firstTokenP95` and `cost` speak of the newest only. */
  readonly isPartial: boolean
}

/** The figures of an hour of minutes. @param requests those that are remembered, in any order */
export function hourFigures(hour: readonly MinuteEntry[], requests: readonly RequestEntry[]): HourFigures {
  const sum = (of: (minute: MinuteEntry) => number): number => hour.reduce((total, minute) => total + of(minute), 0)
  const from = hour[0]?.time ?? 0
  const remembered = requests.filter(({ time }) => time >= from)
  const count = sum((minute) => minute.requests),
    errors = sum((minute) => minute.errors)
  const p95 = quantile(
    remembered.flatMap(({ firstTokenMs }) => firstTokenMs ?? []),
    0.95,
  )
  const costs = remembered.flatMap(({ cost }) => cost ?? [])
  return {
    requests: count,
    errors,
    ...(count === 0 ? {} : { errorShare: errors / count }),
    promptTokens: sum((minute) => minute.promptTokens),
    completionTokens: sum((minute) => minute.completionTokens),
    ...(p95 === undefined ? {} : { firstTokenP95: p95 }),
    ...(costs.length === 0 ? {} : { cost: costs.reduce((total, cost) => total + cost, 0) }),
    isPartial: count > remembered.length,
  }
}

/** The value below which `share` (0 to 1) of the values lie, by the nearest rank; `undefined` of none. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

function minuteOf(time: number): number {
  return Math.floor(time / minuteMs) * minuteMs
}
