import { table } from '../../base/table.ts'
import {
  ConfigError,
  type Config,
  type ConfigFault,
  type FailoverConfig,
  type Limits,
  type TitlesConfig,
} from '../config.ts'
import { defaultFailover, defaultLimits } from '../defaults.ts'
import {
  readIntegerField,
  readBooleanField,
  readElements,
  readKnownMembers,
  readMembers,
  readTextField,
  readWord,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { parseOwners } from './owners.ts'
import { parseProvider } from './parse-provider.ts'
import { readTopMembers } from './read-top-members.ts'
import { resolveProvider, type Environment, type ParsedProvider } from './resolve-provider.ts'
import { durationMsMax, modelNameRule, serviceNameRule } from './rules.ts'

/** 1 MiB, enough for thousands of providers. */
export const configBytesMax = 1024 * 1024

/** 1 TiB. */
const bodyBudgetBytesMax = 1024 ** 4

const topMembers: MemberNames = {
  names: ['$schema', 'name', 'titles', 'history', 'providers', 'limits', 'failover', 'aliases', 'owners'],
  required: ['providers'],
  hints: {
    schema: '$schema',
    models: 'aliases',
    model_aliases: 'aliases',
    fallback: 'failover',
    fallbacks: 'failover',
    title: 'name',
    title_model: 'titles',
    admins: 'owners',
    users: 'owners',
    conversations: 'history',
  },
}

const titleMembers: MemberNames = { names: ['model'], required: ['model'], hints: { name: 'model', models: 'model' } }

const limitMembers: MemberNames = {
  names: ['body_bytes', 'deadline_ms', 'max_concurrent', 'body_budget_bytes'],
  hints: { timeout: 'deadline_ms', client_timeout: 'deadline_ms', client_max_size: 'body_bytes' },
}

const failoverMembers: MemberNames = { names: ['on_content_policy', 'on_cut', 'retry_billed'] }

/** Options of {@link parseConfig}. */
export interface ParseOptions {
  /** File name for faults and for the result's `source`. */
  readonly file: string
  /** Variables for `$NAME` and the keys of brands. */
  readonly environment: Environment
}

/**
 * Parses a configuration: JSON with comments and trailing commas, at most 1 MiB and 64 levels deep
 * (docs/configuration.md). An unset `$NAME` makes its provider unavailable; any other problem is a fault.
 *
 * @throws {ConfigError} with all faults, in the order of the file
 */
export function parseConfig(text: string, { file, environment }: ParseOptions): Config {
  const findings = collectFindings(file, text)
  if (Buffer.byteLength(text) > configBytesMax) throw new ConfigError([tooLarge(file, Buffer.byteLength(text))])
  const members = readTopMembers(text, topMembers, findings)
  const name = readTextField(members.get('name'), serviceNameRule, findings)
  const titles = parseTitles(members.get('titles'), findings)
  const entries = parseProviders(members.get('providers'), findings)
  const limits = parseLimits(members.get('limits'), findings)
  const failover = parseFailover(members.get('failover'), findings)
  const aliases = parseAliases(members.get('aliases'), findings)
  const owners = parseOwners(members.get('owners'), environment, findings)
  const history = parseHistory(members.get('history'), findings)
  findings.throwIfAny()
  return {
    providers: entries.map((entry) => resolveProvider(entry, environment)),
    limits,
    failover,
    aliases,
    ...(name === undefined ? {} : { name }),
    ...(titles === undefined ? {} : { titles }),
    ...(owners === undefined ? {} : { owners }),
    ...history,
    source: { kind: 'file', path: file },
  }
}

/** Makes the fault of a file above 1 MiB. */
export function tooLarge(file: string, bytes: number): ConfigFault {
  return { file, field: '', found: `${bytes} bytes`, allowed: `at most ${configBytesMax}` }
}

function parseProviders(field: Field | undefined, findings: Findings): readonly ParsedProvider[] {
  if (field === undefined) return []
  const lines = new Map<string, number>()
  const entries: ParsedProvider[] = []
  for (const item of readElements(field, findings) ?? []) {
    const entry = parseProvider(item, findings)
    if (entry === undefined) continue
    const line = lines.get(entry.id)
    if (line === undefined) lines.set(entry.id, findings.lineOf(item.offset))
    else addDuplicateId(item, entry.id, line, findings)
    entries.push(entry)
  }
  return entries
}

function addDuplicateId(field: Field, id: string, line: number, findings: Findings): void {
  const location = { offset: field.offset, path: `${field.path}.id` }
  findings.add(location, `a duplicate "${id}"`, `a unique id for each provider (the first is on line ${line})`)
}

function parseTitles(field: Field | undefined, findings: Findings): TitlesConfig | undefined {
  if (field === undefined) return undefined
  const model = readTextField(readKnownMembers(field, titleMembers, findings).get('model'), modelNameRule, findings)
  return model === undefined ? undefined : { model }
}

const historyMembers: MemberNames = { names: ['days'], required: ['days'] }

/** `"server"`, or for how long the server keeps conversations. */
function parseHistory(field: Field | undefined, findings: Findings): Pick<Config, 'history' | 'historyDays'> {
  if (field?.node.type !== 'object')
    return readWord(field, ['browser', 'server'], findings) === 'server' ? { history: 'server' } : {}
  const members = readKnownMembers(field, historyMembers, findings)
  const historyDays = readIntegerField(members.get('days'), 1, 36_500, findings)
  return { history: 'server', ...(historyDays === undefined ? {} : { historyDays }) }
}

function parseLimits(field: Field | undefined, findings: Findings): Limits {
  if (field === undefined) return defaultLimits
  const members = readKnownMembers(field, limitMembers, findings)
  const maxConcurrent = readIntegerField(members.get('max_concurrent'), 1, 1_000_000, findings)
  const bodyBudgetBytes = readIntegerField(members.get('body_budget_bytes'), 1024, bodyBudgetBytesMax, findings)
  return {
    bodyBytes:
      readIntegerField(members.get('body_bytes'), 1024, 1024 * 1024 * 1024, findings) ?? defaultLimits.bodyBytes,
    deadlineMs: readIntegerField(members.get('deadline_ms'), 1, durationMsMax, findings) ?? defaultLimits.deadlineMs,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(bodyBudgetBytes === undefined ? {} : { bodyBudgetBytes }),
  }
}

function parseFailover(field: Field | undefined, findings: Findings): FailoverConfig {
  if (field === undefined) return defaultFailover
  const members = readKnownMembers(field, failoverMembers, findings)
  return {
    onContentPolicy:
      readWord(members.get('on_content_policy'), ['stop', 'next'], findings) ?? defaultFailover.onContentPolicy,
    onCut: readWord(members.get('on_cut'), ['resume', 'error'], findings) ?? defaultFailover.onCut,
    retryBilled: readBooleanField(members.get('retry_billed'), findings) ?? defaultFailover.retryBilled,
  }
}

/** Parses `aliases`. Aliases of aliases are resolved, so that a lookup is one step. */
function parseAliases(field: Field | undefined, findings: Findings): Readonly<Record<string, string>> {
  const aliases = table<string>()
  if (field === undefined) return aliases
  const targets = new Map<string, string>()
  const members = readMembers(field, findings) ?? new Map<string, Field>()
  for (const [name, value] of members) {
    if (name.length > modelNameRule.lengthMax || !modelNameRule.pattern.test(name))
      findings.add(value, 'an invalid alias name', modelNameRule.allowed)
    const target = readTextField(value, modelNameRule, findings)
    if (target !== undefined) targets.set(name, target)
  }
  const ends = new Map<string, string | undefined>()
  for (const [name, value] of members) {
    if (!targets.has(name)) continue
    const end = followAlias(name, targets, ends)
    if (end === undefined) refuse(value, 'a name without a cycle of aliases', findings)
    else aliases[name] = end
  }
  return aliases
}

/**
 * The end of a chain of aliases; `undefined` for a cycle. Results are kept in `ends`, so that each step is walked once.
 */
function followAlias(
  name: string,
  targets: ReadonlyMap<string, string>,
  ends: Map<string, string | undefined>,
): string | undefined {
  const walked = new Set<string>()
  let end: string | undefined = name
  while (end !== undefined && targets.has(end)) {
    if (walked.has(end)) end = undefined
    else {
      walked.add(end)
      end = ends.has(end) ? ends.get(end) : targets.get(end)
    }
  }
  for (const step of walked) ends.set(step, end)
  return end
}
