import { nearestName } from '../../base/nearest.ts'
import { table } from '../../base/table.ts'
import { furtherFormats, type FurtherFormat } from '../../formats/ask.ts'
import type { OfferedModel } from '../../formats/model.ts'
import { reasoningHistories } from '../../profiles/profile.ts'
import { brandIds, findBrand } from '../catalogue.ts'
import type { ProtocolName, Timeouts } from '../config.ts'
import {
  describeFound,
  readBooleanField,
  readIntegerField,
  readElements,
  readKnownMembers,
  readMembers,
  readTextField,
  readWord,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import type { Findings } from './findings.ts'
import { joinPath } from './json-tree.ts'
import { readJsonField } from './read-json-field.ts'
import { readPrice } from './read-price.ts'
import { readProfile } from './read-profile.ts'
import type { ParsedProvider } from './resolve-provider.ts'
import {
  apiKeyRule,
  baseUrlRule,
  durationMsMax,
  headerNamePattern,
  headerValueRule,
  idRule,
  modalities,
  modelNameRule,
  reservedHeaders,
  reservedFields,
  variablePattern,
} from './rules.ts'

const protocols: readonly ProtocolName[] = ['openai', 'anthropic', 'gemini', 'echo']

const providerMembers: MemberNames = {
  names: [
    'id',
    'brand',
    'enabled',
    'protocol',
    'base_url',
    'api_key',
    'headers',
    'models',
    'timeouts',
    'retries',
    'max_concurrent',
    'overrides',
    'reasoning_history',
    'formats',
    'price',
    'profile',
  ],
  required: ['id'],
  hints: {
    name: 'id',
    provider: 'brand',
    type: 'protocol',
    npm: 'protocol',
    url: 'base_url',
    api: 'base_url',
    api_base: 'base_url',
    endpoint: 'base_url',
    host: 'base_url',
    key: 'api_key',
    token: 'api_key',
    env: 'api_key',
    map_models: 'models',
    timeout: 'timeouts',
    max_retries: 'retries',
    disabled: 'enabled',
    defaults: 'overrides',
    extra_body: 'overrides',
  },
}

const modelMembers: MemberNames = {
  names: ['name', 'upstream', 'aliases', 'context', 'max_output', 'input', 'price', 'profile'],
  required: ['name'],
  hints: {
    id: 'name',
    model: 'upstream',
    alias: 'aliases',
    cost: 'price',
    modalities: 'input',
    max_tokens: 'max_output',
    context_length: 'context',
  },
}

const aliasMembers: MemberNames = {
  names: ['name', 'embeddings'],
  required: ['name'],
  hints: { alias: 'name', embedding: 'embeddings' },
}

const timeoutMembers: MemberNames = {
  names: ['connect_ms', 'first_token_ms', 'idle_ms', 'attempt_ms'],
  hints: {
    connect: 'connect_ms',
    first_token: 'first_token_ms',
    idle: 'idle_ms',
    total: 'attempt_ms',
    request: 'attempt_ms',
  },
}

function readFormats(field: Field | undefined, findings: Findings): readonly FurtherFormat[] | undefined {
  if (field === undefined) return undefined
  return (readElements(field, findings) ?? []).flatMap((item) => readWord(item, furtherFormats, findings) ?? [])
}

/** Parses one item of `providers`. `undefined` without a valid id. */
export function parseProvider(field: Field, findings: Findings): ParsedProvider | undefined {
  const members = readKnownMembers(field, providerMembers, findings)
  const id = readTextField(members.get('id'), idRule, findings)
  const brand = readBrand(members.get('brand'), findings)
  const protocol = readWord(members.get('protocol'), protocols, findings)
  const entry = {
    brand,
    protocol,
    enabled: readBooleanField(members.get('enabled'), findings),
    baseUrl: readBaseUrl(members.get('base_url'), findings),
    apiKey: readTextField(secret(members.get('api_key')), apiKeyRule, findings),
    headers: readHeaders(members.get('headers'), findings),
    models: readModels(members.get('models'), findings),
    timeouts: readTimeouts(members.get('timeouts'), findings),
    retries: readIntegerField(members.get('retries'), 0, 5, findings),
    maxConcurrent: readIntegerField(members.get('max_concurrent'), 1, 1_000_000, findings),
    overrides: readOverrides(members.get('overrides'), findings),
    reasoningHistory: readWord(members.get('reasoning_history'), reasoningHistories, findings),
    formats: readFormats(members.get('formats'), findings),
    price: readPrice(members.get('price'), findings),
    profile: readProfile(members.get('profile'), findings),
  }
  checkWithProtocol(protocol ?? findBrand(brand ?? id ?? '')?.protocol ?? 'openai', members, findings)
  if (id === undefined) return undefined
  const isAddressKnown = members.has('base_url') || protocol === 'echo' || findBrand(brand ?? id) !== undefined
  if (!isAddressKnown && !members.has('brand')) addMissingAddress(field, id, findings)
  return { id, ...entry }
}

/** Finds fields that providers of this protocol cannot have. */
function checkWithProtocol(protocol: ProtocolName, members: ReadonlyMap<string, Field>, findings: Findings): void {
  const formats = members.get('formats')
  if (formats !== undefined && protocol !== 'openai')
    findings.add(formats, `formats with the protocol "${protocol}"`, 'formats only with the protocol "openai"')
  const overrides = members.get('overrides')
  if (overrides === undefined || protocol !== 'anthropic') return
  const system = overrides.node.children?.find(({ children = [] }) => children[0]?.value === 'system')
  if (system !== undefined)
    findings.add(
      { offset: system.offset, path: joinPath(overrides.path, 'system') },
      'a system text that would replace that of callers',
      'any request field except "system" with the protocol "anthropic"',
    )
}

function addMissingAddress(field: Field, id: string, findings: Findings): void {
  const nearest = nearestName(id, brandIds) ?? brandIds.find((brand) => id.startsWith(brand))
  const question = nearest === undefined ? '' : ` (did you mean "brand": "${nearest}"?)`
  const location = { offset: field.offset, path: joinPath(field.path, 'base_url') }
  findings.add(
    location,
    'nothing',
    `an http or https URL; it may be left out only when "id" or "brand" is in the catalogue${question}`,
  )
}

function secret(field: Field | undefined): Field | undefined {
  return field === undefined ? undefined : { ...field, isSecret: true }
}

function readBrand(field: Field | undefined, findings: Findings): string | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  if (typeof value === 'string' && findBrand(value) !== undefined) return value
  const nearest = typeof value === 'string' ? nearestName(value, brandIds) : undefined
  const question = nearest === undefined ? 'docs/configuration.md lists them' : `did you mean "${nearest}"?`
  return refuse(field, `a brand of the catalogue (${question})`, findings)
}

