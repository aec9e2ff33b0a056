import type { FailureDetails, Unsupported } from '../service/failure.ts'
import { says } from './plain-words.ts'

/** Refusals, if a sentence has one of these and one of {@link unsupportedPhrases}. */
const refusalPhrases: readonly string[] = [
  'not support',
  'unsupported',
  'not enabled',
  'not allowed',
  'not accept',
  'not a multi',
  'not compiled for',
  'only supported by',
  'no endpoints found that support',
  'missing data required for',
  'unknown variant',
  'at most 0',
]

/** The reasoning of earlier answers is missing, changed, or another account's. */
const reasoningPhrases: readonly string[] = [
  '`thinking` block',
  'thinking block',
  'expected `thinking`',
  'thinking.signature',
  'thought signature',
  'encrypted content',
  'reasoning item',
  "type 'reasoning'",
  "'reasoning' item",
]

/** Words for what clients can leave out, in the order in which they count. */
const unsupportedPhrases: readonly (readonly [Unsupported, readonly string[]])[] = [
  ['schema', ['response format', 'output config.format', 'structured output']],
  ['effort', ['reasoning effort', 'effort parameter', 'reasoning.effort', 'output config.effort']],
  ['image', ['image input', 'input image', 'image url', 'image content', 'images', 'support image', 'support vision']],
  ['document', ['pdf', 'document block', 'document content', 'document input', 'file input', 'input file']],
]
/** Refusals of a field, beside {@link refusalPhrases}. */
const fieldRefusals: readonly string[] = [
  'unrecognized request argument',
  'unknown parameter',
  'inputs are not permitted',
]

/** The part of a request that a refusal in plain words names. */
export function refusedPart(plain: string): Pick<FailureDetails, 'refusesReasoning' | 'unsupported'> {
  return { refusesReasoning: says(plain, reasoningPhrases), unsupported: unsupportedIn(plain) }
}

/** The part that is not supported: its words and those of a refusal must be in one sentence. */
function unsupportedIn(plain: string): Unsupported | undefined {
  const refusals = plain
    .split(/\.\s|;/)
    .filter((sentence) => says(sentence, refusalPhrases) || says(sentence, fieldRefusals))
  return unsupportedPhrases.find(([, phrases]) => refusals.some((sentence) => says(sentence, phrases)))?.[0]
}
