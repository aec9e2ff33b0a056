import { isFileLine } from '../people/keys/file-key.ts'
import type { Caller } from '../people/person.ts'
import { subjectText, type AccessLimit, type AccessPolicy } from './access-policy.ts'
import type { MoneyLimits } from './budgets/money-limits.ts'
import type { CounterKind } from './counter.ts'
import type { Limiter } from './limiter.ts'
import { countedFor, namedLimits } from './named-limits.ts'

/** All limits of a policy with their use, for owners to see. */
export interface LimitOverview {
  readonly policy: AccessPolicy
  readonly limits: readonly LimitRow[]
}

/** One amount of one entry. */
export interface LimitRow {
  /** Its place in the file, such as `limits[2]`. */
  readonly place: string
  /** As in access.json, such as `each person`. */
  readonly subject: string
  readonly models: readonly string[] | undefined
  readonly kind: CounterKind | 'usd'
  /** Nano-USD of `usd`. */
  readonly limit: number
  readonly per: string | undefined
  /** Unix milliseconds; only of `usd`, and not of `total`. */
  readonly windowEnd?: number
  /** The callers are counted apart. */
  readonly isApart: boolean
  /** Of callers counted apart at most 200 that asked last, the one with the least left first. */
  readonly uses: readonly LimitUse[]
}

/** What the callers that are counted together have used. */
export interface LimitUse {
  /** Name of the person, or name and line of the key; empty: they are counted together. */
  readonly name: string
  readonly used: number
  /** Held by requests under way; only of `usd`. */
  readonly held?: number
  readonly remaining: number
  /** Unix milliseconds: all of it is back then, if no request follows. Only of `requests` and `tokens` in use. */
  readonly backAt?: number
}

export interface LimitOverviewOptions {
  readonly policy: AccessPolicy
  readonly limiter: Pick<Limiter, 'statesOf'> | undefined
  readonly budgets: Pick<MoneyLimits, 'statesOf'> | undefined
  /** The one that asked last comes first. */
  readonly callers: readonly Caller[]
  /** Unix milliseconds. */
  readonly now: number
}

const callersMax = 200

/** Callers that one entry counts together. */
interface Counted {
  readonly entry: AccessLimit
  /** As {@link countedFor} gives it. */
  readonly counted: string
  readonly name: string
}

/** Reads the state of every limit. It changes none. */
export async function limitOverview(options: LimitOverviewOptions): Promise<LimitOverview> {
  const { policy, callers } = options
  const counted = policy.limits.map((entry) => ({ entry, all: countedBy(entry, callers, policy) }))
  const all = counted.flatMap((each) => each.all)
  const [rates, money] = await Promise.all([rateUses(all, options), moneyUses(all, options)])
  return { policy, limits: counted.flatMap(({ entry, all: own }) => [...rates(entry, own), ...money(entry, own)]) }
}

/** The callers of an entry: one by one where they are counted apart. */
export function countedBy(
  entry: AccessLimit,
  callers: readonly Caller[],
  policy: Pick<AccessPolicy, 'teams'>,
): readonly Counted[] {
  if (!isApart(entry)) return [{ entry, counted: '', name: '' }]
  const found = new Map<string, Counted>()
  for (const caller of callers) {
    if (found.size === callersMax) break
    const counted = countedFor(entry, caller, policy)
    if (counted !== undefined && !found.has(counted))
      found.set(counted, { entry, counted, name: nameOf(entry, caller) })
  }
  return [...found.values()]
}

function isApart({ subject: { kind } }: AccessLimit): boolean {
  return kind === 'each person' || kind === 'each key' || kind === 'each session'
}

function factsOf(entry: AccessLimit): Pick<LimitRow, 'place' | 'subject' | 'models' | 'isApart'> {
  const { place, subject, models } = entry
  return { place, subject: subjectText(subject), models, isApart: isApart(entry) }
}

const keyMark = 'key:'

function nameOf({ subject }: AccessLimit, { name: user = '', person, key }: Caller): string {
  if (subject.kind === 'each person') return person?.name ?? user
  const name = user.startsWith(keyMark) ? user.slice(keyMark.length) : user
  if (key !== undefined && isFileLine(key.line)) return `${name} (access.json)`
  return `${name} (key ${key?.line ?? '?'})`
}

type RowsOf = (entry: AccessLimit, all: readonly Counted[]) => readonly LimitRow[]

async function rateUses(all: readonly Counted[], { limiter, now }: LimitOverviewOptions): Promise<RowsOf> {
  if (limiter === undefined) return () => []
  const limits = all.flatMap(({ entry, counted }) => namedLimits(entry, counted))
  const states = await limiter.statesOf(limits)
  const byKey = new Map(limits.map(({ spec }, index) => [spec.key, states[index]]))
  return (entry, own) =>
    // The first of the specs has the amounts of all.
    namedLimits(entry, '').map(({ spec: { kind, most, perMs } }, place) => ({
      ...factsOf(entry),
      kind,
      limit: most,
      per: perMs === 0 ? undefined : (kind === 'tokens' ? entry.tokens : entry.requests)?.per,
      uses: own
        .flatMap(({ counted, name }): LimitUse[] => {
          const state = byKey.get(namedLimits(entry, counted)[place]?.spec.key ?? '')
          if (state === undefined) return []
          const { remaining, resetMs } = state
          const isUsed = perMs > 0 && resetMs > 0
          return [{ name, used: most - remaining, remaining, ...(isUsed ? { backAt: now + resetMs } : {}) }]
        })
        .toSorted(leastLeftFirst),
    }))
}

async function moneyUses(all: readonly Counted[], { budgets }: LimitOverviewOptions): Promise<RowsOf> {
  if (budgets === undefined) return () => []
  const counted = all.filter(({ entry }) => entry.usd !== undefined)
  const reports = await budgets.statesOf(counted)
  const byCounted = new Map(counted.map((each, index) => [each, reports[index]]))
  return (entry, own) => {
    if (entry.usd === undefined) return []
    const { nanoUsd, per } = entry.usd
    const found = own.flatMap((each) => {
      const report = byCounted.get(each)
      return report?.amounts === undefined ? [] : [{ name: each.name, end: report.windowEnd, ...report.amounts }]
    })
    const end = found[0]?.end
    return [
      {
        ...factsOf(entry),
        kind: 'usd',
        limit: nanoUsd,
        per,
        ...(end === undefined ? {} : { windowEnd: end }),
        uses: found
          .map(({ name, used, held }) => ({ name, used, held, remaining: Math.max(0, nanoUsd - used - held) }))
          .toSorted(leastLeftFirst),
      },
    ]
  }
}

function leastLeftFirst(one: LimitUse, other: LimitUse): number {
  return one.remaining - other.remaining || other.used - one.used || one.name.localeCompare(other.name)
}
