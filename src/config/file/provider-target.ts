import { hostname } from 'node:os'
import { isThisMachine } from '../../base/this-machine.ts'
import type { ProviderConfig } from '../config.ts'
import { fingerprint } from '../watch/fingerprint.ts'

/**
 * Computes a fingerprint of a provider's protocol, base URL, key, headers and proxy: 12 hex digits. Health and cached
 * model lists are kept under it, so that another provider with the same id starts without them. For loopback addresses
 * it includes the machine, since the cache may be in a shared home folder.
 *
 * Only 16 bits depend on key, headers and proxy: enough to distinguish two keys, too few to confirm a guess from the
 * cache.
 *
 * @param machine host name
 */
export function providerTarget(
  {
    protocol,
    baseUrl,
    apiKey,
    headers,
    proxy,
  }: Pick<ProviderConfig, 'protocol' | 'baseUrl' | 'apiKey' | 'headers' | 'proxy'>,
  machine = hostname(),
): string {
  const named = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return (
    digits(8, [protocol, baseUrl, isLoopback(baseUrl) ? machine : '']) +
    digits(4, [apiKey ?? '', named, ...(proxy === undefined ? [] : [proxy])])
  )
}

function digits(count: number, parts: readonly unknown[]): string {
  return fingerprint(JSON.stringify(parts)).slice(0, count)
}

/** Whether the address is one of this machine. */
export function isLoopback(baseUrl: string): boolean {
  return isThisMachine(URL.parse(baseUrl)?.hostname ?? '')
}
