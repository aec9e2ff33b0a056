import { baseUrlOf, hostId, isModelName, variableOf } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'
import { providerNamed } from './known-providers.ts'
import { keyFrom, millisecondsOf, noteKey, textAt } from './read-values.ts'
import { noteMembers, type ImportSource, type Notes, type Reading } from './source.ts'

const uses: Notes = {
  APIKEY: ['manual', 'start svc with --auth keys, and make keys with "svc keys make" (docs/keys.md)'],
  HOST: ['manual', '--host'],
  PORT: ['manual', '--port'],
  LOG: ['unsupported', 'svc logs to its output'],
  LOG_LEVEL: ['manual', '--log-level'],
  CLAUDE_PATH: ['manual', 'svc connect claude sets up Claude Code'],
  PROXY_URL: ['manual', 'HTTPS_PROXY, or proxy at a provider'],
  NON_INTERACTIVE_MODE: ['unsupported', 'of its own command'],
  transformers: ['manual', 'own code: svc writes requests as each model takes them'],
  StatusLine: ['unsupported', 'of its own command'],
  CUSTOM_ROUTER_PATH: ['manual', 'own code: svc chooses by the name of the model'],
}

/** The `config.json` of claude-code-router, as up to version 2. */
export const claudeCodeRouter: ImportSource = {
  name: 'claude-code-router',
  syntax: 'json',
  looksLike: (root) => root.get('Providers') !== undefined || root.get('Router') !== undefined,
  read(reading) {
    const { root, findings } = reading
    const timeout = root.get('API_TIMEOUT_MS')
    const attemptMs = millisecondsOf(timeout, 1)
    findings.note(timeout, 'approximate', 'as timeouts.attempt_ms, without a stream')
    noteMembers(findings, root, uses)
    const targets = new Map<string, string>()
    const list = root.get('Providers') ?? root.get('providers')
    for (const entry of list?.items ?? []) readProvider(entry, reading, { targets, attemptMs })
    readRouter(root.get('Router'), reading, targets)
  },
}

interface Collected {
  /** `provider,model` → the name of the model for callers. */
  readonly targets: Map<string, string>
  readonly attemptMs: number | undefined
}

/** Transformers that stand for a protocol. */
const protocols: Readonly<Record<string, 'gemini' | 'anthropic'>> = {
  gemini: 'gemini',
  Anthropic: 'anthropic',
  anthropic: 'anthropic',
}

function readProvider(entry: SourceNode, { findings, plan }: Reading, { targets, attemptMs }: Collected): void {
  const name = textAt(entry, 'name') ?? 'provider'
  const used = (entry.at('transformer', 'use')?.items ?? []).map((each) => each.text ?? each.items[0]?.text ?? '')
  const [protocol] = used.flatMap((use) => (Object.hasOwn(protocols, use) ? (protocols[use] ?? []) : []))
  const baseUrl = baseUrlOf(textAt(entry, 'api_base_url')?.replace(protocol === 'gemini' ? /\/models\/?$/ : /$^/, ''))
  if (baseUrl === undefined || used.some((use) => use === 'gemini-cli' || use === 'vertex-gemini')) {
    const message = 'an address or a transformer that svc does not have: add the provider by hand'
    return findings.note(entry, 'manual', message)
  }
  const known = providerNamed(name)
  const account = plan.account({
    id: known === undefined ? name : hostId(baseUrl),
    ...{ protocol, baseUrl, attemptMs },
    key: keyFrom(textAt(entry, 'api_key'), variableOf({ brand: known?.brand, id: name })),
    defaults: tokensOf(entry, findings),
  })
  for (const model of entry.get('models')?.items ?? []) {
    if (isModelName(model.text)) {
      const planned = { account, name: model.text, upstream: model.text }
      plan.add(planned)
      targets.set(`${name},${model.text}`, model.text)
      findings.note(model, 'exact', undefined, planned)
    } else findings.note(model, 'manual', 'no name of a model')
  }
  for (const each of ['name', 'api_base_url']) findings.note(entry.get(each), 'exact', undefined, account)
  noteKey(findings, entry.get('api_key'), account)
  const message = 'svc writes requests as each provider takes them, and learns from refusals'
  findings.note(entry.get('transformer'), 'approximate', message, account)
}

/** The transformer `maxtoken` limits answers. */
function tokensOf(entry: SourceNode, findings: Reading['findings']) {
  const limit = entry
    .at('transformer', 'use')
    ?.items.find((each) => each.items[0]?.text === 'maxtoken')
    ?.items[1]?.get('max_tokens')
  findings.note(limit, 'approximate', 'in defaults, where the caller sends no limit')
  return limit?.number === undefined ? undefined : { max_tokens: limit.number }
}

function readRouter(
  router: SourceNode | undefined,
  { findings, plan }: Reading,
  targets: ReadonlyMap<string, string>,
): void {
  findings.note(
    router?.get('longContextThreshold'),
    'unsupported',
    'svc goes on when a model refuses the length of a request',
  )
  for (const [use, node] of router?.members ?? []) {
    const target = targets.get(node.text?.replace(/\s*,\s*/, ',') ?? '')
    if (target === undefined || plan.routes.has(use)) {
      findings.note(node, 'manual', 'no provider and model of the file')
      continue
    }
    plan.aliases.set(use, target)
    if (use === 'default') findings.note(node, 'exact', 'ask for the model "default"', plan.aliases)
    else
      findings.note(
        node,
        'approximate',
        `ask for the model "${use}": svc does not choose by the kind of a request`,
        plan.aliases,
      )
  }
}
