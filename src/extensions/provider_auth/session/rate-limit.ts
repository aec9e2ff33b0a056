import type { ClientAddresses } from '../../../base/client-address.ts'
import { WireError } from '../../../formats/error.ts'
import type { Limit } from '../../../stores/store.ts'
import type { ExtensionLog, ExtensionRoute, RequestContext } from '../../extension.ts'
import { withStore } from '../responses.ts'

export interface RateLimitOptions {
  readonly limit: Limit
  readonly clients: ClientAddresses
  readonly log: ExtensionLog
}

/** Makes routes public, with one rate limit per client over all of them together. */
export function publicWithRateLimit({
  limit,
  clients,
  log,
}: RateLimitOptions): (route: ExtensionRoute) => ExtensionRoute {
  let hasWarned = false

  async function count(context: RequestContext): Promise<void> {
    const seconds = await limit.take(clients.keyOf(context))
    if (seconds === undefined) return
    if (!hasWarned && clients.isUntrustedForwarder(context)) {
      hasWarned = true
      log.warn(
        'a proxy reached the rate limit of /auth: all its clients share one limit until trusted_proxies names it',
        { address: context.address },
      )
    }
    throw new WireError(429, 'rate_limit_error', 'rate_limited', 'Too many sign-in or sign-out requests', {
      headers: { 'retry-after': String(seconds) },
      advice: `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    })
  }

  return ({ handle, ...route }) => ({
    ...route,
    isPublic: true,
    async handle(context) {
      return withStore(async () => {
        await count(context)
        return handle(context)
      })
    },
  })
}
