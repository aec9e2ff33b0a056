import type { UpstreamError } from '../formats/upstream-error.ts'
import {
  type FailureClass,
  type FailureDetails,
  type FailureScope,
  type Unsupported,
  UpstreamFailure,
} from '../service/failure.ts'
import type { ResponseHeaders } from '../transport/transport.ts'
import { redact } from './redact.ts'
import { type RefusalRule, refusalRules } from './refusal-rules.ts'
import { limitWait, namedWait, waitInError } from './retry-after.ts'

/** An answer that is an error. */
export interface RefusedAnswer {
  /** As sent; undefined: 200, or an event of a stream. */
  readonly status: number | undefined
  /** Names in lower case. */
  readonly headers: Pick<ResponseHeaders, 'get'>
  /** From the body, if it has one. */
  readonly error: UpstreamError | undefined
  /** Brand of the provider, if it is known. */
  readonly brand: string | undefined
}

const noHeaders: ReadonlyMap<string, string> = new Map()

/**
 * Classifies an upstream's refusal (failover.md rows 9 to 22). Providers use statuses differently, so the words count
 * first, by the rules of `refusal-rules.ts`; the status decides where no rule applies.
 *
 * @param nowMs wall clock, for waits that are dates
 */
export function classifyFailure(
  status: number,
  headers: Pick<ResponseHeaders, 'get'>,
  error: UpstreamError | undefined,
  brand?: string,
  nowMs: number = Date.now(),
): UpstreamFailure {
  return failureOf({ status, headers, error, brand }, nowMs)
}

/** As {@link classifyFailure}, for an error inside a 200 answer or a stream. */
export function classifyAnswered(error: UpstreamError, brand?: string): UpstreamFailure {
  return failureOf({ status: undefined, headers: noHeaders, error, brand }, Date.now()).answeredWith(200)
}

function failureOf(refusal: RefusedAnswer, nowMs: number): UpstreamFailure {
  const { headers, error } = refusal
  const facts = factsOf(refusal)
  const rule = refusalRules.find((each) => applies(each, facts))
  const status = facts.status ?? 500
  const failure = rule?.class ?? classByStatus(status)
  const wait =
    namedWait({ headers, members: error?.waits ?? noHeaders, texts: error?.texts ?? [] }, nowMs) ??
    (failure === 'rate_limit' ? limitWait(headers, nowMs) : undefined)
  const details: FailureDetails = {
    status,
    ...scopeOf(failure, rule, error),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(failure === 'content_policy' ? { isFinal: true } : {}),
    ...(failure === 'bad_request' ? refusedPart(facts.plain) : {}),
  }
  return new UpstreamFailure(failure, reasonOf(status, error), details)
}

function reasonOf(status: number, error: UpstreamError | undefined): string {
  if (error === undefined || error.message === '') return `status ${status}`
  return `status ${status}: ${redact(error.message, wholeSentence.has(status) ? sentenceCharactersMax : undefined)}`
}

/** Statuses whose message is passed on whole: it tells the client what to change. */
const wholeSentence: ReadonlySet<number> = new Set([400, 413])
const sentenceCharactersMax = 2048

/**
 * The account of a gateway at a provider behind it concerns one model. A credential that only the status names is in
 * doubt.
 */
function scopeOf(
  failure: FailureClass,
  rule: RefusalRule | undefined,
  error: UpstreamError | undefined,
): { readonly scope?: FailureScope; readonly isUnproven?: boolean } {
  if (error?.isPassedOn === true && (failure === 'quota' || failure === 'credential')) return { scope: 'model' }
  if (rule?.scope !== undefined) return { scope: rule.scope }
  return failure === 'credential' && rule === undefined ? { isUnproven: true } : {}
}

/** Facts of a refusal, for rules. */
export interface RefusalFacts {
  /** As sent, or by the error itself; undefined: neither. */
  readonly status: number | undefined
  readonly brand: string | undefined
  /** All words, with quotes. */
  readonly plain: string
  readonly codes: readonly string[]
  /** Of the texts, and the codes but general ones. */
  readonly sentences: readonly string[]
  /** The error itself names a wait, so that it passes. */
  readonly hasWait: boolean
}

/** Codes that say no more than a status. */
const generalCode = /\b(?:invalid|unsupported|unknown) (?:argument|request|parameter|value|field)(?: error)?$/

/** Reads the facts of a refusal. */
export function factsOf({ status, headers, error, brand }: RefusedAnswer): RefusalFacts {
  const type = headers.get('x-amzn-errortype')?.split(':', 1)[0]
  const names = [...(type === undefined ? [] : [type]), ...(error?.codes ?? [])]
  const codes = names.map((name) => plainWords(name).replace(/[. ]+/g, ' '))
  const texts = error?.texts ?? []
  return {
    status: status ?? (error && statusOf(error)),
    brand,
    plain: plainWords([...names, ...texts].join(' ')),
    codes,
    sentences: [...texts.flatMap(plainSentences), ...codes.filter((code) => !generalCode.test(code))],
    hasWait: waitInError({ members: error?.waits ?? noHeaders, texts }, 0) !== undefined,
  }
}

