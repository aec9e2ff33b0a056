import type { RecordedAttempt, RequestRecord } from './record.ts'

const hourMs = 3_600_000
const attemptsMost = 500
const providersMost = 1_000

/** What came of the attempts at one provider within the last hour; of at most the last 500. */
export interface ProviderAttempts {
  readonly count: number
  /** Attempts that answered. */
  readonly ok: number
  /** Milliseconds to the first token of the streams among them; absent: none. */
  readonly firstTokenP50: number | undefined
  readonly firstTokenP95: number | undefined
  /** The last that failed, however long ago. */
  readonly lastError: AttemptError | undefined
}

/** Of a provider that was not asked. */
export const noAttempts: ProviderAttempts = {
  count: 0,
  ok: 0,
  firstTokenP50: undefined,
  firstTokenP95: undefined,
  lastError: undefined,
}

/** An attempt that failed. */
export interface AttemptError {
  /** Unix milliseconds, about. */
  readonly time: number
  /** Short, without secrets. */
  readonly why: string
  /** As the caller asked for it. */
  readonly model: string
  /** What the provider sent, if anything. */
  readonly status: number | undefined
}

/** The attempts at each provider. */
export interface AttemptBook {
  add(record: Pick<RequestRecord, 'time' | 'model' | 'stream' | 'trail'>): void
  of(provider: string, now: number): ProviderAttempts
}

interface Kept {
  readonly time: number
  readonly isOk: boolean
  readonly firstTokenMs: number | undefined
}

interface Shelf {
  /** The last 500, in a ring. */
  readonly kept: Kept[]
  next: number
  lastError: AttemptError | undefined
}

/**
 * An empty book of at most 1,000 providers. Who was left alone, being ill or full, does not stand in a trail and is not
 * counted; neither is an attempt that came to nothing because this service was out of room.
 */
export function attemptBook(): AttemptBook {
  const shelves = new Map<string, Shelf>()

  function shelfOf(provider: string): Shelf {
    const known = shelves.get(provider)
    if (known !== undefined) return known
    if (shelves.size >= providersMost) for (const [oldest] of shelves.entries().take(1)) shelves.delete(oldest)
    const made: Shelf = { kept: [], next: 0, lastError: undefined }
    shelves.set(provider, made)
    return made
  }

  return {
    add({ time, model, stream, trail }) {
      let ended = time
      for (const attempt of trail) {
        ended += attempt.ms
        if (attempt.failure === 'resources') continue
        const shelf = shelfOf(attempt.name)
        keep(shelf, attempt, ended, stream)
        if (attempt.failure !== undefined && ended >= (shelf.lastError?.time ?? 0)) {
          shelf.lastError = { time: ended, why: attempt.reason ?? attempt.failure, model, status: attempt.status }
        }
      }
    },
    of(provider, now) {
      const { kept = [], lastError } = shelves.get(provider) ?? {}
      const recent = kept.filter((each) => each.time > now - hourMs)
      const firstTokens = recent.flatMap(({ firstTokenMs }) => firstTokenMs ?? []).toSorted((one, other) => one - other)
      return {
        count: recent.length,
        ok: recent.filter(({ isOk }) => isOk).length,
        firstTokenP50: percentile(firstTokens, 0.5),
        firstTokenP95: percentile(firstTokens, 0.95),
        lastError,
      }
    },
  }
}

/** The time of an attempt at a stream is the time to its first token, unless it was cut later. */
function keep(shelf: Shelf, { failure, ms }: RecordedAttempt, time: number, stream: boolean): void {
  const isOk = failure === undefined
  shelf.kept[shelf.next] = { time, isOk, firstTokenMs: isOk && stream ? ms : undefined }
  shelf.next = (shelf.next + 1) % attemptsMost
}

function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.ceil(share * sorted.length) - 1]
}