function readBaseUrl(field: Field | undefined, findings: Findings): string | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const isText = typeof value === 'string' && value.length <= baseUrlRule.lengthMax && baseUrlRule.pattern.test(value)
  if (isText && (variablePattern.test(value) || URL.canParse(value))) return value
  // A password, or a key in the query, must not be shown.
  const shown =
    typeof value === 'string' && /[@?#]/.test(value)
      ? 'a URL with a user name, query or fragment (not shown)'
      : describeFound(field)
  const isSchemeMissing =
    typeof value === 'string' &&
    /^[\w.-]+(?::\d+)?(?:\/|$)/.test(value) &&
    value.includes('.') !== value.startsWith('localhost')
  findings.add(field, shown, `${baseUrlRule.allowed}${isSchemeMissing ? ' ("http://" or "https://" is missing)' : ''}`)
  return undefined
}

function readHeaders(field: Field | undefined, findings: Findings): Readonly<Record<string, string>> | undefined {
  if (field === undefined) return undefined
  const headers = table<string>()
  for (const [name, value] of readMembers({ ...field, isSecret: true }, findings) ?? []) {
    const lowered = name.toLowerCase()
    const location = { offset: value.node.parent?.offset ?? value.offset, path: value.path }
    if (!headerNamePattern.test(name))
      findings.add(location, 'an invalid header name', "letters, digits and !#$%&'*+-.^_`|~ only, at most 128")
    else if (reservedHeaders.includes(lowered))
      findings.add(location, `the header "${lowered}"`, 'headers that the service does not set for each request')
    else if (Object.hasOwn(headers, lowered))
      findings.add(location, 'a duplicate header', 'each header once; case is ignored')
    const text = readTextField(value, headerValueRule, findings)
    headers[lowered] = text ?? ''
  }
  return headers
}

function readModels(field: Field | undefined, findings: Findings): '*' | readonly OfferedModel[] | undefined {
  if (field === undefined) return undefined
  if (field.node.value === '*') return '*'
  if (field.node.type !== 'array') return refuse(field, '"*", or an array of model names and objects', findings)
  const items = readElements(field, findings) ?? []
  if (items.length === 0) findings.add(field, 'an empty array', '"*", or at least one model')
  const seen = new Map<string, number>()
  return items.flatMap((item) => readModel(item, seen, findings) ?? [])
}

