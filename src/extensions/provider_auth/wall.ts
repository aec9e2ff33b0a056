import type { Limit } from '../../stores/store.ts'
import { WireError } from '../../wire/error.ts'
import type { ExtensionLog, ExtensionRoute, Visit } from '../extension.ts'
import { withStore } from './answers.ts'
import type { ClientAddresses } from './client-address.ts'

/** What {@link wall} needs. */
export interface WallOptions {
  readonly limit: Limit
  readonly clients: ClientAddresses
  readonly log: ExtensionLog
}

/** Puts the same wall before each route: public, and so many requests a client and no more, of all routes together. */
export function wall({ limit, clients, log }: WallOptions): (route: ExtensionRoute) => ExtensionRoute {
  let hasWarned = false

  async function count(visit: Visit): Promise<void> {
    const seconds = await limit.take(clients.keyOf(visit))
    if (seconds === undefined) return
    if (!hasWarned && clients.isForwardedInVain(visit)) {
      hasWarned = true
      log.warn(
        'too many requests to /auth from an address that forwards others: everybody behind that proxy shares one limit until trusted_proxies names it',
        { address: visit.address },
      )
    }
    throw new WireError(429, 'rate_limit_error', 'rate_limited', 'Too many requests for signing in or out', {
      headers: { 'retry-after': String(seconds) },
      advice: `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    })
  }

  return ({ handle, ...route }) => ({
    ...route,
    isPublic: true,
    async handle(visit) {
      return withStore(async () => {
        await count(visit)
        return handle(visit)
      })
    },
  })
}
