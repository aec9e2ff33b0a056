import { countOf } from '../prices/units.ts'
import { tenths } from './fields.ts'
import type { RequestRecord } from './record.ts'
import type { MinuteSums } from './request-entry.ts'
import { timeHistogram, type TimeHistogram } from './time-histogram.ts'

const minuteMs = 60_000
const minutesMax = 60

/** The members of a record that are summed. */
export type Summed = Pick<RequestRecord, 'time' | 'totalMs' | 'status' | 'error' | 'usage' | 'firstTokenMs'>

/** Sums of the last sixty minutes. */
export interface MinuteBook {
  /** Adds a request to its minute. @param mark a number that grows from call to call */
  add(request: Summed, mark: number): void
  /** The minutes with a request whose mark is above `after`, oldest first. */
  list(now: number, after: number): readonly MinuteSums[]
}

interface MinuteCounters {
  minute: number
  mark: number
  requests: number
  errors: number
  promptTokens: number
  completionTokens: number
  isEstimated: boolean
  firstTokens: TimeHistogram | undefined
}

/** Makes an empty book of sixty cells, each reused for the minute an hour later. */
export function minuteBook(): MinuteBook {
  const cells: MinuteCounters[] = []

  function cellOf(minute: number): MinuteCounters {
    const index = minute % minutesMax
    const known = cells[index]
    if (known?.minute === minute) return known
    const made: MinuteCounters = {
      minute,
      mark: 0,
      requests: 0,
      errors: 0,
      promptTokens: 0,
      completionTokens: 0,
      isEstimated: false,
      firstTokens: undefined,
    }
    cells[index] = made
    return made
  }

  return {
    add({ time, totalMs, status, error, usage, firstTokenMs }, mark) {
      const cell = cellOf(Math.floor((time + totalMs) / minuteMs))
      cell.mark = mark
      cell.requests += 1
      if (error !== undefined && status !== 499) cell.errors += 1
      cell.promptTokens += countOf(usage?.promptTokens) ?? 0
      cell.completionTokens += countOf(usage?.completionTokens) ?? 0
      if (usage?.isEstimated === true) cell.isEstimated = true
      if (firstTokenMs === undefined) return
      cell.firstTokens ??= timeHistogram()
      cell.firstTokens.add(firstTokenMs)
    },
    list(now, after) {
      const current = Math.floor(now / minuteMs)
      return (
        cells
          // A request that has just ended may be slightly in the future, since its times are measured separately.
          .filter(({ minute, mark }) => minute > current - minutesMax && minute <= current + 1 && mark > after)
          .toSorted((one, other) => one.minute - other.minute)
          .map(sumsOf)
      )
    },
  }
}

function sumsOf({ minute, mark: _, isEstimated, firstTokens, ...sums }: MinuteCounters): MinuteSums {
  return {
    time: minute * minuteMs,
    ...sums,
    ...(isEstimated ? { isEstimated } : {}),
    ...percentile('firstTokenP50', 0.5, firstTokens),
    ...percentile('firstTokenP95', 0.95, firstTokens),
  }
}

function percentile(name: string, share: number, times: TimeHistogram | undefined): object {
  const ms = times?.percentile(share)
  return ms === undefined ? {} : { [name]: tenths(ms) }
}
