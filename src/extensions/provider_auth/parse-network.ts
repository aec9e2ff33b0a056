import { isIP } from 'node:net'

/** One network in CIDR form (RFC 4632, RFC 4291 section 2.3), an address being a network of one; `undefined` when it is neither. */
export function parseNetwork(text: string): string | undefined {
  const [address = '', prefix, ...more] = text.split('/')
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 0 || more.length > 0) return undefined
  const bitsMax = version === 4 ? 32 : 128
  const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  return bits <= bitsMax ? `${address}/${bits}` : undefined
}
