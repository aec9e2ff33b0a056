import { brands, findBrand } from '../../config/catalogue.ts'
import { ConfigError, formatFault, type ProviderConfig } from '../../config/config.ts'
import { parseConfig } from '../../config/file/parse-config.ts'
import { readVariable, type Environment } from '../../config/file/resolve-provider.ts'
import { invalidRequest } from '../../formats/error.ts'
import type { BrandEntry, ProviderDraft } from '../../http/page/page-api.ts'

/**
 * Variables with this beginning may be sent to any base URL that is given on the page. So the page cannot send other
 * secrets of the environment to a host that a client chooses.
 */
export const freeVariableMark = 'SVC_KEY_'

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
  const { id, brand, baseUrl, protocol, keyVariable, models } = draft
  return {
    id,
    ...(brand === undefined || brand === id ? {} : { brand }),
    ...(protocol === undefined || protocol === 'openai' ? {} : { protocol }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(keyVariable === undefined ? {} : { api_key: `$${keyVariable}` }),
    ...(models === undefined ? {} : { models }),
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

function checkVariable(variable: string, own: readonly string[]): void {
  if (own.includes(variable) || variable.startsWith(freeVariableMark)) return
  const allowed = [...own, `a name that begins with ${freeVariableMark}`].join(', ')
  throw invalidRequest('invalid_value', `'entry.keyVariable': allowed here: ${allowed}.`, 'entry.keyVariable')
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
