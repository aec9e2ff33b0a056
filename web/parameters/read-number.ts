import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { isAllowed, type NumberParameter } from './parameters.ts'

/** Outcome of {@link readNumber}: nothing typed, a valid number, or the reason why it is not sent. */
export type ReadNumber =
  | { readonly kind: 'unset' }
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'fault'; readonly fault: string }

/** Parses a typed number. Accepts a decimal comma. */
export function readNumber(parameter: NumberParameter, text: string): ReadNumber {
  const trimmed = text.trim().replace(',', '.')
  if (trimmed === '') return { kind: 'unset' }
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(trimmed) ? Number(trimmed) : NaN
  return isAllowed(parameter, value) ? { kind: 'value', value } : { kind: 'fault', fault: faultOf(parameter, value) }
}

/** Describes the allowed range: `0 to 2`, `a whole number`. */
export function describeRange({ isInteger, range }: NumberParameter): string {
  if (range === undefined) return isInteger ? say.parameters.wholeNumber : say.parameters.number
  const words = say.parameters.range(formatCount(range.min), formatCount(range.max))
  return isInteger ? say.parameters.wholeNumberIn(words) : words
}

function faultOf(parameter: NumberParameter, value: number): string {
  const { isInteger, range } = parameter
  if (range === undefined && isInteger && Number.isInteger(value))
    return say.parameters.notSentBeyond(String(Number.MAX_SAFE_INTEGER))
  const words = describeRange(parameter)
  return say.parameters.notSent(range === undefined || isInteger ? words : say.parameters.numberIn(words))
}
