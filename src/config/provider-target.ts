import { hostname } from 'node:os'
import type { ProviderConfig } from './config.ts'
import { fingerprint } from './fingerprint.ts'

/**
 * Where requests to a provider go, and on whose account: 12 hex digits, the same wherever protocol, base URL, key and
 * headers are the same. Others who share a store tell by it whether they mean the same by an id. A loopback address is
 * another one on each machine.
 *
 * It lies where others can read it, so of key and headers it holds 16 bits of a SHA-256 of nothing else: enough to tell
 * two apart, and no guess at a key can be confirmed with it, since one guess in 65,536 would fit. The other 32 bits are
 * of protocol and base URL.
 *
 * @param machine its name
 */
export function providerTarget(
  { protocol, baseUrl, apiKey, headers }: Pick<ProviderConfig, 'protocol' | 'baseUrl' | 'apiKey' | 'headers'>,
  machine = hostname(),
): string {
  const named = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return digits(8, [protocol, baseUrl, isLoopback(baseUrl) ? machine : '']) + digits(4, [apiKey ?? '', named])
}

function digits(count: number, parts: readonly unknown[]): string {
  return fingerprint(JSON.stringify(parts)).slice(0, count)
}

function isLoopback(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  return /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f.*\])$/.test(host)
}
