import { isInside, isVersion4, parseAddress, parseNetwork, type IpAddress } from './ip-address.ts'

/** Limit of trusted proxies in a chain. */
const hopsMax = 16

/** A request, and the peer address of its connection. */
export interface PeerRequest {
  readonly request: Request
  readonly address: string
}

/** Identifies clients, for limits per client. */
export interface ClientAddresses {
  /** The client's address; `undefined`: it is not known. */
  addressOf(context: PeerRequest): IpAddress | undefined
  /** The client's IPv4 address, or the /64 network of its IPv6 address. */
  keyOf(context: PeerRequest): string
  /** Whether the peer sends `X-Forwarded-For` but is not a trusted proxy. */
  isUntrustedForwarder(context: PeerRequest): boolean
}

/**
 * Determines a request's client: the peer of the connection or, if that is a trusted proxy, the last address in
 * `X-Forwarded-For`, and so on while the address is a trusted proxy. Entries further left can be forged and are
 * ignored, as are other headers.
 *
 * @param trustedProxies in CIDR form
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const networks = trustedProxies.map(parseNetwork).filter((network) => network !== undefined)

  function isTrusted(address: IpAddress | undefined): address is IpAddress {
    return address !== undefined && networks.some((network) => isInside(address, network))
  }

  function clientOf({ request, address }: PeerRequest): IpAddress | undefined {
    let client = parseAddress(address)
    let rest = request.headers.get('x-forwarded-for') ?? ''
    for (let hop = 0; hop < hopsMax && rest !== '' && isTrusted(client); hop++) {
      const comma = rest.lastIndexOf(',')
      const previous = parseAddress(withoutPort(rest.slice(comma + 1, comma + 65).trim()))
      if (previous === undefined) break
      client = previous
      rest = rest.slice(0, Math.max(0, comma))
    }
    return client
  }

  return {
    addressOf: clientOf,
    keyOf(context) {
      const client = clientOf(context)
      if (client === undefined) return 'unknown'
      return isVersion4(client) ? client.slice(12).join('.') : `${Buffer.from(client.slice(0, 8)).toString('hex')}/64`
    },
    isUntrustedForwarder: ({ request, address }) =>
      request.headers.has('x-forwarded-for') && !isTrusted(parseAddress(address)),
  }
}

/** Removes the port, which some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, version4, version6] = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/.exec(entry) ?? []
  return version4 ?? version6 ?? entry
}
