import { isRecord } from '../../src/base/json-value.ts'
import { say } from '../texts/say.ts'

/** An error response of the service (docs/errors.md). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly type: string
  readonly code: string
  readonly param: string | undefined
  /** Seconds until a retry may succeed. */
  readonly retryAfter: number | undefined
  readonly headers: Headers

  constructor(response: Response, body: unknown) {
    const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
    const text = (name: string): string | undefined => (typeof error[name] === 'string' ? error[name] : undefined)
    super(text('message') ?? say.api.answered(String(response.status)))
    this.status = response.status
    this.type = text('type') ?? 'unknown'
    this.code = text('code') ?? 'unknown'
    this.param = text('param')
    this.retryAfter = Number(response.headers.get('retry-after') ?? '') || undefined
    this.headers = response.headers
  }
}

/** The service was not reached, or its answer was incomplete. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Sends requests to the service, with the access token if there is one. */
export interface ApiClient {
  /**
   * Sends one request. Resolves with 2xx responses only.
   *
   * @throws {ApiError} for other statuses, {@link Unreachable}, or the abort reason of `signal`
   */
  fetch(path: string, options?: RequestInit): Promise<Response>
  /** Gets JSON. The service has the page's version, so the answer is not checked. @throws as {@link ApiClient.fetch} */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>
  /** Posts JSON. @throws as {@link ApiClient.fetch} */
  post<Answer>(path: string, body: unknown, signal?: AbortSignal): Promise<Answer>
  /** Sets the token for further requests (`Authorization: Bearer`). It is kept in memory only. */
  enterToken(token: string | undefined): void
  /** Subscribes to answers of 401: the session has ended. Returns the unsubscribe function. */
  onSignedOut(listener: () => void): () => void
}

/** Creates the page's client. @param send as the browser's `fetch` */
export function apiClient(send: (path: string, options?: RequestInit) => Promise<Response>): ApiClient {
  let token: string | undefined
  const listeners = new Set<() => void>()

  async function request(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await sendOrFail(path, { ...options, headers, cache: 'no-store' })
    if (response.ok) return response
    const error = new ApiError(response, await response.json().catch(() => undefined))
    if (response.status === 401) for (const listener of listeners) listener()
    throw error
  }

  async function sendOrFail(path: string, options: RequestInit): Promise<Response> {
    try {
      return await send(path, options)
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      throw new Unreachable(say.common.cannotBeReached, { cause: error })
    }
  }

  async function json<Answer>(path: string, options: RequestInit): Promise<Answer> {
    const response = await request(path, options)
    try {
      return (await response.json()) as Answer
    } catch (error) {
      throw new Unreachable(say.api.didNotEnd, { cause: error })
    }
  }

  return {
    fetch: request,
    get: (path, signal) => json(path, signal === undefined ? {} : { signal }),
    post: (path, body, signal) =>
      json(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    enterToken(next) {
      token = next
    },
    onSignedOut(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