/** Whether a rule applies to a refusal. */
export function applies(rule: RefusalRule, { status, brand, plain, codes, sentences, hasWait }: RefusalFacts): boolean {
  const { code, words, near, not, unless } = rule
  if (rule.brands !== undefined && (brand === undefined || !rule.brands.includes(brand))) return false
  if (!isAmong(status, rule.statuses)) return false
  // A limit of requests is also called a quota, but passes.
  if (rule.class === 'quota' && rule.scope === undefined && status === 429 && hasWait) return false
  if (matches(unless, plain)) return false
  if (code !== undefined) return codes.some((each) => matches(code, each))
  return sentences.some(
    (sentence) =>
      matches(words, sentence) && (near === undefined || matches(near, sentence)) && !matches(not, sentence),
  )
}

function isAmong(status: number | undefined, statuses: RefusalRule['statuses']): boolean {
  if (status === undefined) return true
  if (statuses === undefined) return status >= 400 && !decidingStatuses.has(status)
  return statuses.includes(status) || statuses.includes(Math.floor(status / 100))
}

/** Statuses that say enough. */
const decidingStatuses: ReadonlySet<number> = new Set([402, 413])

function matches(patterns: RefusalRule['words'], text: string): boolean {
  if (patterns === undefined) return false
  return patterns instanceof RegExp ? patterns.test(text) : patterns.some((pattern) => pattern.test(text))
}

/** Codes and types of error bodies → the status they stand for (failover.md row 22); the first that matches counts. */
const statusByCode: readonly (readonly [number, RegExp])[] = [
  [402, /^(?:insufficient (?:quota|credit|balance|fund)|billing|payment)/],
  [413, /^context length|too (?:large|long)$|context size/],
  [429, /rate limit|too many requests|resource exhausted|throttl/],
  [404, /not found|decommissioned|not exist/],
  [401, /^(?:authentication|unauthenticated|unauthorized|invalid api key)/],
  [403, /permission|forbidden|access denied/],
  [529, /overloaded/],
  [503, /unavailable|busy/],
  [504, /timeout|deadline/],
  [500, /^(?:server error|api error|internal)/],
  [400, /^(?:invalid|bad request|failed precondition|unsupported|unknown parameter|content (?:policy|filter)|safety)/],
]

/** The status that an error names, in itself or by a code. */
function statusOf({ status, codes }: UpstreamError): number | undefined {
  if (status !== undefined) return status
  for (const code of codes) {
    const plain = plainWords(code)
    const known = statusByCode.find(([, pattern]) => pattern.test(plain))
    if (known !== undefined) return known[0]
  }
  return undefined
}

/** Statuses that mean one class. */
const classes: ReadonlyMap<number, FailureClass> = new Map([
  [400, 'bad_request'],
  [401, 'credential'],
  [402, 'quota'],
  [403, 'credential'],
  [404, 'model_gone'],
  [405, 'bad_request'],
  [406, 'bad_request'],
  [408, 'request_timeout'],
  [409, 'conflict'],
  [410, 'model_gone'],
  [413, 'context_length'],
  [415, 'bad_request'],
  [422, 'bad_request'],
  // "Failed Dependency": at Amazon the model itself has failed.
  [424, 'server_error'],
  [425, 'conflict'],
  [429, 'rate_limit'],
  // Groq's flex tier is full.
  [498, 'rate_limit'],
  [503, 'overloaded'],
  [529, 'overloaded'],
])

function classByStatus(status: number): FailureClass {
  if (status >= 300 && status < 400) return 'redirect'
  return classes.get(status) ?? (status >= 500 && status <= 599 ? 'server_error' : 'unknown_status')
}

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
function refusedPart(plain: string): Pick<FailureDetails, 'refusesReasoning' | 'unsupported'> {
  return { refusesReasoning: says(plain, reasoningPhrases), unsupported: unsupportedIn(plain) }
}

/** The part that is not supported: its words and those of a refusal must be in one sentence. */
function unsupportedIn(plain: string): Unsupported | undefined {
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

/** The name of a member before its text, as Python writes it: `'message': "`. */
const memberName = /['"](?:message|msg|detail|error|reason|type|code)['"]\s?:\s?['"]/gi
const quoted = /(?<!\w)(["'`“‘])(?=[^\s,.;:)\]}])([^"`”]{1,2000}?)["'`”’](?!\w)/g
/** Quotes of more words are echoes of a request. */
const nameWordsMax = 3

/**
 * Returns the sentences of a text in plain words, without ids of requests and echoes of them: names in quotes keep
 * their spelling, such as `'max_tokens'`, longer quotes become `''`.
 */
export function plainSentences(text: string): readonly string[] {
  const names: string[] = []
  const unquoted = text
    .replace(/https?:\/\/\S+|\(?\brequest[ _-]?id ?[:=] ?[\w-]+\)?/gi, '')
    .replace(memberName, '. ')
    .replace(quoted, (_, _mark, inner: string) => {
      names.push(inner.trim().split(/\s+/, nameWordsMax + 1).length > nameWordsMax ? '' : inner.toLowerCase())
      return `\u0001${names.length - 1}\u0002`
    })
  return unquoted
    .split(/[.!?](?=\s|$)|[;\n。！？]/)
    .map((sentence) =>
      plainWords(sentence).replace(/\u0001(\d+)\u0002/g, (_, n: string) => `'${names[Number(n)] ?? ''}'`),
    )
    .filter((sentence) => sentence.trim() !== '')
}
