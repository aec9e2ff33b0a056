import type { RequestRecord } from '../../observe/record.ts'
import type { HeldBy } from '../../observe/under-way.ts'
import { readBatch, type RecordedUse, type SummedUse, type UseBatch } from './use-batch.ts'
import type { WriteResult } from './use-store.ts'
import { useSums, type UseSums } from './use-sums.ts'
import type { UseThread } from './use-thread-link.ts'
import { zoneHours } from './zone-hours.ts'

export interface UseRecorderOptions {
  /** Starts a thread. @param zone IANA name */
  readonly start: (zone: string) => UseThread
  /** The database cannot be written; `undefined`: it can again. */
  readonly onTrouble: (problem: string | undefined) => void
  /** Called at the end with the number of batches that could not be written, unless it is 0. */
  readonly onLost: (batches: number) => void
  /** What this process holds now; `undefined`: it never held anything. */
  readonly holds?: () => HeldBy | undefined
  /** Milliseconds that requests are gathered. Default 150. */
  readonly gatherMs?: number
  /** Bytes of rows that wait. Default 64 MiB. */
  readonly waitingBytesMax?: number
  /** Milliseconds before the second try, doubled up to 5 s. Default 250. */
  readonly retryMs?: number
}

const batchMax = 500
/** Bytes of one message to the thread. */
const messageBytesMax = 4 * 1024 * 1024
const retryMsMax = 5_000
const closeMs = 5_000

interface FoldedSums {
  number: number
  holds: HeldBy | undefined
  readonly sums: UseSums
}

interface Waiting {
  readonly batch: UseBatch
  /** The sums are written; only the rows are not. */
  isSummed: boolean
  /** The thread ended before its answer: the batch may be written, so it must keep its number. */
  isUnsure: boolean
}

/**
 * Keeps requests until the thread has written them. While the database cannot be used, at most 64 MiB of rows wait;
 * older ones are given up and counted, and their sums merge in memory.
 */
export class UseRecorder {
  readonly #options: Required<UseRecorderOptions>
  readonly #source = crypto.randomUUID()
  #hours = zoneHours('UTC')
  #number = 0
  /** JSON of requests. Written at once, while they are in the caches of the processor. */
  #gathered: string[] = []
  #gatherTimer: Timer | undefined
  /** Holds are to be written, also without requests. */
  #isWoken = false
  #waiting: Waiting[] = []
  #waitingBytes = 0
  /** Sums of batches whose rows were given up, by source. They are older than all that wait. */
  readonly #folded = new Map<string, FoldedSums>()
  #inFlight: { readonly recorded: readonly Waiting[]; readonly folded: readonly SummedUse[] } | undefined
  #retryTimer: Timer | undefined
  #failures = 0
  #trouble: string | undefined
  #rowsDropped = 0
  #isClosing = false
  /** The holds of dead processes are booked, as far as that was possible. */
  #isReady = false
  readonly #idle = new Set<() => void>()
  #thread: UseThread

