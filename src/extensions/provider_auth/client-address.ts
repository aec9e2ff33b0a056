import type { Visit } from '../extension.ts'
import { isInside, isVersion4, parseAddress, networkOf, type IpAddress } from './ip-address.ts'

/** Proxies one behind the other that are believed at most. */
const hopsMax = 16

/** Tells clients apart, for what is bounded for each of them. */
export interface ClientAddresses {
  /** The client's address, or where that is of IPv6, the network of 64 bits it can choose it from. */
  keyOf(visit: Visit): string
  /** Whether somebody says they ask for another, and is not believed. */
  isForwardedInVain(visit: Visit): boolean
}

/**
 * Whose request it is: the peer of the connection, or, while that is a proxy to be believed, whom it names last in
 * `X-Forwarded-For`. What stands further left was sent by whoever is out there, and is not read. Nor is any other
 * header.
 *
 * @param trustedProxies in CIDR form
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const networks = trustedProxies.map(networkOf).filter((network) => network !== undefined)

  function isTrusted(address: IpAddress | undefined): address is IpAddress {
    return address !== undefined && networks.some((network) => isInside(address, network))
  }

  function clientOf({ request, address }: Visit): IpAddress | undefined {
    let client = parseAddress(address)
    let rest = request.headers.get('x-forwarded-for') ?? ''
    for (let hop = 0; hop < hopsMax && rest !== '' && isTrusted(client); hop++) {
      const comma = rest.lastIndexOf(',')
      const before = parseAddress(withoutPort(rest.slice(comma + 1, comma + 65).trim()))
      if (before === undefined) break
      client = before
      rest = rest.slice(0, Math.max(0, comma))
    }
    return client
  }

  return {
    keyOf(visit) {
      const client = clientOf(visit)
      if (client === undefined) return 'unknown'
      return isVersion4(client) ? client.slice(12).join('.') : `${Buffer.from(client.slice(0, 8)).toString('hex')}/64`
    },
    isForwardedInVain: ({ request, address }) =>
      request.headers.has('x-forwarded-for') && !isTrusted(parseAddress(address)),
  }
}

/** Some proxies name the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, version4, version6] = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/.exec(entry) ?? []
  return version4 ?? version6 ?? entry
}
