import { WireError } from '../wire/error.ts'
import { nextTurn } from './next-turn.ts'

/** Bodies up to this size are read in one go; they have the idle time to arrive as a whole. */
const smallBytesMax = 16 * 1024

/** As much of a declared length is taken before the first byte. The rest is taken as it comes: who declares much and sends little must not keep the others out. */
const takenAheadMax = 1024 * 1024

/** When its time is up, what came while this process stood still is read for at most so long: who never pauses must not have all the time there is. */
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
 * Reads a request's body (failover.md, "request head and body from the client"). One that is refused before its end is left to the server, which reads
 * on and forgets: closing the connection would cost a client that still sends its answer.
 * @param take told of the bytes to hold: up to 1 MiB of a declared length before any is read, others as they come; may refuse them
 * @throws {WireError} 413 too large, 415 with a Content-Encoding, 408 too slow
 * @throws {ClientLeft}
 * @throws what `take` throws
 */
export function readBody(request: Request, limits: BodyLimits, take: (bytes: number) => void = takeAll): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  const length = declared === null ? undefined : Number(declared)
  const refusal = refusalOf(request.headers.get('content-encoding'), length, limits)
  if (refusal !== undefined) return Promise.reject(refusal)
  const ahead = Math.min(length ?? 0, takenAheadMax)
  try {
    take(ahead)
  } catch (error) {
    return Promise.reject(error)
  }
  if (length !== undefined && length <= smallBytesMax) return readSmall(request, limits)
  // Only here: asking for `body` makes a stream, which costs more than reading a small body does.
  return request.body === null ? Promise.resolve(new Uint8Array()) : readLarge(request.body, { length, ahead, take }, limits)
}

function takeAll(): void {}

function refusalOf(encoding: string | null, length: number | undefined, limits: BodyLimits): WireError | undefined {
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return new WireError(415, 'invalid_request_error', 'unsupported_encoding', 'A request body with a Content-Encoding is not supported: send it as it is')
  }
  return length !== undefined && length > limits.bytesMax ? tooLarge(limits) : undefined
}

function readSmall(request: Request, { idleMs }: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const cancel = after(idleMs, () => reject(tooSlow()))
    request.bytes().then(
      (bytes) => {
        cancel()
        resolve(bytes)
      },
      (cause: unknown) => {
        cancel()
        reject(new ClientLeft('the client left while it was sending', { cause }))
      },
    )
  })
}

interface LargeBody {
  readonly length: number | undefined
  /** Bytes that are taken already. */
  readonly ahead: number
  readonly take: (bytes: number) => void
}

async function readLarge(body: ReadableStream<Uint8Array>, { length, ahead, take }: LargeBody, limits: BodyLimits): Promise<Uint8Array> {
  const { bytesMax, totalMs, idleMs } = limits
  const reader = body.getReader()
  const started = performance.now()
  const pieces: Uint8Array[] = []
  const whole = length === undefined ? undefined : Buffer.allocUnsafe(length)
  let received = 0
  let taken = ahead
  let lateSince: number | undefined
  try {
    for (;;) {
      const now = performance.now()
      const remainingMs = started + totalMs - now
      if (remainingMs <= 0) lateSince ??= now
      if (lateSince !== undefined && now - lateSince > Math.min(lateMsMax, totalMs)) throw tooSlow()
      const { done, value } = await inTime(reader.read(), Math.min(idleMs, remainingMs))
      if (done) break
      if (received + value.length > bytesMax) throw tooLarge(limits)
      if (received + value.length > taken) {
        take(received + value.length - taken)
        taken = received + value.length
      }
      if (whole === undefined) pieces.push(value)
      else whole.set(value, received)
      received += value.length
      // Bun reads some 5 MB at once from a fast client, and would hold up everybody else for 12 ms.
      await nextTurn()
    }
  } catch (error) {
    reader.cancel().catch(() => undefined) // It is over either way.
    throw error instanceof WireError ? error : new ClientLeft('the client left while it was sending', { cause: error })
  }
  // Never more than what came: the rest of the buffer holds whatever was in that memory before.
  return whole?.subarray(0, received) ?? Buffer.concat(pieces, received)
}

function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = after(Math.max(0, ms), () => reject(tooSlow()))
    promise.then(resolve, reject).finally(cancel)
  })
}

/** What has arrived by then is read first: after this process stood still, timers come before sockets. @returns what prevents it */
function after(ms: number, expire: () => void): () => void {
  let timer = setTimeout(() => { timer = setTimeout(expire, 0) }, ms)
  return () => clearTimeout(timer)
}

function tooLarge({ bytesMax, setting }: BodyLimits): WireError {
  return new WireError(413, 'invalid_request_error', 'request_too_large', `The request body is larger than ${bytesMax} bytes${setting === undefined ? '' : ` (${setting})`}`)
}

function tooSlow(): WireError {
  return new WireError(408, 'invalid_request_error', 'request_timeout', 'The request body did not arrive in time', { headers: { connection: 'close' } })
}
