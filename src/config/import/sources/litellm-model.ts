import { findBrand } from '../../catalogue.ts'
import type { PlannedKey, PlannedModel } from '../plan.ts'
import { baseUrlOf, hostId, isModelName, variableOf, type FoundAccount } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'
import { readDefaults } from './litellm-defaults.ts'
import { guessedPrefix, prefixes, type Prefix } from './litellm-prefixes.ts'
import {
  countAt,
  takenHeaders,
  keyFrom,
  keyOf,
  millisecondsOf,
  noteKey,
  priceAt,
  retriesAt,
  textAt,
} from './read-values.ts'
import type { Reading } from './source.ts'

/** Settings of the whole file that each account gets, unless it has its own. */
export type CommonSettings = Pick<FoundAccount, 'attemptMs' | 'firstTokenMs' | 'retries'>

/** A deployment of `model_list`. */
export interface Deployment {
  /** `model_name`: callers ask for a group of deployments. */
  readonly group: string
  /** Undefined: the account offers all models of its list. */
  readonly model: PlannedModel | undefined
  readonly account: PlannedModel['account']
  /** Smaller is asked first. */
  readonly order: number
  /** Heavier is asked first. */
  readonly weight: number
  readonly node: SourceNode
}

const own = 'LiteLLM’s own, for its pages and its routing'
const inOrder = 'svc asks the heavier one first and does not spread requests'

interface Settings {
  readonly common: CommonSettings
  readonly credentials: ReadonlyMap<string, SourceNode>
}

/** Reads an entry of `model_list`. @returns `undefined` for one that is to be set up by hand */
export function readDeployment(entry: SourceNode, reading: Reading, settings: Settings): Deployment | undefined {
  const { findings, plan } = reading
  const params = new Params(entry.get('litellm_params') ?? entry, settings.credentials, findings)
  const target = targetOf(entry, params)
  if (typeof target === 'string') {
    findings.note(entry, 'manual', target)
    return undefined
  }
  const { group, name, way, baseUrl, wild } = target
  const isBrands = baseUrl === undefined || way.brand === 'ollama'
  const brand = isBrands ? way.brand : undefined
  const found: FoundAccount = {
    ...{ id: brand ?? hostId(baseUrl ?? ''), brand, protocol: way.protocol, baseUrl },
    ...settings.common,
    ...accountSettings(params, way, findings),
  }
  const account = plan.account({ ...found, key: keyOfDeployment(params, way, found) })
  const model =
    wild === undefined ? { account, name: group, upstream: name, ...factsOf(entry.get('model_info')) } : undefined
  noteDeployment(entry, params, { ...target, findings, part: model ?? account })
  return {
    ...{ group, model, account, node: entry },
    order: params.of('order')?.number ?? Infinity,
    weight: weightOf(params),
  }
}

function weightOf(params: Params): number {
  const [weight, requests, tokens] = ['weight', 'rpm', 'tpm'].map((name) => params.of(name)?.number)
  return weight ?? requests ?? (tokens ?? 0) / 1_000
}

interface FoundTarget {
  readonly group: string
  /** The provider's name for the model. */
  readonly name: string
  readonly isGuessed: boolean
  readonly way: Prefix
  readonly baseUrl: string | undefined
  readonly wild: 'all' | undefined
}

/** Where a deployment is, or what is to be done by hand. */
function targetOf(entry: SourceNode, params: Params): FoundTarget | string {
  const group = textAt(entry, 'model_name')
  const model = textAt(entry, 'litellm_params', 'model')
  if (model === undefined) return 'an entry without litellm_params.model'
  if (group === undefined || (!isModelName(group) && group !== '*')) return 'a model_name that is no name of a model'
  const { prefix, name, isGuessed } = split(model, params.of('custom_llm_provider')?.text)
  if (prefix === undefined) return 'a model without a prefix whose provider is not known: add it by hand'
  const way = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  if (prefix === 'os.environ') return 'the name of the model stands in a variable: add it by hand'
  if (way === undefined) return `svc does not know "${prefix}": add the provider by hand`
  const baseUrl = addressOf(params, way)
  if (baseUrl === null) return 'an api_base that is no http or https URL, has a password or a query, or is missing'
  const wild = wildcard(group, name)
  if (wild === 'rewritten') return 'a pattern that changes names: list its models by hand'
  return { group, name, isGuessed, way, baseUrl, wild }
}

