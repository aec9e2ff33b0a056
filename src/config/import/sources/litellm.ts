import type { PlannedAccount } from '../plan.ts'
import type { SourceNode } from '../source-tree.ts'
import { readDeployment, type CommonSettings, type Deployment } from './litellm-model.ts'
import { prefixes } from './litellm-prefixes.ts'
import { readFallbacks } from './litellm-routes.ts'
import { millisecondsOf } from './read-values.ts'
import { noteMembers, type ImportSource, type Notes, type Reading } from './source.ts'

/** LiteLLM's `config.yaml`. */
export const litellm: ImportSource = {
  name: 'litellm',
  syntax: 'yaml',
  looksLike: (root) => root.get('model_list') !== undefined,
  includes: (root) => root.get('include')?.items ?? [],
  read(reading) {
    const { root, findings } = reading
    for (const name of root.get('include')?.items ?? []) {
      if (reading.included.has(name.text ?? '')) findings.note(name, 'exact', 'read, too')
      else findings.note(name, 'manual', 'a file that is not in the folder of this one: import it by itself')
    }
    const roots = [root, ...reading.included.values()]
    const sections = (name: string) => roots.flatMap((each) => each.get(name) ?? [])
    const credentials = credentialsOf(sections('credential_list'), reading)
    const common = commonSettings(sections, reading)
    const deployments = sections('model_list')
      .flatMap(({ items }) => items)
      .flatMap((entry) => readDeployment(entry, reading, { common, credentials }) ?? [])
    addGroups(deployments, reading)
    readFallbacks(reading, { router: sections('router_settings'), module: sections('litellm_settings') })
    readBudgets(sections, reading)
    noteRest(sections, reading)
  },
}

/** Each name with its deployments: by `order`, then the heavier ones, then as in the file. */
function addGroups(deployments: readonly Deployment[], { plan, findings }: Reading): void {
  const ranked = deployments.toSorted(
    (one, other) => compare(one.order, other.order) || compare(other.weight, one.weight),
  )
  for (const group of new Set(deployments.map(({ group: name }) => name)))
    for (const { model, account, node } of ranked.filter(({ group: name }) => name === group)) {
      if (model !== undefined) plan.add(model)
      else if (!plan.open.includes(account)) plan.open.push(account)
      findings.note(node, 'unsupported', 'svc has no such setting')
    }
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}

function credentialsOf(lists: readonly SourceNode[], { findings }: Reading): ReadonlyMap<string, SourceNode> {
  const credentials = new Map<string, SourceNode>()
  for (const entry of lists.flatMap(({ items }) => items)) {
    const values = entry.get('credential_values')
    const name = entry.get('credential_name')
    if (name?.text !== undefined && values !== undefined) {
      credentials.set(name.text, values)
      findings.note(name, 'exact', 'where it is named')
    }
    findings.note(entry.get('credential_info'), 'unsupported', 'LiteLLM’s own')
  }
  return credentials
}

