import type { FailureClass } from './failure.ts'
import type { Tokens } from './tokens.ts'

/** One attempt at one upstream, with its outcome and duration. */
export interface Attempt {
  /** The provider's id. */
  readonly name: string
  /** HTTP status of the upstream; absent when none arrived. */
  readonly status?: number
  /** Class of the failure; absent when the upstream answered. */
  readonly failure?: FailureClass
  /** A short, redacted reason, for the log and for the error that names every provider. */
  readonly reason?: string
  /** Milliseconds from the start of the attempt to its outcome (a stream: to its commit). */
  readonly ms: number
  /** The upstream may have done the work, and billed it, although no answer arrived. */
  readonly ambiguous?: boolean
  /** Tokens of an attempt that did not become the answer: counted by the upstream, of a cut stream estimated. */
  readonly tokens?: Tokens | undefined
  /** Most tokens of the answer, to which a hard limit of money lowered the request. */
  readonly answerTokensMax?: number | undefined
  /** Names of the traits that refusals have taught: the request was sent once more for each. Absent: none. */
  readonly adapted?: readonly string[]
  /** Names of what the upstream was not sent. Absent: none. */
  readonly dropped?: readonly string[]
  /** Names of what the upstream was sent in another form. Absent: none. */
  readonly adjusted?: readonly string[]
  /** The stream went on with an answer that was cut at another provider. */
  readonly isResumed?: true
  /** The place of the answer, such as `text:120` or `call:2`, at which the stream differed from one that was cut. */
  readonly differedAt?: string | undefined
  /** The model that the answer names, if it is not the one that was asked for. */
  readonly served?: string
  /** `served` is another model. Absent: the name that was asked for is none of a model, such as a router's. */
  readonly isOtherModel?: true
  /** The stream was ended at what a hard limit of money had left. */
  readonly isEndedAtLimit?: true
  /** Absent: the request is not traced. */
  readonly span?: AttemptSpan
}

/** The upstream of an attempt, as spans name it. */
export interface SpanTarget {
  /** The brand, or the id of the provider. */
  readonly system: string
  /** Its host. Empty: it is reached nowhere. */
  readonly address: string
  readonly port: number
}

/** What a trace knows of an attempt, beside its facts. */
export interface AttemptSpan {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** Milliseconds from the arrival of the request to the start of the attempt. */
  readonly afterMs: number
  readonly target: SpanTarget
}

/** The trace of a request, for its attempts. */
export interface AttemptTrace {
  /** Begins the span of an attempt. */
  begin(target: SpanTarget): AttemptSpan
  /** Header lines that tell the upstream of the span that was begun last. May be empty. */
  readonly headers: string
}

/** The attempts of one request, in the order they were made. */
export type Trail = Attempt[]

/** Writes a trail as the header `x-svc-trail`: `groq;status=429;class=rate_limit;ms=12, openai;status=200;ms=340`. */
export function formatTrail(trail: readonly Attempt[]): string {
  let text = ''
  for (const attempt of trail) text += text === '' ? formatAttempt(attempt) : `, ${formatAttempt(attempt)}`
  return text
}

function formatAttempt(attempt: Attempt): string {
  const { name, status, failure, ms, ambiguous, answerTokensMax, adapted, dropped, adjusted, served } = attempt
  const statusText = status === undefined ? '' : `;status=${status}`
  const classText = failure === undefined ? '' : `;class=${failure}`
  const limitText = answerTokensMax === undefined ? '' : `;max_tokens=${answerTokensMax}`
  const changes = namesText('adapted', adapted) + namesText('dropped', dropped) + namesText('adjusted', adjusted)
  const servedText = served === undefined ? '' : `;served=${served}`
  const doubt = ambiguous === true ? ';ambiguous' : ''
  return `${name}${statusText}${classText}${doubt}${changes}${servedText}${limitText};ms=${Math.round(ms)}`
}

function namesText(kind: string, names: readonly string[] | undefined): string {
  return names === undefined ? '' : `;${kind}=${names.join('+')}`
}

/** A difference of times in milliseconds, without digits that no clock measures: they make records longer. */
export function wholeMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
