import { isRecord, type JsonObject } from '../../../base/json-value.ts'
import type { Host } from '../../extension.ts'
import { inStage, ProviderFailure, type Stage } from './provider-failure.ts'

/** Time limits for requests to an identity provider, in milliseconds. */
export interface TimeLimits {
  /** For one request. */
  readonly requestMs: number
  /** For all requests of one callback together. */
  readonly totalMs: number
}

/** A request to an identity provider. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Limit of the response body. */
  readonly bytesMax: number
}

/** Sends a request to an identity provider. @throws {ProviderFailure} if there is no response in time */
export type SendRequest = (stage: Stage, url: string, request: ProviderRequest) => Promise<Response>

/** GitHub requires a `User-Agent` (docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api). */
export const userAgent = 'svc'

/** Size limit of responses that hold no tokens. */
export const responseBytesMax = 256 * 1024

/** Request for the user that an access token belongs to (RFC 6750 section 2.1). */
export function userRequest(token: string): ProviderRequest {
  return {
    method: 'GET',
    headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'user-agent': userAgent },
    bytesMax: responseBytesMax,
  }
}

/**
 * Creates the sender for one sign-in; {@link TimeLimits.totalMs} starts now. @param isAllowed checks each URL, because
 * some URLs come from the provider itself
 */
export function requestSender(
  host: Host,
  { requestMs, totalMs }: TimeLimits,
  isAllowed: (url: URL) => boolean,
): SendRequest {
  const end = performance.now() + totalMs
  return async function sendWithinTime(stage, address, request) {
    const url = URL.parse(address)
    if (url === null || !isAllowed(url)) throw new ProviderFailure(stage, 'unavailable', 'url_not_allowed')
    const timeoutMs = Math.ceil(Math.min(requestMs, end - performance.now()))
    if (timeoutMs <= 0) throw new ProviderFailure(stage, 'timeout', 'timeout')
    try {
      return await host.fetch(address, { ...request, timeoutMs })
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === 'TimeoutError'
      throw new ProviderFailure(stage, isTimeout ? 'timeout' : 'unavailable', isTimeout ? 'timeout' : 'network', error)
    }
  }
}

/** Adapts a {@link SendRequest} to the `fetch` option of `oauth4webapi`, which itself does not limit body sizes. */
export function libraryFetch(
  send: SendRequest,
  stage: Stage,
  bytesMax: number,
): (url: string, options: LibraryRequest) => Promise<Response> {
  return function fetchForLibrary(url, { method, headers, body }) {
    return send(stage, url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      bytesMax,
      ...(body == null ? {} : { body: String(body) }),
    })
  }
}

/** The options that `oauth4webapi` passes to `fetch`. */
interface LibraryRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * Parses a response body as JSON if its media type is JSON (RFC 8259 section 11, RFC 6839 section 3.1). @throws
 * {ProviderFailure}
 */
export async function readJsonBody(stage: Stage, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !type.endsWith('+json'))
    throw new ProviderFailure(stage, 'unavailable', `status_${response.status}_not_json`)
  const text = await response.text()
  return inStage(stage, (): unknown => JSON.parse(text))
}

/** Parses the body of a response with status 200 as a JSON object. @throws {ProviderFailure} */
export async function readJsonObject(stage: Stage, response: Response): Promise<JsonObject> {
  if (response.status !== 200) throw new ProviderFailure(stage, 'unavailable', `status_${response.status}`)
  const value = await readJsonBody(stage, response)
  if (!isRecord(value)) throw new ProviderFailure(stage, 'unavailable', 'not_an_object')
  return value
}
