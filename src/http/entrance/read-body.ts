import { nextTurn } from '../../base/next-turn.ts'
import { freeBytes, growingBytes } from '../../bytes/growing-bytes.ts'
import { WireError } from '../../formats/error.ts'
import { ownTimers, type SharedTimers } from '../../service/shared-timers.ts'
import type { BodyReservation } from './body-budget.ts'
import type { BegunUpload, Upload } from './slow-uploads.ts'

/** Bodies up to this size are read at once. The idle limit applies to the whole of them. */
const smallBytesMax = 16 * 1024

/** Bytes of a larger body that are reserved before it is read, for the part that the server buffers. */
const aheadBytes = 64 * 1024

/**
 * After the total limit, pieces that arrived while the process was suspended are still read for this time at most.
 * Without a limit, a client that never pauses could go on for ever.
 */
const lateMsMax = 1_000

/** Time limits of a request body. */
export interface BodyTimes {
  /** Milliseconds for the whole body. */
  readonly totalMs: number
  /** Milliseconds without a byte. */
  readonly idleMs: number
}

/** Limits of a request body. */
export interface BodyLimits extends BodyTimes {
  readonly bytesMax: number
  /** The origin of `bytesMax`, such as its setting, for the error message. */
  readonly setting?: string
}

/** The client closed the connection. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft'
}

/**
 * Reads the body of a request (docs/api.md, "Limits"). The server reads and drops the rest of a refused body: closing
 * the connection would hide the answer from a client that is still sending.
 *
 * @param reservation accounts for the bytes in memory, up to 64 KiB before reading. It may end the upload if it is slow
 * @throws {WireError} 400 for a repeated Content-Length, 413 too large, 415 for a Content-Encoding, 408 too slow, or
 *   ended for others
 * @throws {ClientLeft}
 * @throws errors of `reservation`
 */
export function readBody(
  request: Request,
  limits: BodyLimits,
  reservation: BodyReservation = unbounded,
  timers: SharedTimers = ownTimers,
): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  const length = declared === null ? undefined : Number(declared)
  const refusal = refusalOf(request.headers, length, limits)
  if (refusal !== undefined) return Promise.reject(refusal)
  const isSmall = length !== undefined && length <= smallBytesMax
  const ahead = Math.min(length ?? aheadBytes, aheadBytes)
  try {
    reservation.reserve(ahead)
  } catch (error) {
    return Promise.reject(error)
  }
  if (isSmall) return readSmall(request, limits, reservation, timers)
  // Only for large bodies: `request.body` creates a stream, which costs more than reading a small body.
  return request.body === null
    ? Promise.resolve(new Uint8Array())
    : readLarge(request.body, { length, ahead, reservation }, limits)
}

/** {@link readBody} for small bodies outside the budget. A client that left is a {@link WireError} 499, for the log. */
export async function readControlBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  try {
    return await readBody(request, limits)
  } catch (error) {
    throw error instanceof ClientLeft
      ? new WireError(499, 'invalid_request_error', 'client_left', 'The client closed the connection')
      : error
  }
}

/** Reservation of an unlimited budget. */
const unbounded: BodyReservation = { reserve() {}, reduce() {}, begin: () => ({ over() {} }), release() {} }

function refusalOf(headers: Headers, length: number | undefined, limits: BodyLimits): WireError | undefined {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return new WireError(
      415,
      'invalid_request_error',
      'unsupported_encoding',
      'A request body with a Content-Encoding is not supported: send it as it is',
    )
  }
  if (length === undefined) return undefined
  if (!Number.isSafeInteger(length)) return unclearLength(headers.get('content-length'))
  return length > limits.bytesMax ? tooLarge(limits) : undefined
}

function readSmall(
  request: Request,
  { idleMs }: BodyLimits,
  reservation: BodyReservation,
  timers: SharedTimers,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const upload = new SmallUpload(reservation, reject)
    const timer = timers.start(idleMs, () => upload.giveUp(tooSlow()))
    request.bytes().then(
      (bytes) => {
        timer.stop()
        upload.over()
        resolve(bytes)
      },
      (cause: unknown) => {
        timer.stop()
        upload.giveUp(new ClientLeft('the client left while it was sending', { cause }))
      },
    )
  })
}

