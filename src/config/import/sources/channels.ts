import { isRecord, type JsonObject } from '../../../base/json-value.ts'
import { baseUrlOf, isModelName, variableOf, type FoundAccount } from '../planner.ts'
import { innerTree, type SourceNode } from '../source-tree.ts'
import { keyFrom, noteKey, takenHeaders, textAt, withoutSecrets } from './read-values.ts'
import { noteMembers, type ImportSource, type Notes, type Reading } from './source.ts'

type Kind = Pick<FoundAccount, 'brand' | 'protocol' | 'baseUrl'>

/** Types of channels of both gateways. Others are set up by hand. */
const types: Readonly<Record<number, Kind>> = {
  1: { brand: 'openai' },
  8: {},
  14: { brand: 'anthropic', protocol: 'anthropic' },
  20: { brand: 'openrouter' },
  24: { brand: 'gemini', protocol: 'gemini' },
  25: { baseUrl: 'https://api.moonshot.cn/v1' },
}

const oneApiTypes: Readonly<Record<number, Kind>> = {
  ...types,
  27: { baseUrl: 'https://api.minimax.chat/v1' },
  28: { brand: 'mistral' },
  29: { brand: 'groq' },
  30: { brand: 'ollama', baseUrl: 'http://localhost:11434/v1' },
  31: { baseUrl: 'https://api.lingyiwanwu.com/v1' },
  32: { baseUrl: 'https://api.stepfun.com/v1' },
  36: { brand: 'deepseek' },
  39: { brand: 'together' },
  40: { baseUrl: 'https://ark.cn-beijing.volces.com/api/v3' },
  41: { brand: 'novita' },
}

const newApiTypes: Readonly<Record<number, Kind>> = {
  ...types,
  4: { brand: 'ollama', baseUrl: 'http://localhost:11434/v1' },
  26: { baseUrl: 'https://open.bigmodel.cn/api/paas/v4' },
  27: { brand: 'perplexity' },
  31: { baseUrl: 'https://api.lingyiwanwu.com/v1' },
  35: { baseUrl: 'https://api.minimax.chat/v1' },
  40: { baseUrl: 'https://api.siliconflow.cn/v1' },
  42: { brand: 'mistral' },
  43: { brand: 'deepseek' },
  45: { baseUrl: 'https://ark.cn-beijing.volces.com/api/v3' },
  48: { brand: 'xai' },
}

/** The list of channels of one-api, as its API answers it or a dump has it. */
export const oneApi: ImportSource = channelSource(
  'one-api',
  oneApiTypes,
  (channel) => channel.get('channel_info') === undefined,
)
/** That of new-api, which has more members and other types. */
export const newApi: ImportSource = channelSource(
  'new-api',
  newApiTypes,
  (channel) => channel.get('channel_info') !== undefined,
)

function channelSource(name: string, kinds: typeof types, isOwn: (channel: SourceNode) => boolean): ImportSource {
  return {
    name,
    syntax: 'json',
    looksLike(root) {
      const [first] = channelsIn(root)
      return first?.get('type')?.number !== undefined && first.get('models') !== undefined && isOwn(first)
    },
    read(reading) {
      const { findings, root } = reading
      noteMembers(findings, root, {
        success: ['exact', 'of the list'],
        message: ['exact', 'of the list'],
        total: ['exact', 'of the list'],
      })
      noteMembers(findings, root.get('data'), {
        page: ['exact', 'of the list'],
        page_size: ['exact', 'of the list'],
        total: ['exact', 'of the list'],
      })
      const channels = channelsIn(root)
      const rank = (channel: SourceNode, member: string) => channel.get(member)?.number ?? 0
      const ordered = channels.toSorted(
        (one, other) => rank(other, 'priority') - rank(one, 'priority') || rank(other, 'weight') - rank(one, 'weight'),
      )
      for (const channel of ordered) readChannel(channel, kinds, reading)
    },
  }
}

function channelsIn(root: SourceNode): readonly SourceNode[] {
  const lists = [root, root.get('data'), root.at('data', 'items'), root.get('channels')]
  return lists.find((node) => node?.kind === 'array')?.items ?? []
}

const counted = 'a count of the other gateway'
const notes: Notes = {
  id: ['unsupported', counted],
  weight: ['approximate', 'svc asks the heavier one first, and does not spread requests'],
  auto_ban: ['approximate', 'svc has rules of its own for providers that fail (docs/failover.md)'],
  status_code_mapping: ['manual', 'svc has rules of its own for each status (docs/failover.md)'],
  tag: ['unsupported', 'providers have no tags'],
  remark: ['unsupported', 'write a comment'],
  test_model: ['unsupported', 'svc check asks the first model for chats'],
  setting: ['manual', 'proxy and the like stand at the provider (docs/configuration.md)'],
  settings: ['manual', 'see the fields of a provider (docs/configuration.md)'],
  other: ['manual', 'see the fields of a provider (docs/configuration.md)'],
  ...Object.fromEntries(
    [
      'created_time',
      'test_time',
      'response_time',
      'balance',
      'balance_updated_time',
      'used_quota',
      'other_info',
      'config',
    ].map((name) => [name, ['unsupported', counted] as const]),
  ),
}

