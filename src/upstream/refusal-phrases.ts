import type { Unsupported } from '../service/failure.ts'

/** Phrases of providers' refusals, by meaning. All are in the spelling of {@link plainWords}. */

/** The content breaks a policy of the provider. */
export const policyPhrases: readonly string[] = [
  'content policy',
  'content filter',
  'content management policy',
  'responsible ai',
  'prohibited content',
  'safety system',
  'safety filter',
  'safety polic',
  'safety setting',
  'safety reason',
  'blocked for safety',
  'rejected for safety',
  'refused for safety',
  'filtered for safety',
  'requires moderation',
  'data inspection failed',
]

/** The conversation is longer than the model's context. */
export const contextPhrases: readonly string[] = [
  'context length',
  'maximum context',
  'context window',
  'context size',
  'context limit',
  'too many tokens',
  'prompt is too long',
  'input is too long',
  'reduce the length',
  '`inputs` tokens',
  '`inputs` must have less than',
]

/** The key is missing, wrong or without permission. */
export const credentialPhrases: readonly string[] = [
  'invalid api key',
  'invalid apikey',
  'invalid x api key',
  'api key not valid',
  'api key is invalid',
  'api key invalid',
  'api key missing',
  'api key expired',
  'incorrect api key',
  'authentication error',
  'unauthorized',
  'unauthorised',
  'invalid token',
  'invalid credential',
  'permission denied',
]

/** The account has no credit or quota left. */
export const quotaPhrases: readonly string[] = [
  'insufficient quota',
  'insufficient credit',
  'insufficient funds',
  'insufficient balance',
  'credit balance',
  'out of credit',
  'billing error',
  'billing hard',
  'billing limit',
  'billing not',
  'payment required',
  'specified api usage limits',
  'arrearage',
  'exceeded your current quota, please check your plan',
  'hard limit',
  'too many tokens per day',
]

/** The provider does not offer the model, or no longer. */
export const modelPhrases: readonly string[] = [
  'model not found',
  'model decommissioned',
  'no such model',
  'unknown model',
  'invalid model',
  'not a valid model',
  'model identifier is invalid',
  'on demand throughput is not supported',
]

/** The account may use the provider, but not this model. */
export const modelAccessPhrases: readonly string[] = ['access to the model', 'access to model', 'invoke model']

/** The request does not suit the model or the server. Both work: other requests are answered. */
export const requestPhrases: readonly string[] = [
  'alternate user/assistant',
  'alternate roles',
  'roles must alternate',
  'role should be',
  'only user and assistant roles',
  'system role not supported',
  'raise exception(',
  'not support tool',
  'tools param requires',
  'no endpoints found that support',
  'no endpoints found that can handle',
  'unsupported content',
  'unsupported param',
  'unknown parameter',
  'unrecognized request argument',
  'bad request error',
  'failed to parse messages',
  'failed to parse grammar',
  'json schema conversion failed',
  'failed to load image',
  'failed to decode image',
  'invalid image',
]

/** Kinds of input other than text. */
const modalityPhrases: readonly string[] = [
  'image input',
  'input image',
  'image url',
  'image content',
  'images',
  'support image',
  'support vision',
  'audio input',
  'input audio',
  'audio content',
  'support audio',
  'video input',
  'video url',
  'support video',
  'file input',
  'multimodal',
  'multi modal',
  'modality',
]

/** Refusals, if a sentence has one of these and one of {@link modalityPhrases}. */
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
export const reasoningPhrases: readonly string[] = [
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

/** What a refusal says is not supported: both must be in one sentence. */
export function unsupportedIn(plain: string): Unsupported | undefined {
  const refusals = plain
    .split(/\.\s|;/)
    .filter((sentence) => says(sentence, refusalPhrases) || says(sentence, fieldRefusals))
  return unsupportedPhrases.find(([, phrases]) => refusals.some((sentence) => says(sentence, phrases)))?.[0]
}

/** Normalizes a text: lower case, single spaces also for `_`, `-` and inside `CamelCase`, `is not` for `isn't`. */
export function plainWords(text: string): string {
  return text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/n['’]t\b/g, ' not')
    .replace(/[\s_-]+/g, ' ')
}

/** Whether the text contains one of the phrases. */
export function says(plain: string, phrases: readonly string[]): boolean {
  return phrases.some((phrase) => plain.includes(phrase))
}

/** Whether a sentence of the text refuses a kind of input, such as images. */
export function refusesModality(plain: string): boolean {
  return plain.split(/[.;]/).some((sentence) => says(sentence, modalityPhrases) && says(sentence, refusalPhrases))
}
