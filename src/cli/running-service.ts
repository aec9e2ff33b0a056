import { runningUrlFlag } from '../base/command-line/arguments.ts'
import type { CommandContext } from '../base/command-line/command.ts'
import {
  errorMessage,
  ServiceRefusal,
  serviceRoot,
  serviceUrl,
  sessionToken,
  tryParseJson,
} from '../base/command-line/running-service.ts'
import { readKey } from '../people/keys/key-form.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import type { Transport, UpstreamResponse } from '../transport/transport.ts'

/** One request to a running service. */
export interface ServiceRequest {
  /** Path relative to the base URL, beginning with `/`. */
  readonly path: string
  /** JSON for a POST request. Absent: a GET request. */
  readonly body?: string
  /** Session token or key. */
  readonly token?: string
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
      throw new Error(
        `no answer from ${base.origin}${base.pathname}: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      )
    })
  const { status } = response
  if (status === 200) return response
  const message = errorMessage(tryParseJson(await response.body.readAll()))
  throw new ServiceRefusal(status, message ?? `${base.origin}${base.pathname} answered with status ${status}`)
}

const formAnswerBytesMax = 65_536

/** Posts a form, or asks by GET without one, and reads an answer of any status. @throws without an answer */
export async function sendForm(url: URL, form: Readonly<Record<string, string>> | undefined, signal: AbortSignal) {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await transport.request(
      {
        origin: parseOrigin(url),
        method: form === undefined ? 'GET' : 'POST',
        path: url.pathname + url.search,
        headers: headerBlock({ accept: 'application/json', ...type }),
        body: form === undefined ? [] : [new TextEncoder().encode(new URLSearchParams(form).toString())],
        connectMs,
        bodyBytesMax: formAnswerBytesMax,
      },
      signal,
    )
    return { status: response.status, value: tryParseJson(await response.body.readAll()) }
  } finally {
    transport.close()
  }
}

/** Speaks with one service. @param base the beginning of all addresses */
export async function connectTo(base: URL, token: string | undefined) {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  const credential = token === undefined ? {} : { token }
  return {
    ask: (path: string, body: string | undefined, signal: AbortSignal): Promise<UpstreamResponse> =>
      askService(base, { path, ...(body === undefined ? {} : { body }), ...credential }, transport, signal),
    close: () => transport.close(),
  }
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

/** Keys, and tokens of agents, are read from the headers of keys only. */
function credentialHeader(token: string | undefined): Readonly<Record<string, string>> {
  if (token === undefined) return {}
  const isSession = readKey(token) === undefined && !token.startsWith('svc_at_')
  return isSession ? { 'x-session-token': token } : { authorization: `Bearer ${token}` }
}
