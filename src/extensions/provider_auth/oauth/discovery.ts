import * as oauth from 'oauth4webapi'
import type { Host } from '../../extension.ts'
import { inStage, ProviderFailure } from './provider-failure.ts'
import { libraryFetch, responseBytesMax, userAgent, type SendRequest } from './provider-request.ts'

/** How long a discovery document is cached. */
const cacheMs = 60 * 60 * 1000

/** Server metadata in which all URLs are allowed. */
export interface DiscoveredServer extends oauth.AuthorizationServer {
  readonly authorization_endpoint: string
}

/** Endpoints that a sign-in needs; the userinfo endpoint is optional. */
const requiredEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** Some providers send `null` for a missing endpoint. */
function hasUserinfo({ userinfo_endpoint }: { readonly userinfo_endpoint?: unknown }): boolean {
  return userinfo_endpoint !== undefined && userinfo_endpoint !== null
}

function checkUrls(server: oauth.AuthorizationServer, isAllowed: (url: URL) => boolean): DiscoveredServer {
  const { authorization_endpoint } = server
  const addresses: readonly unknown[] = [
    ...requiredEndpoints.map((name) => server[name]),
    ...(hasUserinfo(server) ? [server.userinfo_endpoint] : []),
  ]
  const areAllowed = addresses.every((address) => {
    const url = typeof address === 'string' ? URL.parse(address) : null
    return url !== null && isAllowed(url)
  })
  if (authorization_endpoint === undefined || !areAllowed)
    throw new ProviderFailure('discovery', 'unavailable', 'url_not_allowed')
  return { ...server, authorization_endpoint }
}

/**
 * Fetches the metadata of an OpenID Connect provider (OpenID Connect Discovery 1.0 section 4). Successful results are
 * cached for an hour, and concurrent callers share one request. Failures are not cached, including documents with a URL
 * that is not allowed.
 *
 * @param isAllowed checks each URL of the document
 */
export function discovery(
  issuer: string,
  isAllowed: (url: URL) => boolean,
  { now }: Pick<Host, 'now'>,
): (send: SendRequest) => Promise<DiscoveredServer> {
  let cached: { readonly server: DiscoveredServer; readonly since: number } | undefined
  let pending: Promise<DiscoveredServer> | undefined

  async function discover(send: SendRequest): Promise<DiscoveredServer> {
    const server = await inStage('discovery', async () => {
      const response = await oauth.discoveryRequest(new URL(issuer), {
        [oauth.customFetch]: libraryFetch(send, 'discovery', responseBytesMax),
        // `send` checks each URL.
        [oauth.allowInsecureRequests]: true,
        headers: { 'user-agent': userAgent },
      })
      return checkUrls(await oauth.processDiscoveryResponse(new URL(issuer), response), isAllowed)
    })
    cached = { server, since: now() }
    return server
  }

  return async function discoverOrReuse(send) {
    const age = cached === undefined ? Infinity : now() - cached.since
    if (cached !== undefined && age >= 0 && age < cacheMs) return cached.server
    pending ??= discover(send).finally(() => {
      pending = undefined
    })
    return pending
  }
}
