import { table } from '../../base/table.ts'
import type { OfferedModel } from '../../formats/model.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import type { Brand } from '../brand.ts'
import { brands, findBrand } from '../catalogue.ts'
import type { Lack, ProtocolName, ProviderConfig, Quirks } from '../config.ts'
import { defaultTimeouts, noQuirks } from '../defaults.ts'
import {
  filesOf,
  isKey,
  readVariable,
  resolveFile,
  resolveText,
  type Environment,
  type Resolved,
} from './environment.ts'
import type { ParsedProvider } from './parse-provider.ts'
import { isLoopback } from './provider-target.ts'
import { resolveWay } from './resolve-proxy.ts'
import { apiKeyRule, baseUrlRule, headerValueRule, keyFilePattern, trimUrl } from './rules.ts'

/** The brand of an entry: that of its `brand`, else of its id. */
export function brandOf(entry: Pick<ParsedProvider, 'id' | 'brand'>): Brand | undefined {
  return findBrand(entry.brand ?? entry.id)
}

/**
 * The brand at this address: the habits are those of the host, under any name that the owner gives. This machine has no
 * brand.
 */
function brandAt(baseUrl: string): Brand | undefined {
  if (isLoopback(baseUrl)) return undefined
  const found = brands.filter((brand) => isSameOrigin(baseUrl, brand.baseUrl))
  return found.find((brand) => baseUrl.startsWith(brand.baseUrl)) ?? found[0]
}

/**
 * Completes an entry from the catalogue and the environment. Missing variables make the provider unavailable, not
 * invalid (docs/configuration.md).
 */
export function resolveProvider(entry: ParsedProvider, environment: Environment): ProviderConfig {
  const brand = brandOf(entry)
  const protocol = entry.protocol ?? brand?.protocol ?? 'openai'
  /** By their words. */
  const lacks = new Map<string, Lack>()

  function settle(resolved: Resolved | undefined): string | undefined {
    const lack = resolved?.lack
    if (lack !== undefined && !lacks.has(inWords(lack))) lacks.set(inWords(lack), lack)
    return resolved?.value
  }

  function settleHeaders(): Readonly<Record<string, string>> {
    const headers = table<string>()
    for (const [name, text] of Object.entries(entry.headers ?? {})) {
      const value = settle(resolveText(text, environment, headerValueRule.pattern))
      if (value !== undefined) headers[name.toLowerCase()] = value
    }
    return headers
  }

  const isReached = protocol !== 'echo'
  const baseUrl = (isReached && settle(resolveBaseUrl(entry, brand, environment))) || ''
  const key = isReached ? resolveKey(entry, brand, baseUrl, environment) : undefined
  settle(ofKey(key))
  const headers = settleHeaders()
  const way = resolveWay(entry, baseUrl, environment)
  for (const lack of way.lacks) settle({ lack })
  const host = brand ?? brandAt(baseUrl)
  const enabled = entry.enabled ?? true
  return {
    id: entry.id,
    ...brandNames(host, baseUrl),
    enabled,
    ...lackFacts(lacks, enabled),
    protocol,
    baseUrl,
    ...keyFacts(key),
    ...way.facts,
    ...filesOf([key?.name ?? '', ...way.names]),
    headers,
    models: resolveModels(entry, brand, protocol),
    timeouts: resolveTimeouts(entry),
    retries: entry.retries ?? 0,
    ...ownSettings(entry),
    overrides: entry.overrides ?? table(),
    ...(entry.defaults === undefined ? {} : { defaults: entry.defaults }),
    quirks: resolveQuirks(entry, host, baseUrl, protocol),
    profile: ownedProfile(entry),
  }
}

function ofKey(key: Resolved | undefined): Resolved | undefined {
  return key?.lack === undefined ? key : { lack: { ...key.lack, isKey: true } }
}

function lackFacts(lacks: ReadonlyMap<string, Lack>, enabled: boolean): Pick<ProviderConfig, 'lacks' | 'unavailable'> {
  if (lacks.size === 0) return {}
  return { lacks: [...lacks.values()], ...(enabled ? { unavailable: [...lacks.keys()].join(', ') } : {}) }
}

function keyFacts(key: Resolved | undefined): Pick<ProviderConfig, 'apiKey' | 'keyName'> {
  if (key === undefined) return {}
  const { value, name } = key
  return { ...(value === undefined ? {} : { apiKey: value }), ...(name === undefined ? {} : { keyName: name }) }
}

