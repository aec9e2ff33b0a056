import type { WireError } from '../formats/error.ts'
import type { Caller } from '../people/person.ts'
import type { EventStreamBody } from './entrance/event-stream-body.ts'

/** A client's request, with the state and the control of its connection that handlers need. */
export interface HandlerContext {
  readonly request: Request
  /** Normalised: dot segments resolved, no query. All decisions are made by it. */
  readonly path: string
  /** `x-request-id` of the caller, if acceptable, or a new one. */
  readonly id: string
  /** `performance.now()` at its arrival. */
  readonly started: number
  /** Remote address of the connection; empty once it is closed. */
  address(): string
  /** Remote port of the connection; `undefined` once it is closed. */
  peerPort(): number | undefined
  /** All that the guards know of the sender. */
  readonly caller: Caller
  /** Aborts when the client has left. Absent: when its connection is closed. */
  readonly left?: AbortSignal
  /** Called with an error of this service for a request that it refuses. Absent: refusals are not counted. */
  readonly onRefusal?: (error: WireError) => void
  /** Called when a request to a model has ended, with the code of its error; `undefined` without one. */
  readonly onEnd?: (error: string | undefined) => void
  /** Takes over a stream, to be written elsewhere. Absent: it is written to the connection. */
  readonly keep?: (send: EventStreamBody['send']) => void
  /** Asks the current guards again. @throws errors of the guards */
  currentCaller(): Promise<Caller>
  /** Suspends the server's idle limit: the timers of the handler apply instead. */
  keepOpen(): void
  /** Restarts the server's idle limit. After it, bytes that have not left this process are lost. */
  resetIdleLimit(): void
  /**
   * Sets the longest idle limit, some four minutes, after a large answer: the system still buffers megabytes of it for
   * a client that may read slowly.
   */
  extendIdleLimit(): void
  /**
   * Closes the connection within seconds, even if the client has not read its answer. Without it, a body aborted after
   * {@link keepOpen} would wait for the client for ever.
   */
  drop(): void
}

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/

/**
 * The caller's `x-request-id` if it is 1 to 128 of `[A-Za-z0-9._-]`, otherwise a new one (docs/api.md). New ones ascend
 * with time, so that the index of stored requests grows at its end: random ones would change a page of it each.
 */
export function requestId(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && acceptableId.test(given) ? given : Bun.randomUUIDv7()
}