function readModel(field: Field, seen: Map<string, number>, findings: Findings): OfferedModel | undefined {
  if (field.node.type === 'string') {
    const name = readUniqueName(field, seen, findings)
    return name === undefined ? undefined : { name, upstream: name, aliases: [] }
  }
  if (field.node.type !== 'object') return refuse(field, 'a model name, or an object with "name"', findings)
  const members = readKnownMembers(field, modelMembers, findings)
  const nameField = members.get('name')
  const name = nameField === undefined ? undefined : readUniqueName(nameField, seen, findings)
  const upstream = readTextField(members.get('upstream'), modelNameRule, findings)
  const aliases = readAliases(members.get('aliases'), seen, findings)
  const embeddingAliases = aliases.flatMap(({ name: alias, embeddings }) => (embeddings ? [alias] : []))
  const context = readIntegerField(members.get('context'), 1, Number.MAX_SAFE_INTEGER, findings)
  const maxOutput = readIntegerField(members.get('max_output'), 1, Number.MAX_SAFE_INTEGER, findings)
  const inputField = members.get('input')
  const input =
    inputField === undefined
      ? undefined
      : (readElements(inputField, findings) ?? []).flatMap((item) => readWord(item, modalities, findings) ?? [])
  const price = readPrice(members.get('price'), findings)
  const profile = readProfile(members.get('profile'), findings)
  if (name === undefined) return undefined
  return {
    name,
    upstream: upstream ?? name,
    aliases: aliases.map(({ name: alias }) => alias),
    ...(embeddingAliases.length === 0 ? {} : { embeddingAliases }),
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(input === undefined ? {} : { input }),
    ...(price === undefined ? {} : { price }),
    ...(profile === undefined ? {} : { profile }),
  }
}

interface Alias {
  readonly name: string
  readonly embeddings: boolean
}

/** Names, or objects that say whether the embeddings are those of the model with that name. */
function readAliases(field: Field | undefined, seen: Map<string, number>, findings: Findings): readonly Alias[] {
  if (field === undefined) return []
  return (readElements(field, findings) ?? []).flatMap((item) => {
    const members = item.node.type === 'object' ? readKnownMembers(item, aliasMembers, findings) : undefined
    const nameField = members === undefined ? item : members.get('name')
    const name = nameField === undefined ? undefined : readUniqueName(nameField, seen, findings)
    const embeddings = readBooleanField(members?.get('embeddings'), findings) ?? false
    return name === undefined ? [] : [{ name, embeddings }]
  })
}

function readUniqueName(field: Field, seen: Map<string, number>, findings: Findings): string | undefined {
  const name = readTextField(field, modelNameRule, findings)
  if (name === undefined) return undefined
  const first = seen.get(name)
  if (first !== undefined)
    return refuse(
      field,
      `each name and alias once in a provider (the first is on line ${findings.lineOf(first)})`,
      findings,
    )
  seen.set(name, field.offset)
  return name
}

type Duration = Exclude<keyof Timeouts, 'isFirstTokenSet'>

function readTimeouts(field: Field | undefined, findings: Findings): Partial<Timeouts> | undefined {
  if (field === undefined) return undefined
  const members = readKnownMembers(field, timeoutMembers, findings)
  const given: [Duration, string][] = [
    ['connectMs', 'connect_ms'],
    ['firstTokenMs', 'first_token_ms'],
    ['idleMs', 'idle_ms'],
    ['attemptMs', 'attempt_ms'],
  ]
  const timeouts: Partial<Record<Duration, number>> = {}
  for (const [key, name] of given) {
    const value = readIntegerField(members.get(name), 1, durationMsMax, findings)
    if (value !== undefined) timeouts[key] = value
  }
  return timeouts
}

function readOverrides(field: Field | undefined, findings: Findings): Readonly<Record<string, unknown>> | undefined {
  if (field === undefined) return undefined
  const overrides = table<unknown>()
  for (const [name, value] of readMembers({ ...field, isSecret: true }, findings) ?? []) {
    if (reservedFields.includes(name))
      findings.add(value, 'a field that cannot be overridden', `any request field except ${reservedFields.join(', ')}`)
    overrides[name] = readJsonField(value, findings)
  }
  return overrides
}
