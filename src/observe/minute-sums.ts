import { countOf } from './cost.ts'
import type { RequestRecord } from './record.ts'
import { timeHistogram, type TimeHistogram } from './time-histogram.ts'

const minuteMs = 60_000
const minutesMost = 60

/** The requests that ended in one minute. */
export interface MinuteSums {
  /** Its beginning, Unix milliseconds. */
  readonly time: number
  readonly requests: number
  /** Requests with an error of any kind, callers who left apart. */
  readonly errors: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Milliseconds, to within 5 %; absent without a stream. */
  readonly firstTokenP50: number | undefined
  readonly firstTokenP95: number | undefined
}

/** What the sums are made of. */
export type Summed = Pick<RequestRecord, 'time' | 'totalMs' | 'status' | 'error' | 'usage' | 'firstTokenMs'>

/** Sums of the last sixty minutes. */
export interface MinuteBook {
  /** @param mark a number that grows from call to call */
  add(request: Summed, mark: number): void
  /** Oldest first, those with requests only, and of these those that were added to with a mark above `after`. */
  list(now: number, after: number): readonly MinuteSums[]
}

interface Cell {
  minute: number
  mark: number
  requests: number
  errors: number
  promptTokens: number
  completionTokens: number
  firstTokens: TimeHistogram | undefined
}

/** An empty book: sixty cells at most, each used again for the minute an hour later. */
export function minuteBook(): MinuteBook {
  const cells: Cell[] = []

  function cellOf(minute: number): Cell {
    const place = minute % minutesMost
    const known = cells[place]
    if (known?.minute === minute) return known
    const made: Cell = {
      minute,
      mark: 0,
      requests: 0,
      errors: 0,
      promptTokens: 0,
      completionTokens: 0,
      firstTokens: undefined,
    }
    cells[place] = made
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
      if (firstTokenMs === undefined) return
      cell.firstTokens ??= timeHistogram()
      cell.firstTokens.add(firstTokenMs)
    },
    list(now, after) {
      const current = Math.floor(now / minuteMs)
      return (
        cells
          // What has just ended may lie a little ahead: its time and the clock's are not read at once.
          .filter(({ minute, mark }) => minute > current - minutesMost && minute <= current + 1 && mark > after)
          .toSorted((one, other) => one.minute - other.minute)
          .map(sumsOf)
      )
    },
  }
}

function sumsOf({ minute, requests, errors, promptTokens, completionTokens, firstTokens }: Cell): MinuteSums {
  return {
    time: minute * minuteMs,
    requests,
    errors,
    promptTokens,
    completionTokens,
    firstTokenP50: firstTokens?.percentile(0.5),
    firstTokenP95: firstTokens?.percentile(0.95),
  }
}
