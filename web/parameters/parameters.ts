import { isRecord } from '../../src/wire/json-value.ts'
import type { Parameters } from '../history/conversation.ts'

/** Name of a parameter, as it is sent. */
export type ParameterName = keyof Parameters

type NameOf<Value> = { [Name in ParameterName]-?: Required<Parameters>[Name] extends Value ? Name : never }[ParameterName]

/** What is known of a parameter that is a number (docs/api.md). */
export interface NumberParameter {
  readonly kind: 'number'
  readonly name: NameOf<number>
  readonly label: string
  /** What it does, in one sentence. */
  readonly explanation: string
  readonly isInteger: boolean
  /** Boundaries, included; absent: any number. */
  readonly range?: { readonly min: number; readonly max: number; readonly step: number; /** Where a slider stands while nothing is set. */ readonly rest: number }
}

/** A parameter that is on, off, or not sent. */
export interface FlagParameter {
  readonly kind: 'flag'
  readonly name: NameOf<boolean>
  readonly label: string
  readonly explanation: string
}

/** A parameter that is one of several words. */
export interface ChoiceParameter {
  readonly kind: 'choice'
  readonly name: 'reasoning_effort'
  readonly label: string
  readonly explanation: string
  /** Every provider that has the parameter knows them. */
  readonly common: readonly string[]
  /** Some providers know them. */
  readonly rare: readonly string[]
}

/** A parameter that is a list of texts. */
export interface ListParameter {
  readonly kind: 'list'
  readonly name: 'stop'
  readonly label: string
  readonly explanation: string
}

/** What is known of a parameter. None has a default here: what is not set is not sent, and the provider decides. */
export type Parameter = NumberParameter | FlagParameter | ChoiceParameter | ListParameter

const penalty = { min: -2, max: 2, step: 0.1, rest: 0 }

/** Every parameter of a request, by name. */
export const parameters = {
  temperature: {
    kind: 'number', name: 'temperature', label: 'Temperature', isInteger: false, range: { min: 0, max: 2, step: 0.1, rest: 1 },
    explanation: 'Lower is more predictable, higher more varied.',
  },
  top_p: {
    kind: 'number', name: 'top_p', label: 'Top P', isInteger: false, range: { min: 0, max: 1, step: 0.05, rest: 1 },
    explanation: 'Only the likeliest tokens that together have this probability are considered. Change this or the temperature, not both.',
  },
  frequency_penalty: {
    kind: 'number', name: 'frequency_penalty', label: 'Frequency penalty', isInteger: false, range: penalty,
    explanation: 'Above zero, a token becomes less likely each time it was used.',
  },
  presence_penalty: {
    kind: 'number', name: 'presence_penalty', label: 'Presence penalty', isInteger: false, range: penalty,
    explanation: 'Above zero, a token becomes less likely once it was used, which leads to new topics.',
  },
  seed: {
    kind: 'number', name: 'seed', label: 'Seed', isInteger: true,
    explanation: 'The same seed and the same request give the same answer, as far as the provider can.',
  },
  max_completion_tokens: {
    kind: 'number', name: 'max_completion_tokens', label: 'Max completion tokens', isInteger: true,
    explanation: 'The answer ends after this many tokens, those of its reasoning included.',
  },
  max_tokens: {
    kind: 'number', name: 'max_tokens', label: 'Max tokens', isInteger: true,
    explanation: 'The older name of the same limit, which some providers still want.',
  },
  stop: {
    kind: 'list', name: 'stop', label: 'Stop sequences',
    explanation: 'The answer ends before any of these texts. Many providers take four at most.',
  },
  reasoning_effort: {
    kind: 'choice', name: 'reasoning_effort', label: 'Reasoning effort', common: ['low', 'medium', 'high'], rare: ['none', 'minimal', 'xhigh', 'max'],
    explanation: 'How much a model that reasons thinks before it answers.',
  },
  enable_thinking: {
    kind: 'flag', name: 'enable_thinking', label: 'Thinking',
    explanation: 'Switches thinking on or off, for models that let one choose.',
  },
  logprobs: {
    kind: 'flag', name: 'logprobs', label: 'Log probabilities',
    explanation: 'How likely each token of the answer was.',
  },
  top_logprobs: {
    kind: 'number', name: 'top_logprobs', label: 'Top log probabilities', isInteger: true, range: { min: 0, max: 20, step: 1, rest: 0 },
    explanation: 'How many other tokens are shown for each token of the answer.',
  },
  stream: {
    kind: 'flag', name: 'stream', label: 'Stream the answer',
    explanation: 'Shows the answer while it is written. Switched off, it comes as a whole.',
  },
} as const satisfies { readonly [Name in ParameterName]-?: Parameter & { readonly name: Name } }

