import type { MinuteSums, RequestEntry } from '../../src/observe/request-entry.ts'
import { shortCost } from './cost-words.ts'

const minuteMs = 60_000
const minutesMax = 60

/** Returns 60 minutes up to the minute of `now`, oldest first. Minutes without requests are 0. */
export function lastHour(minutes: readonly MinuteSums[], now: number): readonly MinuteSums[] {
  const known = new Map(minutes.map((minute) => [minuteOf(minute.time), minute]))
  const first = minuteOf(now) - (minutesMax - 1) * minuteMs
  return Array.from({ length: minutesMax }, (_, index) => {
    const time = first + index * minuteMs
    return known.get(time) ?? { time, requests: 0, errors: 0, promptTokens: 0, completionTokens: 0 }
  })
}

/** Replaces changed minutes and adds new ones. Returns the newest 60, oldest first. */
export function mergeMinutes(known: readonly MinuteSums[], changed: readonly MinuteSums[]): readonly MinuteSums[] {
  if (changed.length === 0) return known
  const all = new Map([...known, ...changed].map((minute) => [minute.time, minute]))
  return [...all.values()].toSorted((left, right) => left.time - right.time).slice(-minutesMax)
}

/** Figures of an hour. */
export interface HourFigures {
  readonly requests: number
  readonly errors: number
  /** 0 to 1; absent without requests. */
  readonly errorShare?: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Over the remembered requests. */
  readonly firstTokenP95?: number
  /** USD, over the remembered requests with a known price; absent if no price is known. */
  readonly cost?: number
  /** Remembered requests without a known price. */
  readonly unpriced: number
  /** The hour had more requests than are remembered, so `firstTokenP95` and `cost` cover the newest only. */
  readonly isPartial: boolean
  /** Some tokens, and their cost, are estimates. */
  readonly isEstimated: boolean
}

/** Computes the figures of an hour. @param requests the remembered requests, in any order */
export function hourFigures(hour: readonly MinuteSums[], requests: readonly RequestEntry[]): HourFigures {
  const sum = (of: (minute: MinuteSums) => number): number => hour.reduce((total, minute) => total + of(minute), 0)
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
    unpriced: remembered.filter((request) => shortCost(request) === 'no price').length,
    isPartial: count > remembered.length,
    isEstimated: hour.some(({ isEstimated }) => isEstimated === true),
  }
}

/** Returns a quantile by nearest rank; `undefined` without values. @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

function minuteOf(time: number): number {
  return Math.floor(time / minuteMs) * minuteMs
}
