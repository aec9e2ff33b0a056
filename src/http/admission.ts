import { overloaded } from '../gateway/all-failed.ts'
import type { WireError } from '../wire/error.ts'
import type { Uploads } from './uploads.ts'

/** What decides whether one more request may begin. */
export interface AdmissionOptions {
  /** Requests under way at once; above, 503. */
  readonly requestsMost: () => number
  /** Whether there are descriptors for one request more; else 503. */
  readonly hasRoom: () => boolean
  /** Whether it is known that too few are free. */
  readonly lacksDescriptors: () => boolean
  readonly underWay: { readonly count: number }
  /** Who is sending. Where there is no room, one that comes slowly is ended. */
  readonly uploads: Pick<Uploads, 'endSlow'>
}

/** Bodies up to this size have come with their head, most likely. */
const arrivedBytesMax = 16 * 1024

// Made once: under load a refusal must cost little, and the stack of an error is half of it.
const tooMany = overloaded('The service has as many requests as it may have')
const noDescriptors = overloaded('The service is out of descriptors; try again shortly')
/** Closing the connection gives a descriptor back. */
const noDescriptorsAndClosed = overloaded('The service is out of descriptors; try again shortly', undefined, {
  connection: 'close',
})

/** Why a request may not begin: 503 with Retry-After, before anything of it is read; `undefined`: it may. */
export function refusalOf(
  { headers }: Request,
  { requestsMost, hasRoom, lacksDescriptors, underWay, uploads }: AdmissionOptions,
): WireError | undefined {
  const isFull = underWay.count >= requestsMost()
  if (isFull && !uploads.endSlow()) return tooMany
  if (hasRoom()) return undefined
  // Its descriptor comes back too late for this one, in time for the next. The one of who was ended above does, too.
  if (!isFull && lacksDescriptors()) uploads.endSlow()
  // A client that may still be sending would be reset before it could read why.
  const length = headers.get('content-length')
  return length !== null && Number(length) <= arrivedBytesMax ? noDescriptorsAndClosed : noDescriptors
}