function readChannel(channel: SourceNode, kinds: typeof types, { findings, plan }: Reading): void {
  const type = channel.get('type')?.number ?? -1
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  const address = addressOf(textAt(channel, 'base_url'), kind)
  const models = (textAt(channel, 'models') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(isModelName)
  if (kind === undefined)
    return findings.note(channel, 'manual', `svc does not know channels of type ${type}: add the provider by hand`)
  if (address === null || models.length === 0)
    return findings.note(channel, 'manual', 'a channel without an address or models')
  noteMembers(findings, channel, notes)
  const mapping = objectIn(channel.get('model_mapping'), 'model_mapping', findings)
  const accounts = accountsOf(channel, { ...kind, baseUrl: address }, findings).map((found) => plan.account(found))
  for (const account of accounts)
    for (const name of models) plan.add({ account, name, upstream: textOf(mapping[name]) ?? name })
  noteChannel(channel, findings, accounts)
}

/** An account for each key. */
function accountsOf(channel: SourceNode, kind: Kind, findings: Reading['findings']): readonly FoundAccount[] {
  const name = textAt(channel, 'name') ?? 'channel'
  const isBrands = textAt(channel, 'base_url') === undefined || kind.brand === 'ollama'
  const common: FoundAccount = {
    ...kind,
    id: kind.brand ?? name,
    brand: isBrands ? kind.brand : undefined,
    headers: headersIn(channel, findings),
    overrides: overridesIn(channel, findings),
    enabled: (channel.get('status')?.number ?? 1) === 1 ? undefined : false,
  }
  return keysOf(channel.get('key')).map((key) => ({
    ...common,
    key: keyFrom(key, variableOf({ ...common, id: name })),
  }))
}

function noteChannel(channel: SourceNode, findings: Reading['findings'], accounts: readonly object[]): void {
  const [first] = accounts
  for (const name of ['type', 'name', 'base_url', 'models', 'model_mapping', 'status', 'priority'])
    findings.note(channel.get(name), 'exact', undefined, first)
  const organization = textAt(channel, 'openai_organization')
  findings.note(channel.get('openai_organization'), organization === undefined ? 'exact' : 'manual', 'a header')
  const isForAll = textAt(channel, 'group') === 'default'
  findings.note(channel.get('group'), isForAll ? 'exact' : 'manual', 'who may use which models: keys (docs/keys.md)')
  if (accounts.length > 1)
    findings.note(channel.get('key'), 'approximate', 'several keys are several providers, asked in this order', first)
  noteKey(findings, channel.get('key'), first)
  findings.note(channel.get('channel_info'), 'approximate', 'each key is a provider', first)
}

/** Null: there is none. */
function addressOf(own: string | undefined, kind: Kind | undefined): string | undefined | null {
  if (own !== undefined) {
    const base = baseUrlOf(own)
    if (base === undefined) return null
    // Both gateways add the version themselves.
    return new URL(base).pathname === '/' && kind?.protocol !== 'gemini' ? `${base}/v1` : base
  }
  return kind?.baseUrl ?? (kind?.brand === undefined ? null : undefined)
}

function keysOf(node: SourceNode | undefined): readonly string[] {
  const lines = (node?.text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.length === 0 ? [''] : lines
}

function objectIn(node: SourceNode | undefined, name: string, findings: Reading['findings']): JsonObject {
  if (node?.kind === 'object') return node.plainMembers
  if (node?.text === undefined) return {}
  try {
    const parsed: unknown = JSON.parse(node.text)
    if (isRecord(parsed)) return parsed
  } catch {
    // Noted below.
  }
  findings.note(node, 'manual', `${name} is no object of JSON`)
  return {}
}

function headersIn(channel: SourceNode, findings: Reading['findings']): Readonly<Record<string, string>> {
  const node = channel.get('header_override')
  const headers = objectIn(node, 'header_override', findings)
  if (node === undefined) return {}
  const taken = takenHeaders(innerTree(node, headers), findings)
  const isWhole = Object.keys(taken).length === Object.keys(headers).length
  findings.note(node, isWhole ? 'exact' : 'manual', isWhole ? 'in headers' : 'headers with secrets: set variables')
  return taken
}

function overridesIn(channel: SourceNode, findings: Reading['findings']): JsonObject {
  const node = channel.get('param_override')
  const given = objectIn(node, 'param_override', findings)
  const { operations, model: _, messages: __, stream: ___, ...all } = given
  if (operations !== undefined) {
    findings.note(node, 'manual', 'operations on requests: see overrides')
    return {}
  }
  const { fields, hasSecrets } = withoutSecrets(all)
  if (hasSecrets) findings.note(node, 'manual', 'fields that may hold secrets: write them into overrides by hand')
  else
    findings.note(node, Object.keys(all).length === Object.keys(given).length ? 'exact' : 'approximate', 'in overrides')
  return fields
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && isModelName(value) ? value : undefined
}