function resolveTimeouts({ timeouts }: ParsedProvider): ProviderConfig['timeouts'] {
  const resolved = { ...defaultTimeouts, ...timeouts }
  return timeouts?.firstTokenMs === undefined ? resolved : { ...resolved, isFirstTokenSet: true }
}

/** Settings without a default. */
function ownSettings({
  maxConcurrent,
  onOtherModel,
  price,
  trace,
}: ParsedProvider): Pick<ProviderConfig, 'maxConcurrent' | 'onOtherModel' | 'price' | 'trace'> {
  return {
    ...(onOtherModel === undefined ? {} : { onOtherModel }),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(price === undefined ? {} : { price }),
    ...(trace === undefined ? {} : { trace }),
  }
}

/** The owner's fields of the profile. */
function ownedProfile(entry: ParsedProvider): Partial<TargetProfile> {
  const { reasoningHistory: reasoning, profile, overrides, defaults } = entry
  // Marks of the owner's own fields take the places.
  const isMarked = JSON.stringify([overrides, defaults]).includes('"cache_control"')
  const promptCache = isMarked ? 'off' : entry.promptCache
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(promptCache === undefined ? {} : { promptCache }),
    ...profile,
  }
}

function inWords({ code, variables }: Lack): string {
  const names = variables.join(', ')
  switch (code) {
    case 'unset':
      return variables.length === 1 ? `${names} is not set` : `none of ${names} is set`
    case 'invalid':
      return `${names} has an invalid value`
    case 'no_base_url':
      return 'base_url is missing'
    case 'missing_file':
      return `the file ${names} is missing or empty`
    case 'invalid_file':
      return `the file ${names} does not hold what it should`
  }
}

function brandNames(brand: Brand | undefined, baseUrl: string): Pick<ProviderConfig, 'brand' | 'listedBrand'> {
  if (brand === undefined) return {}
  // A proxy of a brand may have prices of its own.
  return { brand: brand.id, ...(isSameOrigin(baseUrl, brand.baseUrl) ? { listedBrand: brand.id } : {}) }
}

function resolveQuirks(
  entry: ParsedProvider,
  brand: Brand | undefined,
  baseUrl: string,
  protocol: ProtocolName,
): Quirks {
  const { quirks, baseUrl: brandUrl } = brand ?? { quirks: noQuirks, baseUrl: '' }
  // A proxy of a brand need not serve all of its formats.
  const formats = entry.formats ?? (isSameOrigin(baseUrl, brandUrl) ? quirks.formats : [])
  const isFree = protocol === 'echo' || (quirks.isFree && isLoopback(baseUrl))
  return { ...quirks, formats, isFree }
}

function resolveBaseUrl(entry: ParsedProvider, brand: Brand | undefined, environment: Environment): Resolved {
  const text = entry.baseUrl ?? brand?.baseUrl
  if (text === undefined) return { lack: { code: 'no_base_url', variables: [] } }
  const resolved = resolveText(text, environment, baseUrlRule.pattern)
  if (resolved.value === undefined) return resolved
  return URL.canParse(resolved.value)
    ? { value: trimUrl(resolved.value) }
    : { lack: { code: 'invalid', variables: [text.slice(1)] } }
}

function resolveKey(
  entry: ParsedProvider,
  brand: Brand | undefined,
  baseUrl: string,
  environment: Environment,
): Resolved | undefined {
  const file = keyFilePattern.exec(entry.apiKey ?? '')?.[1]
  if (file !== undefined) return resolveFile(file, environment, isKey)
  if (entry.apiKey !== undefined) return resolveText(entry.apiKey, environment, apiKeyRule.pattern)
  // A brand's key is sent to the brand's own host only.
  if (brand === undefined || brand.keys.length === 0 || !isSameOrigin(baseUrl, brand.baseUrl)) return undefined
  const name = brand.keys.find((candidate) => readVariable(environment, candidate) !== undefined)
  if (name !== undefined) return resolveText(`$${name}`, environment, apiKeyRule.pattern)
  return { lack: { code: 'unset', variables: brand.keys } }
}

/** Whether two addresses have one origin. */
export function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
}

function resolveModels(
  entry: ParsedProvider,
  brand: Brand | undefined,
  protocol: ProtocolName,
): '*' | readonly OfferedModel[] {
  if (entry.models !== undefined && entry.models !== '*') return entry.models
  const names = brand?.models ?? (protocol === 'echo' ? ['echo'] : undefined)
  return names?.map((name) => ({ name, upstream: name, aliases: [] })) ?? '*'
}
