import type { FailureClass } from './failure.ts'

/** One attempt at one upstream: who was asked, what came of it, how long it took. */
export interface Attempt {
  /** The provider's id. */
  readonly name: string
  /** HTTP status the upstream sent; absent when none arrived. */
  readonly status?: number
  /** Why it failed; absent when it answered. */
  readonly failure?: FailureClass
  /** A short, redacted reason, for the log and for the error that names every provider. */
  readonly reason?: string
  /** Milliseconds from the start of the attempt to its outcome (a stream: to its commit). */
  readonly ms: number
  /** The upstream may have done the work, and billed it, although we saw no answer. */
  readonly ambiguous?: boolean
  /** What the upstream said the work came to, where the attempt did not become the answer. */
  readonly tokens?: Tokens | undefined
}

/** An amount of work, in the upstream's unit. */
export interface Tokens {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
}

/** The attempts of one request, in the order they were made. */
export type Trail = Attempt[]

/** Writes a trail as the header `x-svc-trail`: `groq;status=429;class=rate_limit;ms=12, openai;status=200;ms=340`. */
export function formatTrail(trail: readonly Attempt[]): string {
  return trail
    .map(
      ({ name, status, failure, ms, ambiguous }) =>
        `${name}${status === undefined ? '' : `;status=${status}`}${failure === undefined ? '' : `;class=${failure}`}${ambiguous === true ? ';ambiguous' : ''};ms=${Math.round(ms)}`,
    )
    .join(', ')
}
