import { nearestName } from '../../base/nearest.ts'
import { table } from '../../base/table.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { furtherFormats } from '../../formats/ask.ts'
import type { OfferedModel } from '../../formats/model.ts'
import { promptCaches, reasoningHistories } from '../../profiles/profile.ts'
import { jsonShape, listShape, namedShape, objectShape } from '../../shapes/containers.ts'
import { forRepeats, joinPath, memberNode, type NodeMember, type ShapeNode } from '../../shapes/node.ts'
import {
  describeNode,
  eitherShape,
  flagShape,
  integerShape,
  mapShape,
  onlyShape,
  refuseNode,
  secretShape,
  textShape,
  wordShape,
  type Faults,
  type ValueOf,
  type ValueShape,
} from '../../shapes/shape.ts'
import { brandIds, findBrand } from '../catalogue.ts'
import type { ProtocolName } from '../config.ts'
import { priceShape } from './read-price.ts'
import { profileShape } from './read-profile.ts'
import {
  apiKeyRule,
  baseUrlRule,
  durationMsMax,
  headerNamePattern,
  headerValueRule,
  idRule,
  keyFileRule,
  modalities,
  modelName,
  modelNameRule,
  proxyRule,
  refuseReserved,
  reservedHeaders,
  variablePattern,
} from './rules.ts'

const protocols: readonly ProtocolName[] = ['openai', 'anthropic', 'gemini', 'echo']

export const brandShape: ValueShape<string> = {
  read(node, faults) {
    const { value } = node
    if (typeof value === 'string' && findBrand(value) !== undefined) return value
    const nearest = typeof value === 'string' ? nearestName(value, brandIds) : undefined
    const question = nearest === undefined ? 'docs/configuration.md lists them' : `did you mean "${nearest}"?`
    return refuseNode(node, `a brand of the catalogue (${question})`, faults)
  },
  schema: () => ({ enum: brandIds }),
}

