import { modalities } from '../../file/rules.ts'
import type { PlannedModel } from '../plan.ts'
import { baseUrlOf, isModelName, variableOf, type FoundAccount } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'
import { providerNamed, type NamedProvider } from './known-providers.ts'
import { countAt, keyFrom, millisecondsOf, noteKey, priceAt, textAt } from './read-values.ts'
import { noteMembers, type ImportSource, type Reading } from './source.ts'

type CommonSettings = Pick<FoundAccount, 'attemptMs'>

/** Fields that llms.py sends in place of those of callers. */
const overridden: ReadonlySet<string> = new Set([
  ...[
    'temperature',
    'top_p',
    'frequency_penalty',
    'presence_penalty',
    'max_completion_tokens',
    'max_tokens',
    'n',
    'seed',
    'stop',
  ],
  ...['parallel_tool_calls', 'prompt_cache_key', 'reasoning_effort', 'safety_identifier', 'service_tier', 'store'],
  ...['top_logprobs', 'verbosity', 'enable_thinking'],
])

/** The `llms.json` of llms.py. The order of its providers is the order in which they are asked. */
export const llms: ImportSource = {
  name: 'llms',
  syntax: 'json',
  looksLike: (root) =>
    root.get('providers')?.kind === 'object' &&
    root.get('client') === undefined &&
    [...(root.get('providers')?.members.values() ?? [])].some(
      (each) => each.get('keys') === undefined && each.get('enabled') !== undefined,
    ),
  read(reading) {
    const { root, findings } = reading
    const timeout = root.at('limits', 'client_timeout')
    const attemptMs = millisecondsOf(timeout)
    findings.note(timeout, 'approximate', 'as timeouts.attempt_ms, without a stream')
    findings.note(root.at('limits', 'client_max_size'), 'manual', 'limits.body_bytes')
    noteMembers(findings, root, {
      version: ['exact', 'of the file'],
      $schema: ['exact', 'of the file'],
      limits: ['unsupported', 'svc asks each provider once, or as its retries say'],
      defaults: ['unsupported', 'settings of its page'],
      convert: ['unsupported', 'svc sends pictures as they are'],
      loading: ['unsupported', 'texts of its page'],
      disable_extensions: ['unsupported', 'its own extensions'],
    })
    for (const [name, entry] of root.get('providers')?.members ?? []) readProvider(name, entry, reading, { attemptMs })
  },
}

function readProvider(name: string, entry: SourceNode, { findings, plan }: Reading, common: CommonSettings): void {
  const found = accountAt(name, entry)
  if (found === undefined) {
    const shown = textAt(entry, 'id') ?? name
    return findings.note(entry, 'manual', `svc does not know "${shown}": add the provider by hand`)
  }
  const fields = Array.from(entry.members).filter(([field]) => overridden.has(field))
  const overrides = Object.fromEntries(fields.map(([field, node]) => [field, node.plain]))
  const enabled = entry.get('enabled')?.value === false ? false : undefined
  const account = plan.account({ ...found, ...common, overrides, enabled })
  for (const [, node] of fields) findings.note(node, 'exact', 'in overrides', account)
  for (const each of ['enabled', 'id', 'npm', 'api', 'env']) findings.note(entry.get(each), 'exact', undefined, account)
  noteKey(findings, entry.get('api_key'), account)
  noteMembers(findings, entry, {
    name: ['unsupported', 'providers are named by their ids'],
    include_models: ['manual', 'patterns: list the models in models'],
    exclude_models: ['manual', 'patterns: list the models in models'],
    check: ['approximate', 'svc check asks for one token'],
    stream: ['approximate', 'svc streams where the caller does'],
    headers: ['manual', 'in headers of the provider'],
  })
  const models = modelsOf(entry, account, findings)
  if (models.length === 0) plan.addOpen(account)
  for (const model of models) plan.add(model)
}

/** Undefined: svc does not know it. */
function accountAt(name: string, entry: SourceNode): FoundAccount | undefined {
  const address = textAt(entry, 'api')
  const baseUrl = baseUrlOf(address)
  if (address !== undefined && baseUrl === undefined) return undefined
  const own = baseUrl === undefined ? undefined : { protocol: protocolOf(textAt(entry, 'npm') ?? '') }
  const known: NamedProvider | undefined = providerNamed(textAt(entry, 'id') ?? name) ?? own
  if (known === undefined) return undefined
  const names = { ...known, id: known.brand ?? name }
  const [variable] = entry.get('env')?.items ?? []
  const key = textAt(entry, 'api_key') ?? (variable?.text === undefined ? undefined : `$${variable.text}`)
  return { ...names, baseUrl, key: keyFrom(key, variableOf(names)) }
}

function protocolOf(npm: string): NamedProvider['protocol'] {
  if (npm.includes('anthropic')) return 'anthropic'
  return npm.includes('google') ? 'gemini' : undefined
}

/** Models by `map_models`, which is a list of those that are allowed, else by `models`. */
function modelsOf(
  entry: SourceNode,
  account: PlannedModel['account'],
  findings: Reading['findings'],
): readonly PlannedModel[] {
  const described = entry.get('models')
  const mapped = entry.get('map_models')
  const factsAt = (id: string) => factsOf(described?.get(id), findings)
  const pairs: [name: string, upstream: string][] = []
  for (const [name, node] of mapped?.members ?? []) {
    const upstream = node.text
    if (isModelName(name) && isModelName(upstream)) {
      pairs.push([name, upstream])
      findings.note(node, 'exact', undefined, account)
    } else findings.note(node, 'manual', 'no name of a model')
  }
  if (mapped === undefined)
    for (const id of described?.members.keys() ?? [])
      if (isModelName(id)) pairs.push([id, described?.get(id)?.get('id')?.text ?? id])
  const models = pairs.map(([name, upstream]) => ({ account, name, upstream, ...factsAt(upstream) }))
  findings.note(described, 'unsupported', 'svc does not need it')
  return models
}

const prices = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cached_input'],
  ['cache_write', 'cache_write'],
] as const

function factsOf(node: SourceNode | undefined, findings: Reading['findings']): Partial<PlannedModel> {
  const cost = node?.get('cost')
  const price = priceAt(cost, prices, 1)
  if (price !== undefined) for (const [name] of prices) findings.note(cost?.get(name), 'exact', 'in price')
  findings.note(node?.get('id'), 'exact')
  findings.note(node?.at('limit', 'context'), 'exact', 'in context')
  findings.note(node?.at('limit', 'output'), 'exact', 'in max_output')
  const input = inputsOf(node)
  if (input !== undefined) findings.note(node?.at('modalities', 'input'), 'exact', 'in input')
  return { price, context: countAt(node, 'limit', 'context'), maxOutput: countAt(node, 'limit', 'output'), input }
}

function inputsOf(node: SourceNode | undefined): readonly string[] | undefined {
  const inputs = (node?.at('modalities', 'input')?.items ?? []).map(({ text }) => (text === 'pdf' ? 'file' : text))
  const known = modalities.filter((each) => inputs.includes(each))
  return known.length === 0 ? undefined : known
}