/** What became of a text that was typed for a number: nothing typed, a number that is sent, or why it is not. */
export type ReadNumber =
  | { readonly kind: 'unset' }
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'fault'; readonly fault: string }

/** Reads what was typed. A decimal comma is taken as a point. */
export function readNumber(parameter: NumberParameter, text: string): ReadNumber {
  const trimmed = text.trim().replace(',', '.')
  if (trimmed === '') return { kind: 'unset' }
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(trimmed) ? Number(trimmed) : NaN
  return isAllowed(parameter, value) ? { kind: 'value', value } : { kind: 'fault', fault: faultOf(parameter, value) }
}

/** What may be sent, in words: `0 to 2`, `a whole number`. */
export function rangeOf({ isInteger, range }: NumberParameter): string {
  if (range === undefined) return isInteger ? 'a whole number' : 'a number'
  return isInteger ? `a whole number, ${range.min} to ${range.max}` : `${range.min} to ${range.max}`
}

/** The parameters of something kept or imported; what is none, or out of its range, is left out. */
export function parseParameters(value: unknown): Parameters {
  if (!isRecord(value)) return {}
  const known = Object.values(parameters).flatMap((parameter) => {
    const parsed = parseValue(parameter, value[parameter.name])
    return parsed === undefined ? [] : [[parameter.name, parsed]]
  })
  return Object.fromEntries(known)
}

/** The parameters with one of them changed; `undefined` is what is not sent. */
export function withParameter<Name extends ParameterName>(before: Parameters, name: Name, value: Parameters[Name] | undefined): Parameters {
  const { [name]: _, ...others } = before
  return value === undefined ? others : { ...others, [name]: value }
}

/** How many are set. */
export function countSet(values: Parameters): number {
  return Object.values(values).filter((value) => value !== undefined).length
}

function parseValue(parameter: Parameter, value: unknown): unknown {
  switch (parameter.kind) {
    case 'number': return typeof value === 'number' && isAllowed(parameter, value) ? value : undefined
    case 'flag': return typeof value === 'boolean' ? value : undefined
    case 'choice': return typeof value === 'string' && [...parameter.common, ...parameter.rare].includes(value) ? value : undefined
    case 'list': return parseStop(value)
  }
}

/** One text or several, as the format allows. */
function parseStop(value: unknown): readonly string[] | undefined {
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string').filter((text) => text !== '')
  return texts.length === 0 ? undefined : [...new Set(texts)]
}

function isAllowed({ isInteger, range }: NumberParameter, value: number): boolean {
  if (!Number.isFinite(value) || (isInteger && !Number.isSafeInteger(value))) return false
  return range === undefined || (value >= range.min && value <= range.max)
}

function faultOf(parameter: NumberParameter, value: number): string {
  const { isInteger, range } = parameter
  if (range === undefined && isInteger && Number.isInteger(value)) return `This is not sent: it must lie between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}.`
  return `This is not sent: it must be ${range === undefined || isInteger ? rangeOf(parameter) : `a number, ${rangeOf(parameter)}`}.`
}
