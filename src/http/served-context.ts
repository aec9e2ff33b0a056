import type { Server } from 'bun'
import type { WireError } from '../formats/error.ts'
import { anonymous, type Caller } from '../people/person.ts'
import { requestId, type HandlerContext } from './handler-context.ts'
import { passGuards, type Guard } from './pass-guards.ts'

/** Seconds a connection may be idle between requests. */
export const idleSeconds = 75
/** The same after a large answer, which a slow client may still be reading. The longest that Bun allows. */
const readSeconds = 255

/** The part of `Bun.serve`'s server that a context uses. */
export type ContextServer = Pick<Server<unknown>, 'requestIP' | 'timeout'>

/** Codes of errors by which the service refuses a request, and that a loop of a broken program would get again. */
const refusingCodes: ReadonlySet<string> = new Set([
  'authentication_required',
  'invalid_api_key',
  'invalid_session',
  'scope_missing',
  'network_not_allowed',
  'model_not_allowed',
  'rate_limit_exceeded',
  'concurrency_limit_exceeded',
  'insufficient_quota',
  'model_price_unknown',
])

/** The context of a request to a server of Bun. A class, since every request has one. */
export class ServedContext implements HandlerContext {
  readonly request: Request
  readonly started = performance.now()
  readonly id: string
  path = ''
  caller: Caller = anonymous
  /** The service itself has refused the request. */
  isRefused = false
  readonly #server: ContextServer
  readonly #guards: () => readonly Guard[]

  /** @param guards the current guards */
  constructor(request: Request, server: ContextServer, guards: () => readonly Guard[]) {
    this.request = request
    this.id = requestId(request)
    this.#server = server
    this.#guards = guards
  }

  address(): string {
    return this.#server.requestIP(this.request)?.address ?? ''
  }

  peerPort(): number | undefined {
    return this.#server.requestIP(this.request)?.port
  }

  async currentCaller(): Promise<Caller> {
    return await passGuards(this.#guards(), this)
  }

  onRefusal(error: WireError): void {
    if (refusingCodes.has(error.code)) this.isRefused = true
  }

  keepOpen(): void {
    this.#server.timeout(this.request, 0)
  }

  resetIdleLimit(): void {
    this.#server.timeout(this.request, idleSeconds)
  }

  extendIdleLimit(): void {
    this.#server.timeout(this.request, readSeconds)
  }

  drop(): void {
    this.#server.timeout(this.request, 1)
  }
}
