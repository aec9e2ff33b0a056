import { isInside, parseAddress, parseNetwork, type Network } from './ip-address.ts'

const networksOf = (...texts: readonly string[]) => texts.flatMap((text) => parseNetwork(text) ?? [])
const loopback = networksOf('127.0.0.0/8', '::1')
const unspecified = networksOf('0.0.0.0', '::')

/**
 * Whether a host is a loopback name or address (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section
 * 2.5.3), also an IPv4 address in IPv6. Names are not looked up.
 *
 * @param hostname in the spelling of `URL`, which has one for each address: `127.1` is `127.0.0.1`
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(hostname) || isAddressIn(hostname, loopback)
}

/** Whether requests to a host reach this machine, also by the unspecified address. */
export function isThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) || isAddressIn(hostname, unspecified)
}

function isAddressIn(hostname: string, networks: readonly Network[]): boolean {
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
  return address !== undefined && networks.some((network) => isInside(address, network))
}
