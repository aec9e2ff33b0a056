import { isIPv4, isIPv6 } from 'node:net'

/**
 * An IPv6 address in 16 bytes. An IPv4 address is stored as IPv4-mapped, `::ffff:192.0.2.1` (RFC 4291 section 2.5.5.2).
 */
export type IpAddress = Uint8Array

/** A network: all addresses with the same first bits. */
export interface Network {
  readonly start: IpAddress
  /** 0 to 128. */
  readonly bits: number
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** Parses `192.0.2.1`, `2001:db8::1`, `::ffff:192.0.2.1`, `fe80::1%eth0`; `undefined` for anything else. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.length > 64) return undefined
  if (isIPv4(text)) return Uint8Array.from([...mappedPrefix, ...text.split('.').map(Number)])
  const [address = ''] = text.split('%')
  return isIPv6(address) ? parseVersion6(address) : undefined
}

function parseVersion6(address: string): IpAddress {
  const [before = '', after] = address.split('::')
  const head = bytesOf(before)
  const tail = bytesOf(after ?? '')
  const bytes = new Uint8Array(16)
  bytes.set(head)
  bytes.set(tail, 16 - tail.length)
  return bytes
}

function bytesOf(groups: string): readonly number[] {
  if (groups === '') return []
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/** Whether an address is an IPv4 address. */
export function isVersion4(address: IpAddress): boolean {
  return mappedPrefix.every((byte, index) => address[index] === byte)
}

/**
 * Parses a network in CIDR form, `10.0.0.0/8` or `2001:db8::/32`, or a single address (RFC 4632 section 3.1);
 * `undefined` for anything else.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const start = parseAddress(address)
  if (start === undefined) return undefined
  const bits = length === undefined ? 128 : Number(length) + (isIPv4(address) ? 96 : 0)
  return bits <= 128 ? { start, bits } : undefined
}

/** Whether an address belongs to a network. */
export function isInside(address: IpAddress, { start, bits }: Network): boolean {
  return start.every((byte, index) => {
    const compared = Math.min(8, Math.max(0, bits - index * 8))
    return (byte ^ (address[index] ?? 0)) >> (8 - compared) === 0
  })
}