/** A small body that is being received. */
class SmallUpload implements Pick<Upload, 'arrived' | 'end'> {
  readonly #reservation: BodyReservation
  readonly #reject: (error: unknown) => void
  readonly #begun: BegunUpload

  constructor(reservation: BodyReservation, reject: (error: unknown) => void) {
    this.#reservation = reservation
    this.#reject = reject
    this.#begun = reservation.begin(this)
  }

  /** Unknown until the end. A body of this size arrives with its head, or a moment later. */
  arrived(): number {
    return 0
  }

  end(): void {
    this.#reservation.release()
    this.giveUp(endedForOthers())
  }

  over(): void {
    this.#begun.over()
  }

  giveUp(error: unknown): void {
    this.over()
    this.#reject(error)
  }
}

interface LargeBody {
  readonly length: number | undefined
  /** Bytes that are already reserved. */
  readonly ahead: number
  readonly reservation: BodyReservation
}

async function readLarge(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { length, ahead, reservation }: LargeBody,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const { bytesMax } = limits
  const reader = body.getReader()
  const remainingMs = timeLeft(limits)
  const bytes = growingBytes(length ?? bytesMax)
  let reserved = ahead
  let wasEnded = false
  let piece: Uint8Array<ArrayBuffer> | undefined
  const upload = reservation.begin({
    arrived: () => bytes.length,
    end() {
      wasEnded = true
      bytes.free()
      reservation.release()
      reader.cancel().catch(() => undefined)
    },
  })
  try {
    for (;;) {
      piece = (await inTime(reader.read(), remainingMs())).value
      if (wasEnded) throw endedForOthers()
      if (piece === undefined) break
      if (bytes.length + piece.length > bytesMax) throw tooLarge(limits)
      const more = bytes.capacityWith(piece.length) - reserved
      if (more > 0) {
        reservation.reserve(more)
        reserved += more
      }
      bytes.add(piece)
      // Bun reads some 5 MB at once from a fast client, which would block other requests for 12 ms.
      await nextTurn()
    }
  } catch (error) {
    bytes.free()
    if (piece !== undefined) freeBytes(piece)
    reader.cancel().catch(() => undefined) // The upload has ended in any case.
    throw error instanceof WireError ? error : new ClientLeft('the client left while it was sending', { cause: error })
  } finally {
    upload.over()
  }
  bytes.trim()
  reservation.reduce(reserved - bytes.length)
  return bytes.whole()
}

/** Returns a function for the milliseconds that the next piece may take. It throws after the total limit. */
function timeLeft({ totalMs, idleMs }: BodyLimits): () => number {
  const started = performance.now()
  let lateSince: number | undefined
  return () => {
    const now = performance.now()
    const remainingMs = started + totalMs - now
    if (remainingMs <= 0) lateSince ??= now
    if (lateSince !== undefined && now - lateSince > Math.min(lateMsMax, totalMs)) throw tooSlow()
    return Math.min(idleMs, remainingMs)
  }
}

function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = ownTimers.start(Math.max(0, ms), () => reject(tooSlow()))
    promise.then(resolve, reject).finally(() => timer.stop())
  })
}

function tooLarge({ bytesMax, setting }: BodyLimits): WireError {
  return new WireError(
    413,
    'invalid_request_error',
    'request_too_large',
    `The request body is larger than ${bytesMax} bytes${setting === undefined ? '' : ` (${setting})`}`,
  )
}

/**
 * `Bun.serve` joins repeated headers by commas. It refuses different lengths itself, but not equal ones (RFC 9112
 * section 6.3).
 */
function unclearLength(found: string | null): WireError {
  return new WireError(
    400,
    'invalid_request_error',
    'bad_request',
    `The Content-Length header is repeated or malformed: found '${found?.slice(0, 100)}'`,
    {
      headers: { connection: 'close' },
    },
  )
}

function tooSlow(): WireError {
  return new WireError(408, 'invalid_request_error', 'request_timeout', 'The request body did not arrive in time', {
    headers: { connection: 'close' },
  })
}

function endedForOthers(): WireError {
  return new WireError(
    408,
    'invalid_request_error',
    'request_timeout',
    'The request body arrived too slowly while others needed request memory',
    { headers: { connection: 'close' } },
  )
}
