import { freeVariableMark } from '../../base/free-variable.ts'
import { isRecord } from '../../base/json-value.ts'
import { invalidRequest } from '../../formats/error.ts'
import type {
  BrandEntry,
  ProviderDraft,
  ProviderEdits,
  ProviderSettings,
  ProviderTimeouts,
} from '../../http/page/page-api.ts'
import { brands, findBrand } from '../catalogue.ts'
import { ConfigError, formatFault, type ProviderConfig } from '../config.ts'
import { defaultTimeouts } from '../defaults.ts'
import { readVariable, type Environment } from '../file/environment.ts'
import { parseConfig } from '../file/parse-config.ts'
import { variablePattern } from '../file/rules.ts'
import type { ProviderMembers } from './change-provider.ts'

const faultsShownMax = 3

/** The catalogue, as the page offers it. */
export function brandEntries(environment: Environment): readonly BrandEntry[] {
  return brands
    .filter(({ protocol }) => protocol !== 'echo')
    .map(({ id, name, baseUrl, protocol, keys, freeTier, modelsPage }) => ({
      id,
      name,
      baseUrl,
      protocol,
      keys: keys.map((variable) => ({ variable, isSet: readVariable(environment, variable) !== undefined })),
      ...(freeTier === undefined ? {} : { isFree: true }),
      ...(modelsPage === undefined ? {} : { modelsPage }),
    }))
}

