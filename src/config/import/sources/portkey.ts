import type { JsonObject } from '../../../base/json-value.ts'
import type { PlannedAccount, PlannedModel } from '../plan.ts'
import { baseUrlOf, hostId, isModelName, variableOf, type FoundAccount } from '../planner.ts'
import { present } from '../present.ts'
import type { SourceNode } from '../source-tree.ts'
import { providerNamed } from './known-providers.ts'
import { keyFrom, millisecondsOf, noteKey, retriesAt, textAt, withoutSecrets } from './read-values.ts'
import { noteMembers, type ImportSource, type Notes, type Reading } from './source.ts'

/** Members may be written with underscores or in camelCase. */
function member(node: SourceNode, name: string): SourceNode | undefined {
  return node.get(name) ?? node.get(name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
}

/** A config of Portkey: targets with strategies. It has no names for callers, so those of its models are. */
export const portkey: ImportSource = {
  name: 'portkey',
  syntax: 'json',
  looksLike: (root) =>
    root.get('targets') !== undefined || (root.get('strategy') !== undefined && root.get('providers') === undefined),
  read(reading) {
    const { root, findings } = reading
    const strategy = root.get('strategy')
    if (textAt(strategy, 'mode') !== 'conditional') return addChain(stepsOf(root, reading, {}), reading)
    findings.note(strategy, 'manual', `${byName}: its targets are there, each by the name of its own model`)
    noteMembers(findings, root, notes)
    const settings = settingsOf(root, reading)
    for (const target of root.get('targets')?.items ?? []) addChain(stepsOf(target, reading, settings), reading)
  },
}

const byName = 'svc chooses by the name of the model alone'

/** Each target is asked for each name of the chain, with its own model. Callers of one without a model name theirs. */
function addChain(steps: readonly Step[], { plan }: Reading): void {
  const names = [...new Set(steps.flatMap(({ name }) => name ?? []))]
  for (const { account, model, name } of steps) {
    if (name === undefined) plan.addOpen(account)
    else for (const each of names) plan.add({ ...model, name: each }, each)
  }
}

interface Step {
  readonly account: PlannedAccount
  readonly model: PlannedModel
  /** Undefined: the caller names the model. */
  readonly name: string | undefined
}

const spread = 'svc asks the heavier target first, and does not spread requests'
const notes: Notes = {
  cache: ['unsupported', 'svc keeps no answers'],
  metadata: ['unsupported', 'requests have names of keys and people'],
  input_guardrails: ['unsupported', 'svc has no guardrails'],
  output_guardrails: ['unsupported', 'svc has no guardrails'],
  before_request_hooks: ['unsupported', 'svc has no guardrails'],
  after_request_hooks: ['unsupported', 'svc has no guardrails'],
  strict_open_ai_compliance: ['approximate', 'svc gives each caller the format of its request'],
  name: ['exact', 'a name within the file'],
}

function stepsOf(node: SourceNode, reading: Reading, inherited: JsonObject): readonly Step[] {
  const { findings } = reading
  const strategy = node.get('strategy')
  const mode = strategy?.get('mode')
  const isLoaded = mode?.text === 'loadbalance'
  if (mode?.text === 'conditional') {
    findings.note(node, 'manual', `${byName}: conditions within a chain cannot be taken over`)
    return []
  }
  findings.note(mode, isLoaded ? 'approximate' : 'exact', isLoaded ? spread : undefined)
  findings.note(
    strategy && member(strategy, 'on_status_codes'),
    'approximate',
    'svc has rules of its own for each status (docs/failover.md)',
  )
  noteMembers(findings, node, notes)
  const settings = { ...inherited, ...settingsOf(node, reading) }
  const targets = node.get('targets')
  if (targets === undefined) return stepOf(node, reading, settings)
  const weight = (each: SourceNode) => each.get('weight')?.number ?? 0
  const ordered = isLoaded ? targets.items.toSorted((one, other) => weight(other) - weight(one)) : targets.items
  for (const each of targets.items)
    findings.note(each.get('weight'), isLoaded ? 'approximate' : 'unsupported', isLoaded ? spread : 'without effect')
  return ordered.flatMap((each) => stepsOf(each, reading, settings))
}

/** Settings that targets within have, too. */
function settingsOf(node: SourceNode, { findings }: Reading): JsonObject {
  const retry = node.get('retry')
  const timeout = member(node, 'request_timeout')
  const attemptMs = millisecondsOf(timeout, 1)
  findings.note(timeout, 'approximate', 'as timeouts.attempt_ms, without a stream')
  findings.note(retry?.get('attempts'), 'approximate', 'as retries at this provider, 5 at most')
  findings.note(retry, 'approximate', 'svc repeats after 429 and 5xx alone, and waits as the provider says')
  return present({ retries: retriesAt(retry, 'attempts'), attemptMs })
}

function stepOf(node: SourceNode, { findings, plan }: Reading, settings: JsonObject): readonly Step[] {
  const found = accountAt(node)
  if (typeof found === 'string') {
    findings.note(node, 'manual', found)
    return []
  }
  const params = member(node, 'override_params')
  const { model, ...given } = params?.plainMembers ?? {}
  const { fields: overrides, hasSecrets } = withoutSecrets(given)
  const account = plan.account({ ...found, overrides, ...settings })
  const upstream = typeof model === 'string' && isModelName(model) ? model : undefined
  if (upstream === undefined)
    findings.note(node.get('provider'), 'approximate', 'callers name the model: all models of its list', account)
  for (const each of ['provider', 'custom_host']) findings.note(member(node, each), 'exact', undefined, account)
  noteKey(findings, member(node, 'api_key'), account)
  if (hasSecrets) findings.note(params, 'manual', 'fields that may hold secrets: write them into overrides by hand')
  else findings.note(params, 'exact', 'in overrides', account)
  return [{ account, model: { account, name: upstream ?? '', upstream: upstream ?? '' }, name: upstream }]
}

/** The account of a target, or what is to be done by hand. */
function accountAt(node: SourceNode): FoundAccount | string {
  if (member(node, 'virtual_key') !== undefined)
    return 'a virtual key is known to Portkey alone: add the provider by hand'
  const provider = textAt(node, 'provider')?.replace(/^@/, '')
  if (provider === undefined) return 'a target without a provider'
  const named = providerNamed(provider)
  const host = member(node, 'custom_host')
  const baseUrl = baseUrlOf(host?.text)
  if (host !== undefined && baseUrl === undefined) return 'a custom_host that is no http or https URL'
  if (named === undefined) return `svc does not know "${provider}": add the provider by hand`
  const names = baseUrl === undefined ? { brand: named.brand, id: provider } : { id: hostId(baseUrl) }
  const key = keyFrom(member(node, 'api_key')?.text, variableOf(names))
  return { ...names, protocol: named.protocol, baseUrl, key }
}
