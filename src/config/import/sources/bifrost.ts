import type { PlannedAccount } from '../plan.ts'
import { baseUrlOf, isModelName, variableOf, type FoundAccount } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'
import { providerNamed } from './known-providers.ts'
import { countAt, takenHeaders, keyFrom, millisecondsOf, noteKey, retriesAt, textAt } from './read-values.ts'
import { noteMembers, type ImportSource, type Reading } from './source.ts'

/** The `config.json` of Bifrost: providers with keys. Its fallbacks stand in requests. */
export const bifrost: ImportSource = {
  name: 'bifrost',
  syntax: 'json',
  looksLike: (root) =>
    [...(root.get('providers')?.members.values() ?? [])].some((each) => each.get('keys')?.kind === 'array'),
  read(reading) {
    const { root, findings } = reading
    noteMembers(findings, root, {
      $schema: ['exact', 'of the file'],
      version: ['exact', 'of the file'],
      client: ['unsupported', 'svc has logs and limits of its own (docs/configuration.md)'],
      encryption_key: ['unsupported', 'svc encrypts conversations alone'],
      config_store: ['unsupported', 'svc has its configuration in files'],
      logs_store: ['unsupported', 'svc has a ledger of its own (docs/ledger.md)'],
      vector_store: ['unsupported', 'svc keeps no answers'],
      governance: ['manual', 'keys, teams and limits are made anew (docs/keys.md, docs/limits.md)'],
      mcp: ['unsupported', 'svc serves no tools'],
      plugins: ['unsupported', 'its own plugins'],
      framework: ['unsupported', 'svc has prices of its own (docs/prices.md)'],
    })
    const isStrict = (root.get('version')?.number ?? 1) >= 2
    for (const [name, entry] of root.get('providers')?.members ?? []) readProvider(name, entry, reading, isStrict)
  },
}

function readProvider(name: string, entry: SourceNode, reading: Reading, isStrict: boolean): void {
  const { findings } = reading
  const base = textAt(entry, 'custom_provider_config', 'base_provider_type')
  const known = providerNamed(base ?? name)
  const address = textAt(entry, 'network_config', 'base_url')
  const baseUrl = withVersion(baseUrlOf(address), known?.protocol)
  if (known === undefined || (address !== undefined && baseUrl === undefined))
    return findings.note(entry, 'manual', `svc does not know "${base ?? name}": add the provider by hand`)
  const brand = address === undefined && base === undefined ? known.brand : undefined
  const common = commonOf(name, entry, { brand, protocol: known.protocol, baseUrl }, findings)
  const weight = (key: SourceNode) => key.get('weight')?.number ?? 0
  const keys = entry.get('keys')?.items ?? []
  for (const key of keys.toSorted((one, other) => weight(other) - weight(one))) readKey(key, common, reading, isStrict)
  findings.note(entry, 'unsupported', 'svc has no such setting')
}

/** Each key is an account with models of its own. */
function readKey(key: SourceNode, common: FoundAccount, { findings, plan }: Reading, isStrict: boolean): void {
  const id = textAt(key, 'name') ?? common.id
  const account = plan.account({ ...common, key: keyFrom(textAt(key, 'value'), variableOf({ ...common, id })) })
  const models = (key.get('models')?.items ?? []).flatMap(({ text }) => text ?? [])
  const isAll = models.includes('*') || (models.length === 0 && !isStrict)
  noteKey(findings, key.get('value'), account)
  findings.note(
    key.get('weight'),
    'approximate',
    'svc asks the heavier key first, and does not spread requests',
    account,
  )
  findings.note(key.get('name'), 'exact', undefined, account)
  noteMembers(findings, key, {
    id: ['unsupported', 'its own'],
    use_for_batch_api: ['unsupported', 'svc has no batches'],
  })
  if (isAll) {
    plan.addOpen(account)
    findings.note(key.get('models'), 'approximate', 'all models of its list', account)
    findings.note(key.get('aliases'), 'manual', 'an alias beside all models: list its models', account)
  } else addModels(key, account, { findings, plan })
}

function addModels(
  key: SourceNode,
  account: PlannedAccount,
  { findings, plan }: Pick<Reading, 'findings' | 'plan'>,
): void {
  const models = (key.get('models')?.items ?? []).flatMap(({ text }) => (isModelName(text) ? [text] : []))
  for (const model of models) plan.add({ account, name: model, upstream: upstreamOf(model, key) })
  findings.note(key.get('models'), models.length === 0 ? 'unsupported' : 'exact', undefined, account)
  for (const [alias, node] of key.get('aliases')?.members ?? []) {
    if (isModelName(alias) && isModelName(node.text)) {
      plan.add({ account, name: alias, upstream: node.text })
      findings.note(node, 'exact', undefined, account)
    } else findings.note(node, 'manual', 'no name of a model', account)
  }
}

function upstreamOf(model: string, key: SourceNode): string {
  const mapped = key.at('aliases', model)?.text
  return isModelName(mapped) ? mapped : model
}

/** Bifrost adds the version itself. */
function withVersion(base: string | undefined, protocol: string | undefined): string | undefined {
  if (base === undefined || base.startsWith('$') || new URL(base).pathname !== '/') return base
  return protocol === 'gemini' ? `${base}/v1beta` : `${base}/v1`
}

function commonOf(
  name: string,
  entry: SourceNode,
  found: Pick<FoundAccount, 'brand' | 'protocol' | 'baseUrl'>,
  findings: Reading['findings'],
): FoundAccount {
  const network = entry.get('network_config')
  const timeout = network?.get('default_request_timeout_in_seconds')
  const headers = takenHeaders(network?.get('extra_headers'), findings)
  findings.note(network?.get('base_url'), 'exact')
  findings.note(timeout, 'approximate', 'as timeouts.attempt_ms, without a stream')
  findings.note(network?.get('max_retries'), 'approximate', 'as retries at this provider, 5 at most')
  findings.note(network, 'approximate', 'svc waits between repeats as the provider says')
  const sizes = entry.get('concurrency_and_buffer_size')
  findings.note(sizes?.get('concurrency'), 'approximate', 'as max_concurrent: above it the next provider is asked')
  findings.note(sizes?.get('buffer_size'), 'unsupported', 'requests do not wait for a provider')
  findings.note(entry.at('custom_provider_config', 'base_provider_type'), 'exact')
  return {
    id: found.brand ?? name,
    ...found,
    headers,
    attemptMs: millisecondsOf(timeout),
    retries: retriesAt(network, 'max_retries'),
    maxConcurrent: countAt(sizes, 'concurrency'),
  }
}
