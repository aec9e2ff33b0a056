import { usualProxy } from '../config/file/resolve-proxy.ts'
import type { PostAnswer } from '../observe/deliver.ts'
import { parseOrigin } from '../transport/header-block.ts'
import type { HeaderBlock, Transport } from '../transport/transport.ts'
import { namedWait } from '../upstream/retry-after.ts'

const connectMs = 5_000
const answerBytesMax = 64 * 1024
const none: ReadonlyMap<string, string> = new Map()

export interface HttpPostOptions {
  readonly url: URL
  /** Owner of the connections. */
  readonly owner: string
  readonly transport: Transport
  /** Names the proxy on the way. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** For a whole exchange. */
  readonly timeoutMs: number
  /** The status says enough: the body of an answer is not read. */
  readonly ignoresBody?: boolean
}

/** Sends a message. Redirects are not followed. @throws {Error} without an answer in time */
export type HttpPost = (headers: HeaderBlock, body: readonly Uint8Array[]) => Promise<PostAnswer>

/** Sends messages of the service to one URL. @throws {Error} if a variable with a proxy has no usable address */
export function httpPost(options: HttpPostOptions): HttpPost {
  const { url, owner, transport, environment, timeoutMs, ignoresBody = false } = options
  const origin = { ...parseOrigin(url), owner, ...usualProxy(url, environment) }
  return async (headers, body) => {
    const request = {
      ...({ origin, method: 'POST', path: `${url.pathname}${url.search}`, headers, body } as const),
      ...{ connectMs, bodyBytesMax: Number.POSITIVE_INFINITY },
    }
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await transport.request(request, signal)
    const { status } = response
    const waitMs = namedWait({ headers: response.headers, members: none, texts: [] }, Date.now())
    if (ignoresBody) {
      response.body.cancel()
      return { status, waitMs }
    }
    return { status, waitMs, body: await bodyOf(response.body, signal) }
  }
}

/** The body of an answer, if it is short and arrives in time: its status says enough. */
async function bodyOf(
  body: Awaited<ReturnType<Transport['request']>>['body'],
  signal: AbortSignal,
): Promise<PostAnswer['body']> {
  const cancel = (): void => body.cancel()
  let remaining = answerBytesMax
  const reservation = { reserve: (bytes: number) => (remaining -= bytes) >= 0 }
  signal.addEventListener('abort', cancel)
  try {
    return await body.readAll(reservation)
  } catch {
    return undefined
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
