import type { AskedProvider, TrailEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'

/** A provider on the way of a request. */
export type TrailStep =
  /** It was asked and failed, or was passed over. `reason`: in a word or two. */
  | { readonly kind: 'failed'; readonly provider: string; readonly reason: string }
  | { readonly kind: 'answered'; readonly provider: string }
  /** It is asked now. `ms`: milliseconds since its turn came, when this became known. */
  | ({ readonly kind: 'asking' } & AskedProvider)
  /** Its turn has not come. `place`: its number in the order. */
  | { readonly kind: 'next'; readonly provider: string; readonly place: number }
  /** Further ones that failed. */
  | { readonly kind: 'more'; readonly count: number }

/** The way of a request so far. */
interface Way {
  readonly trail: readonly TrailEntry[]
  /** The provider that answers. Absent: the last one that has not failed. */
  readonly provider?: string | undefined
  /** Absent: no provider is asked now. */
  readonly asking?: AskedProvider | undefined
}

const failedMax = 3

/** The way of a request in short: providers that failed, each once with its last reason, then the one that answers. */
export function stepsOf({ trail, provider, asking }: Way): readonly TrailStep[] {
  const answered = answeredBy(trail, provider)
  const reasons = new Map<string, string>()
  for (const { provider: name, failure } of trail)
    if (failure !== undefined && name !== answered) reasons.set(name, failureInWords(failure))
  const failed = [...reasons].map(([name, reason]) => ({ kind: 'failed', provider: name, reason }) as const)
  const more = failed.length - failedMax
  return [
    ...failed.slice(0, failedMax),
    ...(more > 0 ? [{ kind: 'more', count: more } as const] : []),
    ...(answered === undefined ? [] : [{ kind: 'answered', provider: answered } as const]),
    ...(asking === undefined ? [] : [{ kind: 'asking', ...asking } as const]),
  ]
}

/** The provider of the answer, unless it failed in the middle of it. */
function answeredBy(trail: readonly TrailEntry[], provider: string | undefined): string | undefined {
  if (provider === undefined) return trail.findLast(({ failure }) => failure === undefined)?.provider
  return trail.findLast((attempt) => attempt.provider === provider)?.failure === undefined ? provider : undefined
}

/** A class of failures (docs/failover.md) in a word or two. */
export function failureInWords(failure: string): string {
  return failureWords.get(failure) ?? say.failures.failed
}

/** All other classes are `failed`. */
const failureWords: ReadonlyMap<string, string> = new Map(
  [
    [say.failures.busy, 'rate_limit', 'overloaded', 'resources'],
    [say.failures.unreachable, 'dns', 'connect', 'tls', 'reset'],
    [say.failures.slow, 'timeout', 'request_timeout'],
    [say.failures.refused, 'bad_request', 'content_policy'],
    [say.failures.small, 'context_length'],
    [say.failures.key, 'credential'],
    [say.failures.credit, 'quota'],
    [say.failures.budget, 'budget'],
    [say.failures.unpriced, 'no_price'],
    [say.failures.lacks, 'model_gone'],
    [say.failures.cut, 'cut'],
    [say.failures.empty, 'empty'],
  ].flatMap(([words = '', ...classes]) => classes.map((each) => [each, words] as const)),
)
