import type { TextRule } from '../../base/text-rule.ts'
import { findHome } from '../home.ts'
import {
  readBooleanField,
  readElements,
  readIntegerField,
  readKnownMembers,
  readMembers,
  readNumber,
  readTextField,
  readWord,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { readConfigText } from './load-config.ts'
import { readTopMembers } from './read-top-members.ts'
import type { Environment } from './resolve-provider.ts'
import { modelNameRule } from './rules.ts'

/** A preset of presets.json (docs/page.md#presets). Absent members leave those of a conversation as they are. */
export interface SharedPreset {
  readonly name: string
  readonly description?: string
  readonly model?: string
  /** System prompt. */
  readonly system?: string
  /** Text for the message field. */
  readonly prompt?: string
  /** Fields of a request. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Number of presets in the file. */
export const presetsMax = 200

const nameRule: TextRule = {
  allowed: 'a name of letters, digits, ".", "_" and "-", beginning with a letter or digit, of at most 40 characters',
  pattern: /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u,
  lengthMax: 40,
}
const descriptionRule: TextRule = { allowed: 'a text in one line', pattern: /^[^\p{Cc}]*$/u, lengthMax: 200 }
const textRule: TextRule = { allowed: 'a text', pattern: /^/, lengthMax: 32_000 }
const stopRule: TextRule = { allowed: 'a text', pattern: /./s, lengthMax: 1_000 }
const stopsMax = 16

const topMembers: MemberNames = { names: ['$schema', 'presets'], required: ['presets'] }
const presetMembers: MemberNames = {
  names: ['description', 'model', 'system', 'prompt', 'parameters'],
  hints: {
    instructions: 'system',
    system_prompt: 'system',
    message: 'prompt',
    template: 'prompt',
    settings: 'parameters',
  },
}

type ReadParameter = (field: Field, findings: Findings) => unknown

const between =
  (minimum: number, maximum: number): ReadParameter =>
  (field, findings) =>
    readNumber(field, minimum, maximum, findings)
const integer =
  (minimum: number, maximum: number): ReadParameter =>
  (field, findings) =>
    readIntegerField(field, minimum, maximum, findings)
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The parameters that the page has, with their values. */
const parameters: Readonly<Record<string, ReadParameter>> = {
  temperature: between(0, 2),
  top_p: between(0, 1),
  frequency_penalty: between(-2, 2),
  presence_penalty: between(-2, 2),
  seed: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  max_completion_tokens: integer(1, Number.MAX_SAFE_INTEGER),
  max_tokens: integer(1, Number.MAX_SAFE_INTEGER),
  stop: readStops,
  reasoning_effort: (field, findings) => readWord(field, efforts, findings),
  enable_thinking: readBooleanField,
  logprobs: readBooleanField,
  top_logprobs: integer(0, 20),
  stream: readBooleanField,
}

/**
 * Parses presets.json, in the order of the file.
 *
 * @param text undefined without a file: no presets
 * @throws {ConfigError} with all faults
 */
export function parsePresets(text: string | undefined, file: string): readonly SharedPreset[] {
  if (text === undefined) return []
  const findings = collectFindings(file, text)
  const field = readTopMembers(text, topMembers, findings).get('presets')
  const members = [...((field && readMembers(field, findings)) ?? [])]
  if (field !== undefined && members.length > presetsMax)
    findings.add(field, `${members.length} presets`, `at most ${presetsMax}`)
  const presets = members.slice(0, presetsMax).map(([name, member]) => readPreset(name, member, findings))
  findings.throwIfAny()
  return presets
}

/** Reads the presets of this machine. @throws {ConfigError} */
export async function loadPresets(environment: Environment): Promise<readonly SharedPreset[]> {
  const file = presetsFile(environment)
  return file === undefined ? [] : parsePresets(await readConfigText(file), file)
}

/** The path of presets.json; undefined without a home folder. */
export function presetsFile(environment: Environment): string | undefined {
  try {
    return findHome(environment).presets
  } catch {
    return undefined
  }
}

function readPreset(name: string, field: Field, findings: Findings): SharedPreset {
  if (name.length > nameRule.lengthMax || !nameRule.pattern.test(name))
    findings.add(field, 'an invalid name', nameRule.allowed)
  const members = readKnownMembers(field, presetMembers, findings)
  const read = (member: keyof SharedPreset, rule: TextRule): Partial<SharedPreset> => {
    const text = readTextField(members.get(member), rule, findings)
    return text === undefined ? {} : { [member]: text }
  }
  const given = members.get('parameters')
  return {
    name,
    ...read('description', descriptionRule),
    ...read('model', modelNameRule),
    ...read('system', textRule),
    ...read('prompt', textRule),
    ...(given === undefined ? {} : { parameters: readParameters(given, findings) }),
  }
}

function readParameters(field: Field, findings: Findings): Readonly<Record<string, unknown>> {
  const members = readKnownMembers(field, { names: Object.keys(parameters) }, findings)
  const read = new Map<string, unknown>()
  for (const [name, member] of members) {
    const value = parameters[name]?.(member, findings)
    if (value !== undefined) read.set(name, value)
  }
  return Object.fromEntries(read)
}

/** A text, or a list of texts, as in a request. */
function readStops(field: Field, findings: Findings): unknown {
  if (field.node.type !== 'array') return readTextField(field, stopRule, findings)
  const stops = readElements(field, findings) ?? []
  if (stops.length > stopsMax) return refuse(field, `at most ${stopsMax} texts`, findings)
  return stops.flatMap((stop) => readTextField(stop, stopRule, findings) ?? [])
}
