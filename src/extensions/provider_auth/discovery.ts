import * as oauth from 'oauth4webapi'
import type { Host } from '../extension.ts'
import { answerBytesMax, fetchThrough, userAgent, type Ask } from './ask.ts'
import { at } from './provider-failure.ts'

/** What a provider says of itself is believed for so long. */
const ageMaxMs = 60 * 60 * 1000

/**
 * What an OpenID Connect provider says of itself (OpenID Connect Discovery 1.0 section 4), asked for once an hour, and once for all who wait for it.
 * A failure is not kept: the next one asks again.
 */
export function discovery(issuer: string, { now }: Pick<Host, 'now'>): (ask: Ask) => Promise<oauth.AuthorizationServer> {
  let known: { readonly server: oauth.AuthorizationServer; readonly since: number } | undefined
  let pending: Promise<oauth.AuthorizationServer> | undefined

  async function discover(ask: Ask): Promise<oauth.AuthorizationServer> {
    const server = await at('discovery', async () => {
      const response = await oauth.discoveryRequest(new URL(issuer), {
        [oauth.customFetch]: fetchThrough(ask, 'discovery', answerBytesMax),
        // Each address is looked at by `ask`.
        [oauth.allowInsecureRequests]: true,
        headers: { 'user-agent': userAgent },
      })
      return oauth.processDiscoveryResponse(new URL(issuer), response)
    })
    known = { server, since: now() }
    return server
  }

  return async function serverOf(ask) {
    const age = known === undefined ? Infinity : now() - known.since
    if (known !== undefined && age >= 0 && age < ageMaxMs) return known.server
    pending ??= discover(ask).finally(() => { pending = undefined })
    return pending
  }
}
