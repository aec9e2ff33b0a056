import { ConfigError, type Config, type ConfigFault, type FailoverOptions, type Limits } from './config.ts'
import { defaultFailover, defaultLimits } from './defaults.ts'
import {
  readInteger,
  readItems,
  readKnownMembers,
  readMembers,
  readText,
  readWord,
  refuse,
  rootField,
  type Field,
  type MemberNames,
} from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'
import { parseOwners } from './owners.ts'
import { parseProvider } from './parse-provider.ts'
import { resolveProvider, type Environment, type ProviderEntry } from './resolve-provider.ts'
import { durationMsMax, modelNameRule } from './rules.ts'
import { table } from './table.ts'

/** 1 MiB: some thousand providers. */
export const configBytesMax = 1024 * 1024

/** 1 TiB. */
const bodyBudgetBytesMax = 1024 ** 4

const topMembers: MemberNames = {
  names: ['$schema', 'providers', 'limits', 'failover', 'aliases', 'owners'],
  required: ['providers'],
  hints: {
    schema: '$schema',
    models: 'aliases',
    model_aliases: 'aliases',
    fallback: 'failover',
    fallbacks: 'failover',
    admins: 'owners',
    users: 'owners',
  },
}

const limitMembers: MemberNames = {
  names: ['body_bytes', 'deadline_ms', 'max_concurrent', 'body_budget_bytes'],
  hints: { timeout: 'deadline_ms', client_timeout: 'deadline_ms', client_max_size: 'body_bytes' },
}

const failoverMembers: MemberNames = { names: ['on_content_policy', 'on_cut'] }

/** Where a configuration text comes from. */
export interface ParseOptions {
  /** Named in faults, and the source of the result. */
  readonly file: string
  /** For `$NAME` and the brands' own key variables. */
  readonly environment: Environment
}

/**
 * Reads a configuration: JSON with comments and trailing commas, at most 1 MiB and 64 levels deep
 * (docs/configuration.md). Pure. A `$NAME` that is not set makes its provider unavailable; everything else that is
 * wrong is a fault.
 *
 * @throws {ConfigError} with every fault in it, in the order of the file
 */
export function parseConfig(text: string, { file, environment }: ParseOptions): Config {
  const findings = collectFindings(file, text)
  if (Buffer.byteLength(text) > configBytesMax) throw new ConfigError([tooLarge(file, Buffer.byteLength(text))])
  const { root, isSound } = parseJsonTree(text, findings)
  if (root === undefined || !isSound) throw findings.toError()

  const members = readKnownMembers(rootField(root), topMembers, findings)
  readText(members.get('$schema'), { allowed: 'the address of a JSON Schema', pattern: /^/, lengthMax: 2048 }, findings)
  const entries = parseProviders(members.get('providers'), findings)
  const limits = parseLimits(members.get('limits'), findings)
  const failover = parseFailover(members.get('failover'), findings)
  const aliases = parseAliases(members.get('aliases'), findings)
  const owners = parseOwners(members.get('owners'), environment, findings)
  findings.throwIfAny()
  return {
    providers: entries.map((entry) => resolveProvider(entry, environment)),
    limits,
    failover,
    aliases,
    ...(owners === undefined ? {} : { owners }),
    source: { kind: 'file', path: file },
  }
}

/** The fault of a file above 1 MiB. */
export function tooLarge(file: string, bytes: number): ConfigFault {
  return { file, field: '', found: `${bytes} bytes`, allowed: `at most ${configBytesMax}` }
}

function parseProviders(field: Field | undefined, findings: Findings): readonly ProviderEntry[] {
  if (field === undefined) return []
  const lines = new Map<string, number>()
  const entries: ProviderEntry[] = []
  for (const item of readItems(field, findings) ?? []) {
    const entry = parseProvider(item, findings)
    if (entry === undefined) continue
    const line = lines.get(entry.id)
    if (line === undefined) lines.set(entry.id, findings.lineOf(item.offset))
    else noteSameId(item, entry.id, line, findings)
    entries.push(entry)
  }
  return entries
}

function noteSameId(field: Field, id: string, line: number, findings: Findings): void {
  const place = { offset: field.offset, path: `${field.path}.id` }
  findings.add(place, `"${id}" again`, `a name of its own for each provider (the first is on line ${line})`)
}

function parseLimits(field: Field | undefined, findings: Findings): Limits {
  if (field === undefined) return defaultLimits
  const members = readKnownMembers(field, limitMembers, findings)
  const maxConcurrent = readInteger(members.get('max_concurrent'), 1, 1_000_000, findings)
  const bodyBudgetBytes = readInteger(members.get('body_budget_bytes'), 1024, bodyBudgetBytesMax, findings)
  return {
    bodyBytes: readInteger(members.get('body_bytes'), 1024, 1024 * 1024 * 1024, findings) ?? defaultLimits.bodyBytes,
    deadlineMs: readInteger(members.get('deadline_ms'), 1, durationMsMax, findings) ?? defaultLimits.deadlineMs,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(bodyBudgetBytes === undefined ? {} : { bodyBudgetBytes }),
  }
}

function parseFailover(field: Field | undefined, findings: Findings): FailoverOptions {
  if (field === undefined) return defaultFailover
  const members = readKnownMembers(field, failoverMembers, findings)
  return {
    onContentPolicy:
      readWord(members.get('on_content_policy'), ['stop', 'next'], findings) ?? defaultFailover.onContentPolicy,
    onCut: readWord(members.get('on_cut'), ['resume', 'error'], findings) ?? defaultFailover.onCut,
  }
}

/** Aliases of aliases are followed here, so that a look-up is one step. */
function parseAliases(field: Field | undefined, findings: Findings): Readonly<Record<string, string>> {
  const aliases = table<string>()
  if (field === undefined) return aliases
  const targets = new Map<string, string>()
  const members = readMembers(field, findings) ?? new Map<string, Field>()
  for (const [name, value] of members) {
    if (name.length > modelNameRule.lengthMax || !modelNameRule.pattern.test(name))
      findings.add(value, 'an alias of this name', modelNameRule.allowed)
    const target = readText(value, modelNameRule, findings)
    if (target !== undefined) targets.set(name, target)
  }
  const ends = new Map<string, string | undefined>()
  for (const [name, value] of members) {
    if (!targets.has(name)) continue
    const end = followAlias(name, targets, ends)
    if (end === undefined) refuse(value, 'a name that does not lead back to itself', findings)
    else aliases[name] = end
  }
  return aliases
}

/**
 * Where a chain of aliases ends, `undefined` when it never does. What is found is kept in `ends`, so that each step is
 * walked once.
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