/** `litellm_params`, with what its named credential adds. */
class Params {
  readonly node: SourceNode
  readonly #credential: SourceNode | undefined

  constructor(node: SourceNode, credentials: ReadonlyMap<string, SourceNode>, findings: Reading['findings']) {
    this.node = node
    const name = node.get('litellm_credential_name')
    this.#credential = credentials.get(name?.text ?? '')
    if (this.#credential === undefined) findings.note(name, 'manual', 'a credential that is not in credential_list')
    else {
      findings.note(name, 'exact')
      for (const each of ['api_key', 'api_base', 'organization'])
        findings.note(this.#credential.get(each), 'exact', 'where it is named')
    }
  }

  of(name: string): SourceNode | undefined {
    return this.node.get(name) ?? this.#credential?.get(name)
  }
}

function split(model: string, named: string | undefined) {
  const slash = model.indexOf('/')
  const first = slash === -1 ? undefined : model.slice(0, slash)
  const rest = model.slice(slash + 1)
  if (first !== undefined && (first === named || Object.hasOwn(prefixes, first) || named === undefined))
    return { prefix: first, name: rest, isGuessed: false }
  if (named !== undefined) return { prefix: named, name: model, isGuessed: false }
  return { prefix: guessedPrefix(model), name: model, isGuessed: true }
}

/** Null: it is none, or missing. */
function addressOf(params: Params, { isServer, suffix = '', brand }: Prefix): string | undefined | null {
  const text = (params.of('api_base') ?? params.of('base_url'))?.text
  if (text === undefined) return isServer === undefined || brand !== undefined ? undefined : null
  const variable = variableName(text)
  if (variable !== undefined) return suffix === '' ? `$${variable}` : null
  const base = baseUrlOf(text)
  return base === undefined ? null : base.endsWith(suffix) ? base : base + suffix
}

function variableName(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1]
}

function keyOfDeployment(params: Params, { variable }: Prefix, account: FoundAccount): PlannedKey | undefined {
  const text = params.of('api_key')?.text
  if (text !== undefined) return keyFrom(text, variableOf(account))
  const hasKeys = account.brand !== undefined && (findBrand(account.brand)?.keys.length ?? 0) > 0
  return variable !== undefined && hasKeys ? { variable } : undefined
}

function wildcard(group: string, name: string): 'all' | 'rewritten' | undefined {
  if (!group.includes('*') && !name.includes('*')) return undefined
  return name === '*' && /^(?:\*|[^*]*\/\*)$/.test(group) ? 'all' : 'rewritten'
}

function accountSettings(params: Params, { protocol }: Prefix, findings: Reading['findings']): Partial<FoundAccount> {
  const organization = params.of('organization')?.text
  const own = {
    attemptMs: millisecondsOf(params.of('timeout') ?? params.of('request_timeout')),
    firstTokenMs: millisecondsOf(params.of('stream_timeout')),
    retries: retriesAt(params.of('max_retries') ?? params.of('num_retries')),
    maxConcurrent: countAt(params.of('max_parallel_requests')),
  }
  return {
    headers: {
      ...takenHeaders(params.of('extra_headers') ?? params.of('headers'), findings),
      ...(organization === undefined ? {} : { 'openai-organization': keyOf(organization).shown }),
    },
    defaults: readDefaults(params.node, protocol, findings),
    // Those of the whole file hold otherwise.
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  }
}

const perToken = [
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cached_input'],
  ['cache_creation_input_token_cost', 'cache_write'],
  ['output_cost_per_reasoning_token', 'reasoning'],
] as const

function factsOf(info: SourceNode | undefined): Partial<PlannedModel> {
  const vision = info?.get('supports_vision')?.value
  return {
    price: priceAt(info, perToken, 1e6),
    context: countAt(info, 'max_input_tokens'),
    maxOutput: countAt(info, 'max_output_tokens') ?? countAt(info, 'max_tokens'),
    input: typeof vision === 'boolean' ? (vision ? ['text', 'image'] : ['text']) : undefined,
  }
}

interface Noted {
  readonly findings: Reading['findings']
  readonly part: PlannedModel | PlannedModel['account']
  readonly isGuessed: boolean
  readonly wild: 'all' | undefined
}

function noteDeployment(entry: SourceNode, { node }: Params, { findings, part, isGuessed, wild }: Noted): void {
  const info = entry.get('model_info')
  const exact = (each: SourceNode | undefined, message?: string) => findings.note(each, 'exact', message, part)
  const near = (each: SourceNode | undefined, message: string) => findings.note(each, 'approximate', message, part)
  if (wild === undefined) {
    exact(entry.get('model_name'))
    if (isGuessed && node.get('model')?.text?.startsWith('gemini-') === true)
      near(node.get('model'), 'LiteLLM would ask Vertex AI; svc asks Gemini')
    else exact(node.get('model'))
  } else {
    const isPinned = entry.get('model_name')?.text === `${'id' in part ? part.id : ''}/*`
    const message = isPinned
      ? 'with the id of the provider before a name, no other is asked'
      : 'all models of its list, by their own names'
    for (const each of [entry.get('model_name'), node.get('model')])
      findings.note(each, isPinned ? 'exact' : 'approximate', message, part)
  }
  for (const name of ['api_base', 'base_url', 'organization', 'custom_llm_provider']) exact(node.get(name))
  noteKey(findings, node.get('api_key'), part)
  exact(node.get('order'))
  for (const name of ['weight', 'rpm', 'tpm']) near(node.get(name), `${inOrder}; it is no limit`)
  near(node.get('max_parallel_requests'), 'as max_concurrent of the provider: above it the next one is asked')
  near(node.get('timeout'), 'as timeouts.attempt_ms, without a stream')
  near(node.get('request_timeout'), 'as timeouts.attempt_ms, without a stream')
  near(node.get('stream_timeout'), 'as timeouts.first_token_ms')
  for (const name of ['max_retries', 'num_retries']) near(node.get(name), 'as retries at this provider, 5 at most')
  near(node.get('drop_params'), 'svc leaves out what a model is known to refuse')
  near(node.get('additional_drop_params'), 'svc leaves out what a model is known to refuse, and learns from refusals')
  for (const name of [
    'use_in_pass_through',
    'tags',
    'id',
    'model_info',
    'mock_response',
    'merge_reasoning_content_in_choices',
  ])
    findings.note(node.get(name), 'unsupported', own)
  noteInfo(info, findings, part)
}

function noteInfo(info: SourceNode | undefined, findings: Reading['findings'], part: object): void {
  const hasPrice = priceAt(info, perToken, 1) !== undefined
  const [status, message] = hasPrice
    ? (['exact', undefined] as const)
    : (['manual', 'input and output together'] as const)
  for (const [name] of perToken) findings.note(info?.get(name), status, message, part)
  for (const name of ['max_input_tokens', 'max_output_tokens', 'supports_vision'])
    findings.note(info?.get(name), 'exact', undefined, part)
  findings.note(info?.get('max_tokens'), 'approximate', 'as max_output', part)
  findings.note(info?.get('mode'), 'exact', 'the path of a request says it', part)
  findings.note(info?.get('base_model'), 'approximate', 'svc has prices by the name at the provider')
  for (const [name, node] of info?.members ?? [])
    if (name.startsWith('supports_'))
      findings.note(node, 'approximate', 'svc knows what models take, and learns from refusals')
  findings.note(info, 'unsupported', own)
}
