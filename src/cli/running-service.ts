import { UsageError } from '../app/start-errors.ts'
import { readKey } from '../people/keys/key-form.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import type { Transport, UpstreamResponse } from '../transport/transport.ts'
import { show } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { runningUrlFlag } from './flags.ts'

/** One request to a running service. */
export interface ServiceRequest {
  /** Path relative to the base URL, beginning with `/`. */
  readonly path: string
  /** JSON for a POST request. Absent: a GET request. */
  readonly body?: string
  /** Session token or key. */
  readonly token?: string
}

/** A running service answered with a status other than 200. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const connectMs = 10_000
const answerBytesMax = 256 * 1024 * 1024

/**
 * Sends a request to a running service. Uses the transport for providers, since `fetch` would use HTTP_PROXY even for
 * 127.0.0.1.
 *
 * @throws {ServiceRefusal} with the service's own message, if it has one
 */
export async function askService(
  base: URL,
  { path, body, token }: ServiceRequest,
  transport: Transport,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const response = await transport
    .request(
      {
        origin: parseOrigin(base),
        method: body === undefined ? 'GET' : 'POST',
        path: `${base.pathname.replace(/\/$/, '')}${path}`,
        headers: headerBlock({
          accept: '*/*',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...credentialHeader(token),
        }),
        body: body === undefined ? [] : [new TextEncoder().encode(body)],
        connectMs,
        bodyBytesMax: answerBytesMax,
      },
      signal,
    )
    .catch((error: unknown) => {
      throw new Error(`no answer from ${base.href}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    })
  const { status } = response
  if (status === 200) return response
  const message = errorMessage(tryParseJson(await response.body.readAll()))
  throw new ServiceRefusal(status, message ?? `${base.href} answered with status ${status}`)
}

/** The JSON of a running service, if it answers in time; undefined without an answer, and where it is closed to us. */
export async function answerIfRunning(
  path: string,
  { url, environment, signal, timeoutMs }: RunningService,
): Promise<unknown> {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    const base = new URL(serviceRoot(serviceUrl(url || runningUrlFlag.fallback)))
    // Another program may have the default port: only an address that the user gave gets the token.
    const token = url === undefined || url === '' ? undefined : sessionToken(environment, '')
    const request = { path, ...(token === undefined ? {} : { token }) }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    return tryParseJson(await (await askService(base, request, transport, limit)).body.readAll())
  } catch {
    // Not running, closed to us or too slow.
    return undefined
  } finally {
    transport.close()
  }
}

/** Where {@link answerIfRunning} asks. */
interface RunningService extends Pick<CommandContext, 'environment' | 'signal'> {
  /** As the user gave it. Absent: the default. */
  readonly url: string | undefined
  readonly timeoutMs: number
}

/** A key is read from the headers of keys only. */
function credentialHeader(token: string | undefined): Readonly<Record<string, string>> {
  if (token === undefined) return {}
  return readKey(token) === undefined ? { 'x-session-token': token } : { authorization: `Bearer ${token}` }
}

/** The address of a running service, which may be written with `/v1`, without it and without a slash at the end. */
export function serviceRoot(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/**
 * Reads a session token or a key from `SVC_TOKEN`. It is no flag, since other users of the machine can see flags.
 *
 * @returns undefined if the variable is not set
 * @throws {UsageError} if the text cannot be a token
 */
export function sessionToken(environment: CommandContext['environment'], advice: string): string | undefined {
  const token = environment['SVC_TOKEN']?.trim() ?? ''
  if (token === '') return undefined
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`SVC_TOKEN is not a valid token: ${advice}`)
  return token
}

/** Checks the value of `--url`. @throws {UsageError} */
export function serviceUrl(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new UsageError(`--url: found ${show(url)}, allowed: an http or https URL`)
  return url
}

/** The message of an error in the shape of docs/errors.md. */
export function errorMessage(value: unknown): string | undefined {
  const message = member(member(value, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

/** An own member of an object; `undefined` for other values. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/** Parses JSON; `undefined` for other bytes, which are not from the service. */
export function tryParseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    // Not from the service: callers find no members in `undefined`.
    return undefined
  }
}