/** Times and repeats of the whole file. Those of the router hold before those of the module. */
function commonSettings(sections: (name: string) => readonly SourceNode[], { findings }: Reading): CommonSettings {
  const settings = [...sections('router_settings'), ...sections('litellm_settings')]
  const first = (...names: readonly string[]) => {
    const found = settings.flatMap((node) => names.flatMap((name) => node.get(name) ?? []))
    for (const other of found.slice(1)) findings.note(other, 'approximate', `that of ${found[0]?.path ?? ''} holds`)
    return found[0]
  }
  const timeout = first('timeout', 'request_timeout')
  const stream = first('stream_timeout')
  const retries = first('num_retries')
  findings.note(timeout, 'approximate', 'as timeouts.attempt_ms of each provider, without a stream')
  findings.note(stream, 'approximate', 'as timeouts.first_token_ms of each provider')
  findings.note(retries, 'approximate', 'as retries at each provider, 5 at most; LiteLLM repeats over the group')
  const [attemptMs, firstTokenMs, count] = [millisecondsOf(timeout), millisecondsOf(stream), retries?.number]
  return {
    ...(attemptMs === undefined ? {} : { attemptMs }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(count === undefined || count < 1 ? {} : { retries: Math.min(5, Math.floor(count)) }),
  }
}

const windows: Readonly<Record<string, string>> = {
  '1d': 'day',
  '24h': 'day',
  '7d': 'week',
  '1w': 'week',
  '30d': 'month',
  '1mo': 'month',
}

/** Limits of money of the whole proxy, and of providers. */
function readBudgets(sections: (name: string) => readonly SourceNode[], { plan, findings }: Reading): void {
  const add = (
    subjects: readonly (PlannedAccount | string)[],
    amount: SourceNode | undefined,
    period: SourceNode | undefined,
  ) => {
    const per = Object.hasOwn(windows, period?.text ?? '') ? windows[period?.text ?? ''] : undefined
    if (amount?.number === undefined || amount.number < 0 || per === undefined || subjects.length === 0) return
    for (const subject of subjects) plan.limits.push({ subject, amounts: { usd: amount.number, per } })
    for (const node of [amount, period])
      findings.note(node, 'approximate', 'a limit of money, in windows of the calendar', plan.limits)
  }
  const accounts = [...plan.routes.values()].flat().map(({ account }) => account)
  for (const node of sections('litellm_settings'))
    add(['everyone'], node.get('max_budget'), node.get('budget_duration'))
  for (const [name, node] of sections('router_settings').flatMap((each) => [
    ...(each.get('provider_budget_config')?.members ?? []),
  ])) {
    const of = accounts.filter(({ brand }) => brand !== undefined && brand === prefixes[name]?.brand)
    add([...new Set(of)], node.get('budget_limit'), node.get('time_period'))
  }
}

const health = 'svc has rules of its own for providers that fail (docs/failover.md)'
const redis = 'several machines share limits with --store (docs/scaling.md)'
const logs = 'svc sends traces and metrics over OTLP, has /metrics and a line a request (docs/observability.md)'

const routerNotes: Notes = {
  routing_strategy: ['approximate', 'svc asks providers in their order, and does not spread requests'],
  routing_strategy_args: ['unsupported', 'svc asks providers in their order'],
  retry_policy: ['approximate', 'svc repeats after 429 and 5xx alone'],
  model_group_retry_policy: ['approximate', 'svc repeats after 429 and 5xx alone'],
  allowed_fails: ['unsupported', health],
  allowed_fails_policy: ['unsupported', health],
  cooldown_time: ['unsupported', health],
  disable_cooldowns: ['unsupported', health],
  retry_after: ['unsupported', health],
  enable_pre_call_checks: ['unsupported', 'svc goes on when a model refuses the length of a request'],
  redis_host: ['manual', redis],
  redis_port: ['manual', redis],
  redis_password: ['manual', redis],
  redis_url: ['manual', redis],
  redis_db: ['manual', redis],
  provider_budget_config: ['manual', 'limits of money of a provider stand in access.json (docs/budgets.md)'],
  max_fallbacks: ['unsupported', 'svc asks each provider of a name'],
  set_verbose: ['manual', '--log-level debug'],
  debug_level: ['manual', '--log-level debug'],
}

const moduleNotes: Notes = {
  drop_params: ['approximate', 'svc leaves out what a model is known to refuse'],
  modify_params: ['approximate', 'svc writes requests as each model takes them'],
  callbacks: ['manual', logs],
  success_callback: ['manual', logs],
  failure_callback: ['manual', logs],
  service_callbacks: ['manual', logs],
  json_logs: ['exact', '--log-format json is the default where no terminal is'],
  set_verbose: ['manual', '--log-level debug'],
  turn_off_message_logging: ['exact', 'svc logs no content'],
  redact_user_api_key_info: ['exact', 'svc logs no keys'],
  cache: ['unsupported', 'svc keeps no answers'],
  cache_params: ['unsupported', 'svc keeps no answers'],
  max_budget: ['manual', 'a limit of money in access.json (docs/budgets.md)'],
  budget_duration: ['manual', 'a limit of money in access.json (docs/budgets.md)'],
  default_internal_user_params: ['manual', 'limits of people stand in access.json (docs/limits.md)'],
  default_team_settings: ['manual', 'teams stand in access.json (docs/teams.md)'],
  guardrails: ['unsupported', 'svc has no guardrails'],
  mcp_servers: ['unsupported', 'svc serves no tools'],
  ssl_verify: ['manual', 'own authorities: tls.ca at a provider (docs/configuration.md)'],
}

const database = 'keys, teams and budgets of its database stay there: make them anew (docs/keys.md)'

const generalNotes: Notes = {
  master_key: ['manual', 'start svc with --auth keys, and make keys with "svc keys make" (docs/keys.md)'],
  database_url: ['unsupported', database],
  store_model_in_db: ['unsupported', database],
  store_prompts_in_spend_logs: ['manual', 'content is kept by a rule of access.json (docs/privacy.md)'],
  max_parallel_requests: ['manual', 'limits.max_concurrent'],
  global_max_parallel_requests: ['manual', 'limits.max_concurrent'],
  max_budget: ['manual', 'a limit of money in access.json (docs/budgets.md)'],
  budget_duration: ['manual', 'a limit of money in access.json (docs/budgets.md)'],
  max_request_size_mb: ['manual', 'limits.body_bytes'],
  allowed_ips: ['unsupported', 'a reverse proxy can do this (docs/deployment.md)'],
  custom_auth: ['unsupported', 'own code is an extension (docs/contributing/README.md)'],
  pass_through_endpoints: ['unsupported', 'svc serves its own paths alone'],
  background_health_checks: ['unsupported', health],
  health_check_interval: ['unsupported', health],
}

function noteRest(sections: (name: string) => readonly SourceNode[], { findings }: Reading): void {
  // Many files have settings in another section than that where they count.
  const notes = { ...routerNotes, ...moduleNotes, ...generalNotes }
  for (const name of ['router_settings', 'litellm_settings', 'general_settings'])
    for (const node of sections(name)) noteMembers(findings, node, notes)
  for (const node of sections('environment_variables')) findings.note(node, 'manual', 'set it for svc, or in keys.env')
  for (const node of [...sections('guardrails'), ...sections('mcp_servers')])
    findings.note(node, 'unsupported', 'svc has none')
}
