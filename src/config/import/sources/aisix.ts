import type { PlannedAccount, PlannedModel } from '../plan.ts'
import { baseUrlOf, isModelName, variableOf } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'
import { providerNamed, type NamedProvider } from './known-providers.ts'
import { keyFrom, millisecondsOf, noteKey, priceAt, textAt } from './read-values.ts'
import { noteMembers, type ImportSource, type Reading } from './source.ts'

/** The `resources.yaml` of AISIX. */
export const aisix: ImportSource = {
  name: 'aisix',
  syntax: 'yaml',
  looksLike: (root) => root.get('_format_version') !== undefined || root.get('provider_keys') !== undefined,
  read(reading) {
    const { root, findings } = reading
    findings.note(root.get('_format_version'), 'exact', 'of the file')
    const keys = new Map(
      (root.get('provider_keys')?.items ?? []).flatMap((entry) => [
        [entry.get('display_name')?.text ?? '', entry] as const,
      ]),
    )
    const models = root.get('models')?.items ?? []
    const direct = new Map<string, PlannedModel>()
    for (const entry of models) {
      const model = entry.get('routing') === undefined ? readModel(entry, keys, reading) : undefined
      if (model !== undefined) direct.set(model.name, model)
    }
    for (const entry of models) if (entry.get('routing') !== undefined) readRoute(entry, direct, reading)
    for (const entry of root.get('api_keys')?.items ?? []) readCaller(entry, reading)
    for (const name of ['guardrails', 'mcp_servers', 'a2a_agents', 'cache_policies', 'observability_exporters'])
      findings.note(root.get(name), 'unsupported', 'svc has none')
    findings.note(root.get('rate_limit_policies'), 'manual', 'limits stand in access.json (docs/limits.md)')
  },
}

function readModel(
  entry: SourceNode,
  keys: ReadonlyMap<string, SourceNode>,
  reading: Reading,
): PlannedModel | undefined {
  const { findings, plan } = reading
  const name = entry.get('display_name')?.text
  const upstream = entry.get('model_name')?.text
  const key = keys.get(entry.get('provider_key')?.text ?? '')
  const account = key && isModelName(name) && isModelName(upstream) ? accountOf(entry, key, reading) : undefined
  if (account === undefined || !isModelName(name) || !isModelName(upstream)) {
    findings.note(
      entry,
      'manual',
      key === undefined
        ? 'a model without a provider_key of the file'
        : 'a provider that svc does not know: add it by hand',
    )
    return undefined
  }
  const price = priceAt(entry.get('cost'), perThousand, 1_000)
  const model = { account, name, upstream, price }
  if (price !== undefined) findings.note(entry.get('cost'), 'exact', 'in price', model)
  plan.add(model)
  for (const each of ['display_name', 'provider', 'model_name', 'provider_key'])
    findings.note(entry.get(each), 'exact', undefined, model)
  findings.note(entry.get('timeout'), 'approximate', 'as timeouts.attempt_ms, without a stream', model)
  noteMembers(findings, entry, {
    background_model_check: ['unsupported', 'svc asks a provider that failed again by itself (docs/failover.md)'],
    cooldown: ['unsupported', 'svc has rules of its own for providers that fail (docs/failover.md)'],
    rate_limit: ['manual', 'limits stand in access.json (docs/limits.md)'],
  })
  return model
}

function accountOf(entry: SourceNode, key: SourceNode, { findings, plan }: Reading): PlannedAccount | undefined {
  const provider = textAt(key, 'provider') ?? textAt(entry, 'provider') ?? ''
  const adapter = textAt(key, 'adapter') ?? 'openai'
  const address = textAt(key, 'api_base')
  const baseUrl = baseUrlOf(address)
  const own: NamedProvider | undefined =
    baseUrl !== undefined && /^(?:openai|anthropic)$/.test(adapter) ? { protocol: protocolOf(adapter) } : undefined
  const known = providerNamed(provider) ?? own
  if (known === undefined || (address !== undefined && baseUrl === undefined)) return undefined
  const id = known.brand ?? textAt(key, 'display_name') ?? provider
  const names = { ...known, id, brand: baseUrl === undefined ? known.brand : undefined }
  const attemptMs = millisecondsOf(entry.get('timeout'), 1)
  const account = plan.account({
    ...names,
    baseUrl,
    key: keyFrom(textAt(key, 'api_key'), variableOf(names)),
    attemptMs,
  })
  for (const each of ['display_name', 'provider', 'adapter', 'api_base'])
    findings.note(key.get(each), 'exact', undefined, account)
  noteKey(findings, key.get('api_key'), account)
  return account
}

function protocolOf(adapter: string): 'anthropic' | undefined {
  return adapter === 'anthropic' ? 'anthropic' : undefined
}

/** Prices are of a thousand tokens. */
const perThousand = [
  ['input_per_1k', 'input'],
  ['output_per_1k', 'output'],
] as const

function readRoute(entry: SourceNode, direct: ReadonlyMap<string, PlannedModel>, { findings, plan }: Reading): void {
  const name = textAt(entry, 'display_name')
  const routing = entry.get('routing')
  const isOrdered = (textAt(routing, 'strategy') ?? 'failover') === 'failover'
  if (!isModelName(name) || direct.has(name))
    return findings.note(entry, 'manual', 'a routing model without a name of its own')
  const rank = (target: SourceNode) =>
    isOrdered ? (target.get('priority')?.number ?? 0) : -(target.get('weight')?.number ?? 1)
  const targets = routing?.get('targets')?.items ?? []
  for (const target of targets.toSorted((one, other) => rank(one) - rank(other))) {
    const model = direct.get(textAt(target, 'model') ?? '')
    if (model !== undefined) plan.add(model, name)
    else findings.note(target, 'manual', 'a target that is no model of the file that svc has')
    for (const each of ['model', 'priority']) findings.note(target.get(each), 'exact', undefined, model)
    findings.note(
      target.get('weight'),
      'approximate',
      'svc asks the heavier target first, and does not spread requests',
    )
  }
  findings.note(entry.get('display_name'), 'exact')
  findings.note(
    routing?.get('strategy'),
    isOrdered ? 'exact' : 'approximate',
    isOrdered ? undefined : 'svc asks in order',
  )
  findings.note(routing, 'approximate', 'svc has rules of its own for failures (docs/failover.md)')
}

/** svc takes keys of its own form alone. */
function readCaller(entry: SourceNode, { findings }: Reading): void {
  findings.note(entry.get('rate_limit'), 'manual', 'a limit of the new key in access.json (docs/limits.md)')
  findings.note(entry, 'manual', 'make the key with "svc keys make" (docs/keys.md)')
}
