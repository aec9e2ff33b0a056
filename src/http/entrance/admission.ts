import type { WireError } from '../../formats/error.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import { runningMax, type RunningRequest, type RunningRequests } from '../../observe/under-way.ts'
import type { Uploads } from './slow-uploads.ts'

/** Limits that decide whether a request may start. */
export interface AdmissionOptions {
  /** Limit of concurrent requests; 503 at the limit. */
  readonly requestsMax: () => number
  /** Whether there are file descriptors for one more request; 503 otherwise. */
  readonly hasDescriptors: () => boolean
  /** Whether the last look found too few free descriptors. */
  readonly lacksDescriptors: () => boolean
  readonly openRequests: { readonly count: number }
  /** Request bodies being received. A slow one is ended when a limit is reached. */
  readonly uploads: Pick<Uploads, 'endSlow'>
}

/** Bodies up to this size have most likely arrived with their head. */
const arrivedBytesMax = 16 * 1024

// Made once: refusals must be cheap under load, and the stack trace is half of the cost of an error.
const tooMany = overloaded('The service is at its concurrency limit')
const noDescriptors = overloaded('File descriptor limit reached; try again shortly')
/** Closing the connection frees a descriptor. */
const noDescriptorsAndClosed = overloaded('File descriptor limit reached; try again shortly', undefined, {
  connection: 'close',
})

/** Refuses a request with 503 and Retry-After before its body is read; `undefined`: it may start. */
export function refusalOf(
  { headers }: Request,
  { requestsMax, hasDescriptors, lacksDescriptors, openRequests, uploads }: AdmissionOptions,
): WireError | undefined {
  const isFull = openRequests.count >= requestsMax()
  if (isFull && !uploads.endSlow()) return tooMany
  if (hasDescriptors()) return undefined
  // Ending an upload frees its descriptor for the next request, too late for this one. An upload ended above does too.
  if (!isFull && lacksDescriptors()) uploads.endSlow()
  // The connection of a client that may still be sending stays open: a reset would hide the answer from it.
  const length = headers.get('content-length')
  return length !== null && Number(length) <= arrivedBytesMax ? noDescriptorsAndClosed : noDescriptors
}

/** A request, as {@link OpenRequests} sees it. */
export interface Stoppable {
  /** Ends the request with an error that the client can read. */
  stop(): void
  /** Remote port of its connection; `undefined` once it is closed. */
  peerPort(): number | undefined
  /** Its `x-request-id`. */
  readonly id?: string
  /** Its facts. Absent: it is not shown. */
  describe?(): RunningRequest
}

/** A request that has begun. */
export interface OpenRequest {
  /** Removes the request. May be called more than once. */
  end(): void
}

/** Requests from their acceptance to the last byte of their answer. */
export interface OpenRequests {
  begin(request: Stoppable): OpenRequest
  readonly count: number
  /** Known remote ports of all requests. Expensive: it asks the server for each. */
  peers(): ReadonlySet<number>
  /** The facts of open requests. @param id of those to be described; absent: all */
  running(id?: string): RunningRequests
  /** Resolves when no request is open; at once if none is. */
  idle(): Promise<void>
  /** Stops all open requests. */
  stopAll(): void
}

/** Tracks open requests, so that a shutdown can wait for them. */
export function openRequests(): OpenRequests {
  /** In no order: the last one takes the place of one that ends. */
  const entries: Entry[] = []
  let waiting: (() => void)[] = []

  class Entry implements OpenRequest {
    readonly request: Stoppable
    #position = entries.length

    constructor(request: Stoppable) {
      this.request = request
      entries.push(this)
    }

    end(): void {
      if (entries[this.#position] !== this) return
      const last = entries.pop()
      if (last !== undefined && last !== this) {
        entries[this.#position] = last
        last.#position = this.#position
      }
      if (entries.length > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    }
  }

  return {
    begin: (request) => new Entry(request),
    get count() {
      return entries.length
    },
    peers: () => new Set(entries.flatMap(({ request }) => request.peerPort() ?? [])),
    running(id) {
      const asked = id === undefined ? entries : entries.filter(({ request }) => request.id === id)
      return { count: asked.length, requests: oldest(asked.flatMap(({ request }) => request.describe?.() ?? [])) }
    },
    idle: () =>
      entries.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
    stopAll() {
      for (const { request } of [...entries]) request.stop()
    },
  }
}

/** The first ones to be shown. */
function oldest(requests: readonly RunningRequest[]): readonly RunningRequest[] {
  return requests.toSorted((one, other) => one.time - other.time).slice(0, runningMax)
}
