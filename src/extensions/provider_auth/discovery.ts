import * as oauth from 'oauth4webapi'
import type { Host } from '../extension.ts'
import { answerBytesMax, fetchThrough, userAgent, type Ask } from './ask.ts'
import { at, ProviderFailure } from './provider-failure.ts'

/** What a provider says of itself is believed for so long. */
const ageMaxMs = 60 * 60 * 1000

/** A server all of whose addresses may be gone to. */
export interface DiscoveredServer extends oauth.AuthorizationServer {
  readonly authorization_endpoint: string
}

/** Needed for a sign-in; the user endpoint may be missing. */
const needed = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** Some say `null` for what they have not. */
function hasUserinfo({ userinfo_endpoint }: { readonly userinfo_endpoint?: unknown }): boolean {
  return userinfo_endpoint !== undefined && userinfo_endpoint !== null
}

function withFitAddresses(server: oauth.AuthorizationServer, isFit: (url: URL) => boolean): DiscoveredServer {
  const { authorization_endpoint } = server
  const addresses: readonly unknown[] = [
    ...needed.map((name) => server[name]),
    ...(hasUserinfo(server) ? [server.userinfo_endpoint] : []),
  ]
  const areFit = addresses.every((address) => {
    const url = typeof address === 'string' ? URL.parse(address) : null
    return url !== null && isFit(url)
  })
  if (authorization_endpoint === undefined || !areFit)
    throw new ProviderFailure('discovery', 'unavailable', 'unfit_address')
  return { ...server, authorization_endpoint }
}

/**
 * What an OpenID Connect provider says of itself (OpenID Connect Discovery 1.0 section 4), asked for once an hour, and
 * once for all who wait for it. A failure is not kept, nor is a document that leads where we do not go: the next one
 * asks again.
 *
 * @param isFit whether an address may be gone to
 */
export function discovery(
  issuer: string,
  isFit: (url: URL) => boolean,
  { now }: Pick<Host, 'now'>,
): (ask: Ask) => Promise<DiscoveredServer> {
  let known: { readonly server: DiscoveredServer; readonly since: number } | undefined
  let pending: Promise<DiscoveredServer> | undefined

  async function discover(ask: Ask): Promise<DiscoveredServer> {
    const server = await at('discovery', async () => {
      const response = await oauth.discoveryRequest(new URL(issuer), {
        [oauth.customFetch]: fetchThrough(ask, 'discovery', answerBytesMax),
        // Each address is looked at by `ask`.
        [oauth.allowInsecureRequests]: true,
        headers: { 'user-agent': userAgent },
      })
      return withFitAddresses(await oauth.processDiscoveryResponse(new URL(issuer), response), isFit)
    })
    known = { server, since: now() }
    return server
  }

  return async function serverOf(ask) {
    const age = known === undefined ? Infinity : now() - known.since
    if (known !== undefined && age >= 0 && age < ageMaxMs) return known.server
    pending ??= discover(ask).finally(() => {
      pending = undefined
    })
    return pending
  }
}
