import type { WireError } from '../../formats/error.ts'
import { overloaded } from '../../gateway/all-failed.ts'
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
