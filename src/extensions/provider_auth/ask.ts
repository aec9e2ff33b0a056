import { isRecord, type JsonObject } from '../../wire/json-value.ts'
import type { Host } from '../extension.ts'
import { at, ProviderFailure, type Stage } from './provider-failure.ts'

/** How long an identity provider may take, in milliseconds. */
export interface TimeLimits {
  /** For one answer. */
  readonly requestMs: number
  /** For all of one callback, so that a slow provider holds nobody for the sum. */
  readonly totalMs: number
}

/** One question to an identity provider. */
export interface Question {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Of the answer. */
  readonly bytesMax: number
}

/** Asks, within the time there is. @throws {ProviderFailure} when there is no answer */
export type Ask = (stage: Stage, url: string, question: Question) => Promise<Response>

/** Who is asking: GitHub wants to know (docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api). */
export const userAgent = 'svc'

/** Most bytes of an answer that holds no tokens. */
export const answerBytesMax = 256 * 1024

/** Asks about the person a token stands for (RFC 6750 section 2.1). */
export function aboutUser(token: string): Question {
  return {
    method: 'GET',
    headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'user-agent': userAgent },
    bytesMax: answerBytesMax,
  }
}

/**
 * Begins to count the time of one sign-in. @param isFit Whether an address may be asked: one that the provider itself
 * has told may lead elsewhere
 */
export function asking(host: Host, { requestMs, totalMs }: TimeLimits, isFit: (url: URL) => boolean): Ask {
  const end = performance.now() + totalMs
  return async function askWithinTime(stage, url, question) {
    const address = URL.parse(url)
    if (address === null || !isFit(address)) throw new ProviderFailure(stage, 'unavailable', 'unfit_address')
    const timeoutMs = Math.ceil(Math.min(requestMs, end - performance.now()))
    if (timeoutMs <= 0) throw new ProviderFailure(stage, 'timeout', 'timeout')
    try {
      return await host.fetch(url, { ...question, timeoutMs })
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === 'TimeoutError'
      throw new ProviderFailure(stage, isTimeout ? 'timeout' : 'unavailable', isTimeout ? 'timeout' : 'network', error)
    }
  }
}

/** The same for `oauth4webapi`. It reads bodies as they are, so that their size is bounded here. */
export function fetchThrough(
  ask: Ask,
  stage: Stage,
  bytesMax: number,
): (url: string, options: LibraryRequest) => Promise<Response> {
  return function fetchForLibrary(url, { method, headers, body }) {
    return ask(stage, url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      bytesMax,
      ...(body == null ? {} : { body: String(body) }),
    })
  }
}

/** What `oauth4webapi` gives to a `fetch`. */
interface LibraryRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * The JSON in an answer that says that it is JSON (RFC 8259 section 11, RFC 6839 section 3.1). @throws
 * {ProviderFailure}
 */
export async function readJson(stage: Stage, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !type.endsWith('+json'))
    throw new ProviderFailure(stage, 'unavailable', `status_${response.status}_not_json`)
  const text = await response.text()
  return at(stage, (): unknown => JSON.parse(text))
}

/** The object that a successful answer holds. @throws {ProviderFailure} */
export async function readObject(stage: Stage, response: Response): Promise<JsonObject> {
  if (response.status !== 200) throw new ProviderFailure(stage, 'unavailable', `status_${response.status}`)
  const value = await readJson(stage, response)
  if (!isRecord(value)) throw new ProviderFailure(stage, 'unavailable', 'no_object')
  return value
}
