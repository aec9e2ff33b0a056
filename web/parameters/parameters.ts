import { isRecord } from '../../src/base/json-value.ts'
import type { Parameters } from '../history/conversation.ts'

/** Name of a parameter, as in the request. */
export type ParameterName = keyof Parameters

type NameOf<Value> = {
  [Name in ParameterName]-?: Required<Parameters>[Name] extends Value ? Name : never
}[ParameterName]

/** A number (docs/api.md). */
export interface NumberParameter {
  readonly kind: 'number'
  readonly name: NameOf<number>
  readonly isInteger: boolean
  /** Inclusive bounds; absent if any number is allowed. */
  readonly range?: {
    readonly min: number
    readonly max: number
    readonly step: number
    /** Position of the slider while nothing is set. */ readonly rest: number
  }
}

/** A parameter that is on, off, or not sent. */
export interface FlagParameter {
  readonly kind: 'flag'
  readonly name: NameOf<boolean>
}

/** One of several words. */
export interface ChoiceParameter {
  readonly kind: 'choice'
  readonly name: 'reasoning_effort'
  /** Values that every provider with this parameter accepts. */
  readonly common: readonly string[]
  /** Values that some providers accept. */
  readonly rare: readonly string[]
}

/** A list of texts. */
export interface ListParameter {
  readonly kind: 'list'
  readonly name: 'stop'
}

/** A parameter. There are no defaults: unset parameters are not sent, and the provider decides. */
export type Parameter = NumberParameter | FlagParameter | ChoiceParameter | ListParameter

const penalty = { min: -2, max: 2, step: 0.1, rest: 0 }

/** All parameters by name. */
export const parameters = {
  temperature: { kind: 'number', name: 'temperature', isInteger: false, range: { min: 0, max: 2, step: 0.1, rest: 1 } },
  top_p: { kind: 'number', name: 'top_p', isInteger: false, range: { min: 0, max: 1, step: 0.05, rest: 1 } },
  frequency_penalty: { kind: 'number', name: 'frequency_penalty', isInteger: false, range: penalty },
  presence_penalty: { kind: 'number', name: 'presence_penalty', isInteger: false, range: penalty },
  seed: { kind: 'number', name: 'seed', isInteger: true },
  max_completion_tokens: { kind: 'number', name: 'max_completion_tokens', isInteger: true },
  max_tokens: { kind: 'number', name: 'max_tokens', isInteger: true },
  stop: { kind: 'list', name: 'stop' },
  reasoning_effort: {
    kind: 'choice',
    name: 'reasoning_effort',
    common: ['low', 'medium', 'high'],
    rare: ['none', 'minimal', 'xhigh', 'max'],
  },
  enable_thinking: { kind: 'flag', name: 'enable_thinking' },
  logprobs: { kind: 'flag', name: 'logprobs' },
  top_logprobs: { kind: 'number', name: 'top_logprobs', isInteger: true, range: { min: 0, max: 20, step: 1, rest: 0 } },
  stream: { kind: 'flag', name: 'stream' },
} as const satisfies { readonly [Name in ParameterName]-?: Parameter & { readonly name: Name } }

/** Parses stored or imported parameters. Unknown, invalid and out-of-range ones are left out. */
export function parseParameters(value: unknown): Parameters {
  if (!isRecord(value)) return {}
  const known = Object.values(parameters).flatMap((parameter) => {
    const parsed = parseValue(parameter, value[parameter.name])
    return parsed === undefined ? [] : [[parameter.name, parsed]]
  })
  return Object.fromEntries(known) as Parameters
}

/** Returns the parameters with one changed; `undefined` removes it. */
export function withParameter<Name extends ParameterName>(
  before: Parameters,
  name: Name,
  value: Parameters[Name] | undefined,
): Parameters {
  const { [name]: _, ...others } = before
  return value === undefined ? others : { ...others, [name]: value }
}

/** Counts the parameters that are set. */
export function countSet(values: Parameters): number {
  return Object.values(values).filter((value) => value !== undefined).length
}

function parseValue(parameter: Parameter, value: unknown): unknown {
  switch (parameter.kind) {
    case 'number':
      return typeof value === 'number' && isAllowed(parameter, value) ? value : undefined
    case 'flag':
      return typeof value === 'boolean' ? value : undefined
    case 'choice':
      return typeof value === 'string' && [...parameter.common, ...parameter.rare].includes(value) ? value : undefined
    case 'list':
      return parseStop(value)
  }
}

/** A text or a list of texts; the format allows both. */
function parseStop(value: unknown): readonly string[] | undefined {
  const texts = (Array.isArray(value) ? value : [value])
    .filter((text) => typeof text === 'string')
    .filter((text) => text !== '')
  return texts.length === 0 ? undefined : [...new Set(texts)]
}

/** Whether a number may be sent. */
export function isAllowed({ isInteger, range }: NumberParameter, value: number): boolean {
  if (!Number.isFinite(value) || (isInteger && !Number.isSafeInteger(value))) return false
  return range === undefined || (value >= range.min && value <= range.max)
}