  constructor(options: UseRecorderOptions) {
    this.#options = {
      ...{ holds: () => undefined, gatherMs: 150, waitingBytesMax: 64 * 1024 * 1024, retryMs: 250 },
      ...options,
    }
    this.#thread = this.#startThread()
  }

  /** Requests without a row. */
  get rowsDropped(): number {
    return this.#rowsDropped
  }

  /** Adds a request of this process. Costs about a microsecond; does not wait. */
  add(record: RequestRecord): void {
    this.#gathered.push(JSON.stringify(record))
    if (this.#gathered.length >= batchMax) this.#gather()
    else this.#gatherSoon()
  }

  /** Writes what this process holds soon, since that has changed. */
  wake(): void {
    this.#isWoken = true
    this.#gatherSoon()
  }

  /** Adds requests of another process. */
  addBatch(batch: RecordedUse): void {
    this.#waiting.push({ batch, isSummed: false, isUnsure: false })
    this.#waitingBytes += bytesOf(batch)
    if (this.#waitingBytes > this.#options.waitingBytesMax) this.#giveUpRows()
    this.#post()
  }

  /** Sums are cut at the hours of this zone from now on. @throws {RangeError} for an unknown zone */
  setZone(zone: string): void {
    this.#hours = zoneHours(zone)
    this.#thread.setZone(zone)
  }

  /** Resolves when all requests so far are written, or after the time. @returns whether they are */
  async flush(limitMs: number): Promise<boolean> {
    this.#gather()
    const written = new Promise<boolean>((resolve) => {
      this.#idle.add(() => resolve(true))
    })
    this.#post()
    const { promise: late, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(resolve, limitMs, false)
    const isWritten = await Promise.race([written, late])
    clearTimeout(timer)
    return isWritten
  }

  /** Writes the rest, for 5 s at most, and ends the thread. */
  async close(): Promise<void> {
    const isWritten = await this.flush(closeMs)
    this.#isClosing = true
    clearTimeout(this.#retryTimer)
    if (!isWritten)
      this.#options.onLost(this.#waiting.length + (this.#inFlight?.recorded.length ?? 0) + this.#folded.size)
    await this.#thread.close()
  }

  #gatherSoon(): void {
    this.#gatherTimer ??= setTimeout(() => this.#gather(), this.#options.gatherMs)
  }

  #startThread(): UseThread {
    const started = this.#options.start(this.#hours.zone)
    started.onReady(() => {
      if (started !== this.#thread) return
      this.#isReady = true
      this.#post()
    })
    started.onResult((result) => {
      if (started === this.#thread) this.#settle(result)
    })
    started.onEnd(() => {
      if (started === this.#thread && !this.#isClosing) this.#restart()
    })
    return started
  }

  /** The thread has died. Its last batch may be written or not; the batch number decides. */
  #restart(): void {
    this.#putBackUnsure()
    this.#report('the thread that writes the use has ended; another one starts')
    this.#thread = this.#startThread()
    this.#retryLater()
  }

  /** Batches in flight may be written or not. */
  #putBackUnsure(): void {
    const { recorded = [], folded: sums = [] } = this.#inFlight ?? {}
    const all = [...sums.map((batch): Waiting => ({ batch, isSummed: false, isUnsure: true })), ...recorded]
    for (const each of all) each.isUnsure = true
    this.#waiting = [...all, ...this.#waiting]
    this.#inFlight = undefined
  }

  #gather(): void {
    clearTimeout(this.#gatherTimer)
    this.#gatherTimer = undefined
    if (this.#gathered.length === 0 && !this.#isWoken) return
    this.#isWoken = false
    this.#number += 1
    const records = this.#gathered
    this.#gathered = []
    const held = this.#options.holds()
    this.addBatch({
      ...{ source: this.#source, number: this.#number, records: `[${records.join(',')}]`, count: records.length },
      ...(held === undefined ? {} : { holds: held }),
    })
  }

  #giveUpRows(): void {
    const kept: Waiting[] = []
    for (const each of this.#waiting) {
      if (this.#waitingBytes <= this.#options.waitingBytesMax || each.isUnsure) {
        kept.push(each)
        continue
      }
      this.#giveUpRowsOf(each)
    }
    this.#waiting = kept
  }

  /** Keeps the sums alone. */
  #giveUpRowsOf({ batch, isSummed }: Waiting): void {
    this.#waitingBytes -= bytesOf(batch)
    this.#rowsDropped += countOf(batch)
    if (!isSummed) this.#fold(batch)
  }

  #fold(batch: UseBatch): void {
    const sum: FoldedSums = this.#folded.get(batch.source) ?? { number: 0, holds: undefined, sums: useSums() }
    if (batch.number > sum.number) sum.holds = batch.holds ?? sum.holds
    sum.sums.add(readBatch(batch), this.#hours)
    sum.number = Math.max(sum.number, batch.number)
    this.#folded.set(batch.source, sum)
  }

  #post(): void {
    if (this.#inFlight !== undefined || this.#retryTimer !== undefined) return
    const isUnsure = this.#waiting.some((each) => each.isUnsure)
    // Those go first, alone: the sums of later batches of their source would make them look written.
    const sums = isUnsure ? [] : this.#takeFolded()
    const recorded = this.#takeWaiting(isUnsure)
    if (sums.length + recorded.length === 0) {
      if (!this.#isReady) return
      for (const resolve of this.#idle) resolve()
      this.#idle.clear()
      return
    }
    this.#inFlight = { recorded, folded: sums }
    const batches: readonly UseBatch[] = [...sums, ...recorded.map(({ batch }) => batch)]
    this.#thread.write(batches)
  }

  #takeFolded(): readonly SummedUse[] {
    const all = Array.from(this.#folded, ([from, { number: last, holds: held, sums }]) => ({
      ...{ source: from, number: last, sums: sums.totals() },
      ...(held === undefined ? {} : { holds: held }),
    }))
    this.#folded.clear()
    return all
  }

  #takeWaiting(isUnsure: boolean): readonly Waiting[] {
    let bytes = 0
    const end = this.#waiting.findIndex((each) => {
      if (each.isUnsure !== isUnsure || bytes > messageBytesMax) return true
      bytes += bytesOf(each.batch)
      return false
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  #settle({ sumsProblem, isUnknown, rowsProblem, areRowsLost }: WriteResult): void {
    if (this.#inFlight === undefined) return
    this.#report(sumsProblem ?? rowsProblem)
    if (isUnknown === true) {
      this.#putBackUnsure()
      return this.#retryLater()
    }
    const { recorded, folded: sums } = this.#inFlight
    this.#inFlight = undefined
    if (sumsProblem !== undefined) {
      for (const batch of sums) this.#fold(batch)
      this.#putBack(recorded)
      return this.#retryLater()
    }
    const areDone = rowsProblem === undefined || areRowsLost === true
    for (const each of recorded) {
      each.isSummed = true
      each.isUnsure = false
      if (!areDone) continue
      this.#waitingBytes -= bytesOf(each.batch)
      if (areRowsLost === true) this.#rowsDropped += countOf(each.batch)
    }
    if (areDone) {
      this.#failures = 0
      return this.#post()
    }
    this.#waiting = [...recorded, ...this.#waiting]
    this.#retryLater()
  }

  /**
   * Puts back batches that were not written. Sums of later batches of a source must not be written before them. A batch
   * that may have been written earlier still may: the failure says nothing of that.
   */
  #putBack(recorded: readonly Waiting[]): void {
    const kept = recorded.filter((each) => {
      const { source: from, number: own } = each.batch
      if (each.isUnsure || (this.#folded.get(from)?.number ?? 0) < own) return true
      this.#giveUpRowsOf(each)
      return false
    })
    this.#waiting = [...kept, ...this.#waiting]
  }

  #retryLater(): void {
    const ms = Math.min(retryMsMax, this.#options.retryMs * 2 ** this.#failures)
    this.#failures += 1
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined
      this.#post()
    }, ms)
  }

  #report(problem: string | undefined): void {
    if (problem !== this.#trouble) this.#options.onTrouble(problem)
    this.#trouble = problem
  }
}

/** An estimate of the memory of one hold. */
const holdBytes = 256

function bytesOf(batch: UseBatch): number {
  return 'records' in batch ? batch.records.length + holdBytes * (batch.holds?.costs.length ?? 0) : 0
}

function countOf(batch: UseBatch): number {
  return 'records' in batch ? batch.count : 0
}