const baseUrlShape: ValueShape<string> = {
  read(node, faults) {
    const { value } = node
    const isText = typeof value === 'string' && value.length <= baseUrlRule.lengthMax && baseUrlRule.pattern.test(value)
    if (isText && (variablePattern.test(value) || URL.canParse(value))) return value
    // A password, or a key in the query, must not be shown.
    const shown =
      typeof value === 'string' && /[@?#]/.test(value)
        ? 'a URL with a user name, query or fragment (not shown)'
        : describeNode(node)
    const isSchemeMissing =
      typeof value === 'string' &&
      /^[\w.-]+(?::\d+)?(?:\/|$)/.test(value) &&
      value.includes('.') !== value.startsWith('localhost')
    faults.add(node, shown, `${baseUrlRule.allowed}${isSchemeMissing ? ' ("http://" or "https://" is missing)' : ''}`)
    return undefined
  },
  schema: textShape(baseUrlRule).schema,
}

function checkHeaderName({ name, at }: NodeMember, faults: Faults): void {
  const lowered = name.toLowerCase()
  if (!headerNamePattern.test(name))
    faults.add(at, 'an invalid header name', "letters, digits and !#$%&'*+-.^_`|~ only, at most 128")
  else if (reservedHeaders.includes(lowered))
    faults.add(at, `the header "${lowered}"`, 'headers that the service does not set for each request')
}

/** Names of headers in any case, but for those that the service sets. JSON Schema has no patterns without case. */
const headerNames = {
  pattern: headerNamePattern.source.replace(
    '^',
    `^(?!(?:${reservedHeaders.join('|').replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)})$)`,
  ),
}

const headersShape = secretShape(
  mapShape(
    namedShape(textShape(headerValueRule), { check: checkHeaderName, schema: headerNames }),
    (values, node, faults) => {
      const seen = new Set<string>()
      for (const [name, { at }] of new Map(node.members().map((member) => [member.name, member]))) {
        const lowered = name.toLowerCase()
        if (seen.has(lowered) && headerNamePattern.test(name) && !reservedHeaders.includes(lowered))
          faults.add(at, 'a duplicate header', 'each header once; case is ignored')
        seen.add(lowered)
      }
      return table(Array.from(values, ([name, value]) => [name.toLowerCase(), value] as const))
    },
  ),
)

const aliasShape = eitherShape(
  {
    string: mapShape(modelName, (name) => ({ name })),
    object: objectShape(
      { name: modelName, embeddings: flagShape },
      { required: ['name'], hints: { alias: 'name', embedding: 'embeddings' } },
    ),
  },
  modelName,
)

/** An entry of `models`. */
export const modelShape = mapShape(
  objectShape(
    {
      name: modelName,
      upstream: modelName,
      aliases: listShape(aliasShape),
      context: integerShape(1),
      max_output: integerShape(1),
      input: listShape(wordShape(modalities)),
      price: priceShape,
      profile: profileShape,
    },
    {
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
    },
  ),
  ({ name, upstream = name, aliases = [], ...others }): OfferedModel => {
    const embeddingAliases = aliases.flatMap((alias) => ('embeddings' in alias && alias.embeddings ? [alias.name] : []))
    return {
      ...{ name, upstream, aliases: aliases.map((alias) => alias.name) },
      ...(embeddingAliases.length === 0 ? {} : { embeddingAliases }),
      ...others,
    }
  },
)

const namedModel = mapShape(modelName, (name): OfferedModel => ({ name, upstream: name, aliases: [] }))
const listAllowed = '"*", or an array of model names and objects'

const modelsShape = eitherShape(
  {
    string: onlyShape('*', listAllowed),
    array: mapShape(
      listShape(eitherShape({ string: namedModel, object: modelShape }, 'a model name, or an object with "name"'), {
        min: 1,
        allowed: '"*", or at least one model',
      }),
      (models, node, faults) => {
        refuseSameNames(node.elements(), faults)
        return models
      },
    ),
  },
  listAllowed,
)

/** Refuses names and aliases of models that are there twice. */
function refuseSameNames(models: readonly ShapeNode[], faults: Faults): void {
  const nameOf = (node: ShapeNode): ShapeNode => memberNode(node, 'name') ?? node
  const named = models.flatMap((model) => [
    nameOf(model),
    ...(memberNode(model, 'aliases')?.elements() ?? []).map(nameOf),
  ])
  const isName = ({ value }: ShapeNode): boolean =>
    typeof value === 'string' && value.length <= modelNameRule.lengthMax && modelNameRule.pattern.test(value)
  forRepeats(
    named.filter(isName).map((node) => [node.value, node]),
    (node, { offset }) => {
      const place = `the first is on line ${faults.lineOf(offset)}`
      refuseNode(node, `each name and alias once in a provider (${place})`, faults)
    },
  )
}

const milliseconds = integerShape(1, durationMsMax)

const fileShape = mapShape(
  objectShape({ file: textShape(keyFileRule) }, { required: ['file'], hints: { path: 'file' } }),
  ({ file }) => `$file:${file}`,
)

/** A secret text, or the file that holds it. */
function secretOrFile(rule: TextRule): ValueShape<string> {
  const text = secretShape(textShape(rule))
  return eitherShape({ string: text, object: fileShape }, text)
}

/** A file in PEM, which is followed as key files are. */
const certificateFile = textShape(keyFileRule)

/** Request fields with their values. @param found describes a field that the owner must not set */
function fieldsShape(found: string): ValueShape<Readonly<Record<string, unknown>>> {
  return secretShape(mapShape(namedShape(jsonShape, refuseReserved(found)), (fields) => table(fields)))
}

/** An item of `providers`, not yet completed from the catalogue and the environment. */
export const providerShape = objectShape(
  {
    id: textShape(idRule),
    brand: brandShape,
    enabled: flagShape,
    protocol: wordShape(protocols),
    base_url: baseUrlShape,
    api_key: secretOrFile(apiKeyRule),
    proxy: secretOrFile(proxyRule),
    tls: objectShape(
      { ca: certificateFile, cert: certificateFile, key: certificateFile },
      { hints: { certificate: 'cert', private_key: 'key', ca_file: 'ca', cert_file: 'cert', key_file: 'key' } },
    ),
    trace: flagShape,
    headers: headersShape,
    models: modelsShape,
    timeouts: objectShape(
      { connect_ms: milliseconds, first_token_ms: milliseconds, idle_ms: milliseconds, attempt_ms: milliseconds },
      {
        hints: {
          connect: 'connect_ms',
          first_token: 'first_token_ms',
          idle: 'idle_ms',
          total: 'attempt_ms',
          request: 'attempt_ms',
        },
      },
    ),
    retries: integerShape(0, 5),
    max_concurrent: integerShape(1, 1_000_000),
    on_other_model: wordShape(['serve', 'next']),
    overrides: fieldsShape('a field that cannot be overridden'),
    defaults: fieldsShape('a field that cannot have a default'),
    reasoning_history: wordShape(reasoningHistories),
    prompt_cache: wordShape(promptCaches),
    formats: listShape(wordShape(furtherFormats)),
    price: priceShape,
    profile: profileShape,
  },
  {
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
      default: 'defaults',
      extra_body: 'overrides',
    },
    check({ id, brand, protocol }, node, faults) {
      checkWithProtocol(protocol ?? findBrand(brand ?? id ?? '')?.protocol ?? 'openai', node, faults)
      const hasAddress = memberNode(node, 'base_url') !== undefined || protocol === 'echo'
      if (id === undefined || hasAddress || findBrand(brand ?? id) !== undefined) return
      if (memberNode(node, 'brand') === undefined) addMissingAddress(node, id, faults)
    },
    schema: {
      anyOf: [
        { required: ['base_url'] },
        { required: ['brand'] },
        { properties: { protocol: { const: 'echo' } }, required: ['protocol'] },
        { properties: { id: { $ref: '#/$defs/brandId' } } },
      ],
    },
  },
)

export type ParsedProvider = ValueOf<typeof providerShape>

/** Finds fields that providers of this protocol cannot have. */
function checkWithProtocol(protocol: ProtocolName, node: ShapeNode, faults: Faults): void {
  const formats = memberNode(node, 'formats')
  if (formats !== undefined && protocol !== 'openai')
    faults.add(formats, `formats with the protocol "${protocol}"`, 'formats only with the protocol "openai"')
  const promptCache = memberNode(node, 'prompt_cache')
  if (promptCache !== undefined && protocol !== 'anthropic')
    faults.add(promptCache, `prompt_cache with the protocol "${protocol}"`, 'prompt_cache only with "anthropic"')
  const overrides = memberNode(node, 'overrides')
  const system = overrides?.members().find(({ name }) => name === 'system')
  if (system !== undefined && protocol === 'anthropic')
    faults.add(
      system.at,
      'a system text that would replace that of callers',
      'any request field except "system" with the protocol "anthropic"',
    )
}

function addMissingAddress(node: ShapeNode, id: string, faults: Faults): void {
  const nearest = nearestName(id, brandIds) ?? brandIds.find((brand) => id.startsWith(brand))
  const question = nearest === undefined ? '' : ` (did you mean "brand": "${nearest}"?)`
  faults.add(
    { offset: node.offset, path: joinPath(node.path, 'base_url') },
    'nothing',
    `an http or https URL; it may be left out only when "id" or "brand" is in the catalogue${question}`,
  )
}
