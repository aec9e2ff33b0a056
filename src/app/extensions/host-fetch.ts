import type { Environment } from '../../config/file/environment.ts'
import { usualProxy } from '../../config/file/resolve-proxy.ts'
import type { FetchOptions } from '../../extensions/extension.ts'
import { headerBlock, parseOrigin } from '../../transport/header-block.ts'
import type { Transport } from '../../transport/transport.ts'

/** Limit of DNS, TCP and TLS. */
const connectMsMax = 5_000

/** `Host.fetch` on the service's HTTP client: no redirects, bounded time and size, the proxy of the environment. */
export function hostFetch(
  transport: Transport,
  environment: Environment,
): (url: string, options: FetchOptions) => Promise<Response> {
  return async function fetchForExtension(address, { method, headers, body, timeoutMs, bytesMax }) {
    const url = new URL(address)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), timeoutMs)
    try {
      const response = await transport.request(
        {
          origin: { ...parseOrigin(url), owner: 'extension', ...usualProxy(url, environment) },
          method,
          path: `${url.pathname}${url.search}`,
          headers: headerBlock(headers),
          body: body === undefined ? [] : [new TextEncoder().encode(body)],
          connectMs: Math.min(connectMsMax, timeoutMs),
          bodyBytesMax: bytesMax,
        },
        controller.signal,
      )
      const bytes = await response.body.readAll()
      const hasNoBody = response.status === 204 || response.status === 205 || response.status === 304
      return new Response(hasNoBody ? null : bytes, { status: response.status, headers: [...response.headers] })
    } catch (error) {
      if (controller.signal.aborted) throw new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}
