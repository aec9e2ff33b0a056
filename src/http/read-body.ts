import { WireError } from '../wire/error.ts'
import type { BodyShare } from './body-budget.ts'
import { growingBytes, letGoOf } from './growing-bytes.ts'
import { nextTurn } from './next-turn.ts'

/** Bodies up to this size are read in one go; they have the idle time to arrive as a whole. */
const smallBytesMax = 16 * 1024

/**
 * Of a larger body so much is taken before it is read, for what the server holds of it until it is handed over; the
 * rest is taken as it comes.
 */
const aheadBytes = 64 * 1024

/**
 * When its time is up, what came while this process stood still is read for at most so long: who never pauses must not
 * have all the time there is.
 */
const lateMsMax = 1_000

/** How long a body may be and take. */
export interface BodyLimits {
  readonly bytesMax: number
  /** Milliseconds for the whole body. */
  readonly totalMs: number
  /** Milliseconds without a byte. */
  readonly idleMs: number
  /** What an owner sets `bytesMax` by. Absent: it is fixed. */
  readonly setting?: string
}

/** The client left while it was sending. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft'
}

/**
 * Reads a request's body (docs/api.md, "Limits"). One that is refused before its end is left to the server, which reads
 * on and forgets: closing the connection would cost a client that still sends its answer.
 *
 * @param share what it holds is taken of, and what a slow one is ended by. Up to 64 KiB are taken before it is read,
 *   the rest as it comes.
 * @throws {WireError} 413 too large, 415 with a Content-Encoding, 408 too slow altogether, or for others who need the
 *   room
 * @throws {ClientLeft}
 * @throws what `share` throws
 */
export function readBody(request: Request, limits: BodyLimits, share: BodyShare = unbounded): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  const length = declared === null ? undefined : Number(declared)
  const refusal = refusalOf(request.headers.get('content-encoding'), length, limits)
  if (refusal !== undefined) return Promise.reject(refusal)
  const isSmall = length !== undefined && length <= smallBytesMax
  const ahead = Math.min(length ?? aheadBytes, aheadBytes)
  try {
    share.take(ahead)
  } catch (error) {
    return Promise.reject(error)
  }
  if (isSmall) return readSmall(request, limits, share)
  // Only here: asking for `body` makes a stream, which costs more than reading a small body does.
  return request.body === null
    ? Promise.resolve(new Uint8Array())
    : readLarge(request.body, { length, ahead, share }, limits)
}

/** Of a budget without end. */
const unbounded: BodyShare = { take() {}, giveBack() {}, begin: () => () => {}, release() {} }

function refusalOf(encoding: string | null, length: number | undefined, limits: BodyLimits): WireError | undefined {
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return new WireError(
      415,
      'invalid_request_error',
      'unsupported_encoding',
      'A request body with a Content-Encoding is not supported: send it as it is',
    )
  }
  return length !== undefined && length > limits.bytesMax ? tooLarge(limits) : undefined
}

function readSmall(request: Request, { idleMs }: BodyLimits, share: BodyShare): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const cancel = after(idleMs, () => giveUp(tooSlow()))
    const arrived = share.begin({
      // Not known before all has come. A body so small comes with its head, or a moment later.
      arrived: () => 0,
      end() {
        share.release()
        giveUp(tooSlowForOthers())
      },
    })
    function giveUp(error: WireError | ClientLeft): void {
      arrived()
      cancel()
      reject(error)
    }
    request.bytes().then(
      (bytes) => {
        arrived()
        cancel()
        resolve(bytes)
      },
      (cause: unknown) => giveUp(new ClientLeft('the client left while it was sending', { cause })),
    )
  })
}

interface LargeBody {
  readonly length: number | undefined
  /** Bytes that are taken already. */
  readonly ahead: number
  readonly share: BodyShare
}

async function readLarge(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { length, ahead, share }: LargeBody,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const { bytesMax } = limits
  const reader = body.getReader()
  const remainingMs = patience(limits)
  const bytes = growingBytes(length ?? bytesMax)
  let taken = ahead
  let wasEnded = false
  let piece: Uint8Array<ArrayBuffer> | undefined
  const arrived = share.begin({
    arrived: () => bytes.length,
    end() {
      wasEnded = true
      bytes.letGo()
      share.release()
      reader.cancel().catch(() => undefined)
    },
  })
  try {
    for (;;) {
      piece = (await inTime(reader.read(), remainingMs())).value
      if (wasEnded) throw tooSlowForOthers()
      if (piece === undefined) break
      if (bytes.length + piece.length > bytesMax) throw tooLarge(limits)
      const more = bytes.sizeWith(piece.length) - taken
      if (more > 0) {
        share.take(more)
        taken += more
      }
      bytes.add(piece)
      // Bun reads some 5 MB at once from a fast client, and would hold up everybody else for 12 ms.
      await nextTurn()
    }
  } catch (error) {
    bytes.letGo()
    if (piece !== undefined) letGoOf(piece)
    reader.cancel().catch(() => undefined) // It is over either way.
    throw error instanceof WireError ? error : new ClientLeft('the client left while it was sending', { cause: error })
  } finally {
    arrived()
  }
  bytes.trim()
  share.giveBack(taken - bytes.length)
  return bytes.whole()
}

/** Tells how long the next piece may take. What it returns throws when the whole takes too long. */
function patience({ totalMs, idleMs }: BodyLimits): () => number {
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
    const cancel = after(Math.max(0, ms), () => reject(tooSlow()))
    promise.then(resolve, reject).finally(cancel)
  })
}

/**
 * What has arrived by then is read first: after this process stood still, timers come before sockets. @returns what
 * prevents it
 */
function after(ms: number, expire: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(expire, 0)
  }, ms)
  return () => clearTimeout(timer)
}

function tooLarge({ bytesMax, setting }: BodyLimits): WireError {
  return new WireError(
    413,
    'invalid_request_error',
    'request_too_large',
    `The request body is larger than ${bytesMax} bytes${setting === undefined ? '' : ` (${setting})`}`,
  )
}

function tooSlow(): WireError {
  return new WireError(408, 'invalid_request_error', 'request_timeout', 'The request body did not arrive in time', {
    headers: { connection: 'close' },
  })
}

function tooSlowForOthers(): WireError {
  return new WireError(
    408,
    'invalid_request_error',
    'request_timeout',
    'The request body came slowly, and others needed its room',
    { headers: { connection: 'close' } },
  )
}