/** The entry of `providers` that a draft stands for. @throws {WireError} 400, naming the field of the draft */
export function entryOfDraft(draft: ProviderDraft) {
  checkDraft(draft)
  const { id, brand, baseUrl, protocol, keyVariable, models, timeouts = {} } = draft
  const times = timesOf(timeouts)
  return {
    id,
    ...(brand === undefined || brand === id ? {} : { brand }),
    ...(protocol === undefined || protocol === 'openai' ? {} : { protocol }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(keyVariable === undefined ? {} : { api_key: `$${keyVariable}` }),
    ...(models === undefined ? {} : { models }),
    ...(times === undefined ? {} : { timeouts: times }),
  }
}

/** @throws {WireError} 400 */
function checkDraft({ id, brand, baseUrl, protocol, keyVariable }: ProviderDraft): void {
  const known = findBrand(brand ?? id)
  if (brand !== undefined && (known === undefined || known.protocol === 'echo'))
    throw invalidRequest('invalid_value', `'entry.brand' must be a brand of the catalogue.`, 'entry.brand')
  if (brand === undefined) checkOwnServer(id, baseUrl)
  else if (baseUrl !== undefined || protocol !== undefined)
    throw invalidRequest('invalid_value', `A brand has its own base URL and protocol.`, 'entry.baseUrl')
  if (keyVariable !== undefined) checkVariable(keyVariable, brand === undefined ? [] : (known?.keys ?? []))
}

function checkOwnServer(id: string, baseUrl = ''): void {
  if (findBrand(id) !== undefined)
    throw invalidRequest('invalid_value', `'entry.id' is the name of a brand; choose another one.`, 'entry.id')
  // A variable there could hold a secret, which would go to the name servers.
  if (baseUrl.startsWith('$') || baseUrl === '')
    throw invalidRequest('invalid_value', `'entry.baseUrl' must be an http or https URL.`, 'entry.baseUrl')
}

function checkVariable(variable: string, own: readonly string[], where = 'entry'): void {
  if (own.includes(variable) || variable.startsWith(freeVariableMark)) return
  const allowed = [...own, `a name that begins with ${freeVariableMark}`].join(', ')
  throw invalidRequest('invalid_value', `'${where}.keyVariable': allowed here: ${allowed}.`, `${where}.keyVariable`)
}

/** New members of an entry, by the rules of drafts. @throws {WireError} 400, naming the field of the edit */
export function membersOfEdit(
  entry: Readonly<Record<string, unknown>>,
  { baseUrl, keyVariable, models, timeouts, price }: ProviderEdits,
): ProviderMembers {
  if (keyVariable !== undefined && keyVariable !== null) checkVariable(keyVariable, ownVariables(entry), 'edit')
  const key = keyVariable === undefined ? entry['api_key'] : keyVariable === null ? undefined : `$${keyVariable}`
  if (baseUrl !== undefined) checkNewAddress({ ...entry, api_key: key }, baseUrl)
  return {
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(keyVariable === undefined ? {} : { api_key: keyVariable === null ? undefined : `$${keyVariable}` }),
    ...(models === undefined ? {} : { models: models ?? undefined }),
    ...(timeouts === undefined ? {} : { timeouts: timesOf(timeouts) }),
    ...(price === undefined ? {} : { price: price.input === 0 && price.output === 0 ? 0 : { ...price } }),
  }
}

const timeNames = [
  ['connectMs', 'connect_ms'],
  ['firstTokenMs', 'first_token_ms'],
  ['idleMs', 'idle_ms'],
  ['attemptMs', 'attempt_ms'],
] as const

/** `timeouts` of an entry; `undefined`: it has none. */
function timesOf(timeouts: ProviderTimeouts): Readonly<Record<string, number>> | undefined {
  const times = timeNames.flatMap(([name, member]) => {
    const ms = timeouts[name]
    return ms === undefined ? [] : [[member, ms] as const]
  })
  return times.length === 0 ? undefined : Object.fromEntries(times)
}

function timeoutsIn({ timeouts }: Readonly<Record<string, unknown>>): ProviderTimeouts {
  if (!isRecord(timeouts)) return {}
  return Object.fromEntries(
    timeNames.flatMap(([name, member]) => {
      const ms = timeouts[member]
      return typeof ms === 'number' ? [[name, ms]] : []
    }),
  )
}

/** What an entry of the file has, without a key. */
export function settingsOf(entry: Readonly<Record<string, unknown>>): Omit<ProviderSettings, 'version' | 'id'> {
  const { base_url: baseUrl, models } = entry
  const brand = brandOfEntry(entry)?.id
  const list: readonly unknown[] | undefined = Array.isArray(models) ? models : undefined
  return {
    ...(brand === undefined ? {} : { brand }),
    ...(typeof baseUrl === 'string' ? { baseUrl } : {}),
    key: keyOf(entry),
    variables: ownVariables(entry),
    ...(list === undefined
      ? {}
      : { models: list.map((each) => String(isRecord(each) ? (each['upstream'] ?? each['name']) : each)) }),
    ...(list?.some(isRecord) === true ? { hasModelFacts: true } : {}),
    timeouts: timeoutsIn(entry),
    defaultTimeouts,
  }
}

function keyOf({ api_key: key }: Readonly<Record<string, unknown>>): ProviderSettings['key'] {
  if (key === undefined) return { kind: 'none' }
  const variable = typeof key === 'string' ? variablePattern.exec(key)?.[1] : undefined
  return variable === undefined ? { kind: 'hidden' } : { kind: 'variable', variable }
}

function brandOfEntry({ id, brand }: Readonly<Record<string, unknown>>) {
  return findBrand(String(brand ?? id))
}

/** Variables of a brand go to its own address only, so to none that the file names. */
function ownVariables(entry: Readonly<Record<string, unknown>>): readonly string[] {
  return entry['base_url'] === undefined ? (brandOfEntry(entry)?.keys ?? []) : []
}

/** What the file has for the present address must not go to another one. @throws {WireError} 400 */
function checkNewAddress(entry: Readonly<Record<string, unknown>>, baseUrl: string): void {
  const refuse = (message: string): never => {
    throw invalidRequest('invalid_value', message, 'edit.baseUrl')
  }
  if (brandOfEntry(entry) !== undefined || entry['protocol'] === 'echo')
    refuse('A brand has its own base URL; add another server instead.')
  // A variable there could hold a secret, which would go to the name servers.
  if (baseUrl.startsWith('$')) refuse(`'edit.baseUrl' must be an http or https URL.`)
  const key = keyOf(entry)
  if (key.kind === 'hidden' || (key.kind === 'variable' && !key.variable.startsWith(freeVariableMark)))
    refuse(
      'Its present key must not go to another address: name an environment variable that begins with ' +
        `${freeVariableMark}, or change the file by hand.`,
    )
  for (const name of ['headers', 'overrides', 'defaults'])
    if (entry[name] !== undefined)
      refuse(`Its ${name} in the file must not go to another address: change the file by hand.`)
}

/** The provider that a draft would be. @throws {WireError} 400 with the faults of its entry */
export function providerOfDraft(draft: ProviderDraft, environment: Environment): ProviderConfig {
  const text = JSON.stringify({ providers: [entryOfDraft(draft)] })
  try {
    const [provider] = parseConfig(text, { file: 'entry', environment }).providers
    if (provider !== undefined) return provider
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faults = error.faults.slice(0, faultsShownMax).map(({ line: _, column: __, ...fault }) => formatFault(fault))
    throw invalidRequest('invalid_value', faults.join('; ').replaceAll('entry: providers[0].', ''), 'entry')
  }
  throw invalidRequest('invalid_value', 'The entry is no provider.', 'entry')
}
