import type { FileKey } from '../people/keys/file-key.ts'
import type { OwnKeys } from '../people/keys/key-host.ts'
import type { Team } from '../people/teams.ts'

/** The content of access.json (docs/limits.md): limits, teams and ceilings. A change of the file makes a new policy. */
export interface AccessPolicy {
  /** The zone in which days, weeks, months and years begin: an IANA name in its usual spelling. */
  readonly timeZone: string
  /** Every limit that names a caller counts. */
  readonly limits: readonly AccessLimit[]
  /** By name. */
  readonly teams: ReadonlyMap<string, Team>
  /** Ceilings of the keys that people make for themselves. Absent: the defaults. */
  readonly ownKeys?: OwnKeys
  /** Keys by their hashes. Absent: none. */
  readonly keys?: readonly FileKey[]
  /** Whose content is kept. Absent: no content is kept. */
  readonly content?: readonly ContentRule[]
  /** Answers have the headers `RateLimit-Policy` and `RateLimit`, too. Default: false. */
  readonly hasIetfHeaders?: boolean
  /** Where alerts go. Absent: there are none. */
  readonly webhook?: WebhookEntry
}

/** The webhook as the file names it. */
export interface WebhookEntry {
  readonly url: string
  /** Name of the variable with the secret. */
  readonly secretName: string
}

/** One entry of `limits`. It has at least one amount. An amount of 0 allows nothing. */
export interface AccessLimit {
  /** Its place in the file, such as `limits[2]`, for messages. */
  readonly place: string
  readonly subject: LimitSubject
  /** Names of models, or beginnings of names and `*`. Absent: all models. */
  readonly models?: readonly string[]
  readonly requests?: RateAmount
  readonly tokens?: RateAmount
  /** Requests at the same time. */
  readonly atOnce?: number
  /** How long a request waits for a slot of `atOnce`, in milliseconds. Absent: it is refused at once. */
  readonly waitMs?: number
  readonly usd?: MoneyAmount
}

/** The callers or the provider that an entry limits. `each …` limits each of them separately. */
export type LimitSubject =
  | { readonly kind: 'everyone' | 'each person' | 'each key' | 'each session' }
  /** A user name, or `id:VALUE` for a user id. */
  | { readonly kind: 'person'; readonly name: string }
  | { readonly kind: 'team'; readonly name: string }
  /** A line of keys: the id of its first key. A key of the file has a name, from which its line follows. */
  | { readonly kind: 'key'; readonly line: number; readonly name?: string }
  | { readonly kind: 'provider'; readonly id: string }

/** One entry of `content`: content of the requests of these callers is kept. */
export interface ContentRule {
  /** Its place in the file, such as `content[0]`, for messages. */
  readonly place: string
  readonly subject: Exclude<LimitSubject, { readonly kind: 'provider' | 'each session' }>
  /** Milliseconds; 0: not at all, also if another rule would keep it. */
  readonly keepMs: number
  /** Patterns of text that is removed before. */
  readonly redact: readonly string[]
}

/** A number a period. */
export interface RateAmount {
  readonly count: number
  readonly per: RatePeriod
}

/** An amount of money in a window of {@link AccessPolicy.timeZone}. */
export interface MoneyAmount {
  /** Whole nano-USD; exact, since it is below 2⁵³. */
  readonly nanoUsd: number
  readonly per: MoneyPeriod
  /** Streams end at the limit, and `max_completion_tokens` is lowered to it. */
  readonly isHard: boolean
  /** Providers without a price are asked in their order, and not counted. Default: false. */
  readonly asksUnpriced?: boolean
  /** While the store of several machines is away, attempts are admitted. Default: false. */
  readonly isOpenWhenAway?: boolean
}

export const ratePeriods = ['minute', 'hour', 'day'] as const
export type RatePeriod = (typeof ratePeriods)[number]

export const moneyPeriods = ['day', 'week', 'month', 'year', 'total'] as const
export type MoneyPeriod = (typeof moneyPeriods)[number]

/** A period behind an amount: `a minute`, `an hour`, `in total`. */
export function periodText(per: RatePeriod | MoneyPeriod): string {
  if (per === 'total') return 'in total'
  return per === 'hour' ? 'an hour' : `a ${per}`
}

/** The ceilings without `own_keys`. */
export const ownKeysDefault: OwnKeys = { most: 10, daysMost: 90 }

/** The policy without a file: no limits. */
export const openPolicy: AccessPolicy = { timeZone: 'UTC', limits: [], teams: new Map() }

/** The subject as it stands in the file. */
export function subjectText(subject: LimitSubject): string {
  switch (subject.kind) {
    case 'person':
    case 'team':
      return `${subject.kind}:${subject.name}`
    case 'key':
      return `key:${subject.name ?? subject.line}`
    case 'provider':
      return `provider:${subject.id}`
    default:
      return subject.kind
  }
}
