import type { RequestRecord } from '../../observe/record.ts'
import type { HeldBy } from '../../observe/under-way.ts'
import { readBatch, type RecordedUse, type SummedUse, type UseBatch } from './use-batch.ts'
import type { WriteResult } from './use-store.ts'
import { useSums, type UseSums } from './use-sums.ts'
import type { UseThread } from './use-thread-link.ts'
import { zoneHours } from './zone-hours.ts'

/** Records the use by requests: sums that are never lost, and rows that may be. */
export interface UseRecorder {
  /** Adds a request of this process. Costs about a microsecond; does not wait. */
  add(record: RequestRecord): void
  /** Writes what this process holds soon, since that has changed. */
  wake(): void
  /** Adds requests of another process. */
  addBatch(batch: RecordedUse): void
  /** Sums are cut at the hours of this zone from now on. @throws {RangeError} for an unknown zone */
  setZone(zone: string): void
  /** Requests without a row. */
  readonly rowsDropped: number
  /** Resolves when all requests so far are written, or after the time. @returns whether they are */
  flush(limitMs: number): Promise<boolean>
  /** Writes the rest, for 5 s at most, and ends the thread. */
  close(): Promise<void>
}

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
export function useRecorder({
  start,
  onTrouble,
  onLost,
  holds = () => undefined,
  gatherMs = 150,
  waitingBytesMax = 64 * 1024 * 1024,
  retryMs = 250,
}: UseRecorderOptions): UseRecorder {
  const source = crypto.randomUUID()
  let hours = zoneHours('UTC')
  let number = 0
  /** JSON of requests. Written at once, while they are in the caches of the processor. */
  let gathered: string[] = []
  let gatherTimer: Timer | undefined
  /** Holds are to be written, also without requests. */
  let isWoken = false
  let waiting: Waiting[] = []
  let waitingBytes = 0
  /** Sums of batches whose rows were given up, by source. They are older than all that wait. */
  const folded = new Map<string, FoldedSums>()
  let inFlight: { readonly recorded: readonly Waiting[]; readonly folded: readonly SummedUse[] } | undefined
  let retryTimer: Timer | undefined
  let failures = 0
  let trouble: string | undefined
  let rowsDropped = 0
  let isClosing = false
  /** The holds of dead processes are booked, as far as that was possible. */
  let isReady = false
  const idle = new Set<() => void>()
  let thread: UseThread = startThread()

  function startThread(): UseThread {
    const started = start(hours.zone)
    started.onReady(() => {
      if (started !== thread) return
      isReady = true
      post()
    })
    started.onResult((result) => {
      if (started === thread) settle(result)
    })
    started.onEnd(() => {
      if (started === thread && !isClosing) restart()
    })
    return started
  }

  /** The thread has died. Its last batch may be written or not; the batch number decides. */
  function restart(): void {
    putBackUnsure()
    report('the thread that writes the use has ended; another one starts')
    thread = startThread()
    retryLater()
  }

  /** Batches in flight may be written or not. */
  function putBackUnsure(): void {
    const { recorded = [], folded: sums = [] } = inFlight ?? {}
    const all = [...sums.map((batch): Waiting => ({ batch, isSummed: false, isUnsure: true })), ...recorded]
    for (const each of all) each.isUnsure = true
    waiting = [...all, ...waiting]
    inFlight = undefined
  }

  function gather(): void {
    clearTimeout(gatherTimer)
    gatherTimer = undefined
    if (gathered.length === 0 && !isWoken) return
    isWoken = false
    number += 1
    const records = gathered
    gathered = []
    const held = holds()
    enqueue({
      ...{ source, number, records: `[${records.join(',')}]`, count: records.length },
      ...(held === undefined ? {} : { holds: held }),
    })
  }

  function enqueue(batch: RecordedUse): void {
    waiting.push({ batch, isSummed: false, isUnsure: false })
    waitingBytes += bytesOf(batch)
    if (waitingBytes > waitingBytesMax) giveUpRows()
    post()
  }

  function giveUpRows(): void {
    const kept: Waiting[] = []
    for (const each of waiting) {
      if (waitingBytes <= waitingBytesMax || each.isUnsure) {
        kept.push(each)
        continue
      }
      giveUpRowsOf(each)
    }
    waiting = kept
  }

  /** Keeps the sums alone. */
  function giveUpRowsOf({ batch, isSummed }: Waiting): void {
    waitingBytes -= bytesOf(batch)
    rowsDropped += countOf(batch)
    if (!isSummed) fold(batch)
  }

  function fold(batch: UseBatch): void {
    const sum: FoldedSums = folded.get(batch.source) ?? { number: 0, holds: undefined, sums: useSums() }
    if (batch.number > sum.number) sum.holds = batch.holds ?? sum.holds
    sum.sums.add(readBatch(batch), hours)
    sum.number = Math.max(sum.number, batch.number)
    folded.set(batch.source, sum)
  }

  function post(): void {
    if (inFlight !== undefined || retryTimer !== undefined) return
    const isUnsure = waiting.some((each) => each.isUnsure)
    // Those go first, alone: the sums of later batches of their source would make them look written.
    const sums = isUnsure ? [] : takeFolded()
    const recorded = takeWaiting(isUnsure)
    if (sums.length + recorded.length === 0) {
      if (!isReady) return
      for (const resolve of idle) resolve()
      idle.clear()
      return
    }
    inFlight = { recorded, folded: sums }
    const batches: readonly UseBatch[] = [...sums, ...recorded.map(({ batch }) => batch)]
    thread.write(batches)
  }

  function takeFolded(): readonly SummedUse[] {
    const all = Array.from(folded, ([from, { number: last, holds: held, sums }]) => ({
      ...{ source: from, number: last, sums: sums.totals() },
      ...(held === undefined ? {} : { holds: held }),
    }))
    folded.clear()
    return all
  }

  function takeWaiting(isUnsure: boolean): readonly Waiting[] {
    let bytes = 0
    const end = waiting.findIndex((each) => {
      if (each.isUnsure !== isUnsure || bytes > messageBytesMax) return true
      bytes += bytesOf(each.batch)
      return false
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  function settle({ sumsProblem, isUnknown, rowsProblem, areRowsLost }: WriteResult): void {
    if (inFlight === undefined) return
    report(sumsProblem ?? rowsProblem)
    if (isUnknown === true) {
      putBackUnsure()
      return retryLater()
    }
    const { recorded, folded: sums } = inFlight
    inFlight = undefined
    if (sumsProblem !== undefined) {
      for (const batch of sums) fold(batch)
      putBack(recorded)
      return retryLater()
    }
    const areDone = rowsProblem === undefined || areRowsLost === true
    for (const each of recorded) {
      each.isSummed = true
      each.isUnsure = false
      if (!areDone) continue
      waitingBytes -= bytesOf(each.batch)
      if (areRowsLost === true) rowsDropped += countOf(each.batch)
    }
    if (areDone) {
      failures = 0
      return post()
    }
    waiting = [...recorded, ...waiting]
    retryLater()
  }

  /**
   * Puts back batches that were not written. Sums of later batches of a source must not be written before them. A batch
   * that may have been written earlier still may: the failure says nothing of that.
   */
  function putBack(recorded: readonly Waiting[]): void {
    const kept = recorded.filter((each) => {
      const { source: from, number: own } = each.batch
      if (each.isUnsure || (folded.get(from)?.number ?? 0) < own) return true
      giveUpRowsOf(each)
      return false
    })
    waiting = [...kept, ...waiting]
  }

  function retryLater(): void {
    const ms = Math.min(retryMsMax, retryMs * 2 ** failures)
    failures += 1
    retryTimer ??= setTimeout(() => {
      retryTimer = undefined
      post()
    }, ms)
  }

  function report(problem: string | undefined): void {
    if (problem !== trouble) onTrouble(problem)
    trouble = problem
  }

  async function flush(limitMs: number): Promise<boolean> {
    gather()
    const written = new Promise<boolean>((resolve) => {
      idle.add(() => resolve(true))
    })
    post()
    const { promise: late, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(resolve, limitMs, false)
    const isWritten = await Promise.race([written, late])
    clearTimeout(timer)
    return isWritten
  }

  return {
    add(record) {
      gathered.push(JSON.stringify(record))
      if (gathered.length >= batchMax) gather()
      else gatherTimer ??= setTimeout(gather, gatherMs)
    },
    wake() {
      isWoken = true
      gatherTimer ??= setTimeout(gather, gatherMs)
    },
    addBatch: enqueue,
    setZone(zone) {
      hours = zoneHours(zone)
      thread.setZone(zone)
    },
    get rowsDropped() {
      return rowsDropped
    },
    flush,
    async close() {
      const isWritten = await flush(closeMs)
      isClosing = true
      clearTimeout(retryTimer)
      if (!isWritten) onLost(waiting.length + (inFlight?.recorded.length ?? 0) + folded.size)
      await thread.close()
    },
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
