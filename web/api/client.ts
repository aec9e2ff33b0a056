import { isRecord } from '../../src/wire/json-value.ts'

/** The service refused: the members of its error (docs/errors.md). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly type: string
  readonly code: string
  readonly param: string | undefined
  /** Seconds after which it may be tried again. */
  readonly retryAfter: number | undefined
  readonly headers: Headers

  constructor(response: Response, body: unknown) {
    const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
    const text = (name: string): string | undefined => (typeof error[name] === 'string' ? error[name] : undefined)
    super(text('message') ?? `The service answered with ${response.status}`)
    this.status = response.status
    this.type = text('type') ?? 'unknown'
    this.code = text('code') ?? 'unknown'
    this.param = text('param')
    this.retryAfter = Number(response.headers.get('retry-after') ?? '') || undefined
    this.headers = response.headers
  }
}

/** The service was not reached, or did not answer to the end. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Asks the service, with the token a person gave, if they gave one. */
export interface ApiClient {
  /**
   * One exchange. Resolves with answers of 2xx only.
   *
   * @throws {ApiError} for any other, {@link Unreachable}, or what `signal` was aborted with
   */
  fetch(path: string, options?: RequestInit): Promise<Response>
  /** JSON of our own service, which is of the version this page is of. @throws as {@link ApiClient.fetch} */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>
  /** Sends JSON. @throws as {@link ApiClient.fetch} */
  post<Answer>(path: string, body: unknown, signal?: AbortSignal): Promise<Answer>
  /** From now on sent as `Authorization: Bearer`; kept in memory only. */
  useToken(token: string | undefined): void
  /** Told when an answer was 401: nobody is signed in any more. Returns how to stop. */
  onSignedOut(listener: () => void): () => void
}

/** The one client of the page. @param ask as the browser's `fetch` */
export function apiClient(ask: (path: string, options?: RequestInit) => Promise<Response>): ApiClient {
  let token: string | undefined
  const listeners = new Set<() => void>()

  async function exchange(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await reach(path, { ...options, headers, cache: 'no-store' })
    if (response.ok) return response
    const error = new ApiError(response, await response.json().catch(() => undefined))
    if (response.status === 401) for (const listener of listeners) listener()
    throw error
  }

  async function reach(path: string, options: RequestInit): Promise<Response> {
    try {
      return await ask(path, options)
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      throw new Unreachable('The service cannot be reached', { cause: error })
    }
  }

  async function json<Answer>(path: string, options: RequestInit): Promise<Answer> {
    const response = await exchange(path, options)
    try {
      return await response.json()
    } catch (error) {
      throw new Unreachable('The service did not answer to the end', { cause: error })
    }
  }

  return {
    fetch: exchange,
    get: (path, signal) => json(path, { ...(signal === undefined ? {} : { signal }) }),
    post: (path, body, signal) =>
      json(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    useToken(next) {
      token = next
    },
    onSignedOut(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
