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

type Range = NonNullable<NumberParameter['range']>

function number<Name extends NumberParameter['name']>(name: Name, isInteger: boolean, range?: Range) {
  return { kind: 'number', name, isInteger, ...(range && { range }) } as const
}

function flag<Name extends FlagParameter['name']>(name: Name) {
  return { kind: 'flag', name } as const
}

const penalty: Range = { min: -2, max: 2, step: 0.1, rest: 0 }

/** All parameters by name. */
export const parameters = {
  temperature: number('temperature', false, { min: 0, max: 2, step: 0.1, rest: 1 }),
  top_p: number('top_p', false, { min: 0, max: 1, step: 0.05, rest: 1 }),
  frequency_penalty: number('frequency_penalty', false, penalty),
  presence_penalty: number('presence_penalty', false, penalty),
  seed: number('seed', true),
  max_completion_tokens: number('max_completion_tokens', true),
  max_tokens: number('max_tokens', true),
  stop: { kind: 'list', name: 'stop' },
  reasoning_effort: {
    kind: 'choice',
    name: 'reasoning_effort',
    common: ['low', 'medium', 'high'],
    rare: ['none', 'minimal', 'xhigh', 'max'],
  },
  enable_thinking: flag('enable_thinking'),
  logprobs: flag('logprobs'),
  top_logprobs: number('top_logprobs', true, { min: 0, max: 20, step: 1, rest: 0 }),
  stream: flag('stream'),
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
