import { parseNetwork } from '../../base/ip-address.ts'
import { didYouMean } from '../../base/nearest.ts'
import { ExtensionConfigError, type ExtensionConfig } from '../../extensions/extension.ts'

/** Settings of keys (docs/keys.md). */
export interface KeySettings {
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
}

const memberName = 'trusted_proxies'

/** Parses the configuration file; without one, all members have their defaults. @throws {ExtensionConfigError} */
export function parseKeySettings(config: ExtensionConfig | undefined): KeySettings {
  const { values = {}, unset = new Map<string, string>() } = config ?? {}
  const other = [...Object.keys(values), ...unset.keys()].find((name) => name !== memberName)
  if (other !== undefined)
    throw new ExtensionConfigError(other, 'an unknown name', memberName + didYouMean(other, [memberName]))
  const value = values[memberName]
  if (value === undefined) return { trustedProxies: [] }
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const trustedProxies = texts.flatMap((text) => (typeof text === 'string' ? entriesOf(text) : ['another value']))
  const faulty = trustedProxies.find((entry) => parseNetwork(entry) === undefined)
  if (faulty === undefined) return { trustedProxies }
  const allowed = 'addresses and networks such as 10.0.0.0/8'
  throw new ExtensionConfigError(memberName, `"${faulty.slice(0, 60)}" in the list`, allowed)
}

function entriesOf(text: string): readonly string[] {
  return text.split(/[,\s]+/).filter((entry) => entry !== '')
}
