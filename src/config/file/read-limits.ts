import { didYouMean } from '../../base/nearest.ts'
import {
  moneyPeriods,
  periodText,
  ratePeriods,
  subjectText,
  type AccessLimit,
  type LimitSubject,
  type MoneyAmount,
  type MoneyPeriod,
  type RateAmount,
  type RatePeriod,
} from '../../limits/access-policy.ts'
import { lineOfFileKey } from '../../people/keys/file-key.ts'
import {
  readBooleanField,
  readElements,
  readElementsTo,
  readIntegerField,
  readKnownMembers,
  readNumber,
  readTextField,
  readWord,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import type { Findings } from './findings.ts'
import { idRule, modelPatternRule, personRule } from './rules.ts'

const limitsMax = 1_000
const modelsMax = 100
const requestsMax = 1_000_000_000
const tokensMax = 1_000_000_000_000
const atOnceMax = 1_000_000
/** Longer than clients notice, and short enough that connections do not pile up. */
const waitMsMax = 2_000
/** In nano-USD still an exact number. */
const usdMax = 9_000_000
const nanoPerUsd = 1e9

const limitMembers: MemberNames = {
  names: ['for', 'models', 'requests', 'tokens', 'at_once', 'wait_ms', 'usd', 'per', 'hard', 'unpriced', 'when_away'],
  required: ['for'],
  hints: {
    who: 'for',
    subject: 'for',
    model: 'models',
    rpm: 'requests',
    tpm: 'tokens',
    wait: 'wait_ms',
    queue_ms: 'wait_ms',
    max_concurrent: 'at_once',
    concurrency: 'at_once',
    parallel: 'at_once',
    budget: 'usd',
    max_budget: 'usd',
    period: 'per',
    window: 'per',
  },
}

/** Amounts of a limit, by the names of their members. */
const amountNames = ['requests', 'tokens', 'at_once', 'usd'] as const

/** The names in the file that limits and rules of content may have. */
export interface NamesOfFile {
  readonly teams: readonly string[]
  readonly keys: readonly string[]
}

/** Reads `limits`. */
export function readLimits(field: Field | undefined, names: NamesOfFile, findings: Findings): readonly AccessLimit[] {
  const comparison = comparedAmounts(findings)
  return readElementsTo(limitsMax, 'limits', field, findings).flatMap((item) => {
    const members = readKnownMembers(item, limitMembers, findings)
    const limit = readLimit(item, members, { names, findings })
    if (limit === undefined) return []
    comparison.add(limit, members)
    return [limit]
  })
}

interface LimitContext {
  readonly names: NamesOfFile
  readonly findings: Findings
}

function readLimit(
  item: Field,
  members: ReadonlyMap<string, Field>,
  { names, findings }: LimitContext,
): AccessLimit | undefined {
  if (item.node.type !== 'object') return undefined
  const subject = readSubject(members.get('for'), names, findings)
  const models = readModels(members.get('models'), findings)
  const amounts = readAmounts(members, findings)
  if (!amountNames.some((name) => members.has(name)))
    findings.add(item, 'no amount', 'one or more of requests, tokens, at_once, usd')
  if (subject === undefined) return undefined
  if (subject.kind === 'provider') refuseRates(members, findings)
  return { place: item.path, subject, ...(models === undefined ? {} : { models }), ...amounts }
}

/** A provider's own concurrency limit is in providers.json, and its rates are its own. */
function refuseRates(members: ReadonlyMap<string, Field>, findings: Findings): void {
  for (const name of ['requests', 'tokens', 'at_once']) {
    const field = members.get(name)
    const hint = name === 'at_once' ? '; see "max_concurrent" of the provider in providers.json' : ''
    if (field !== undefined) refuse(field, `for a provider, only usd${hint}`, findings)
  }
}

function readAmounts(
  members: ReadonlyMap<string, Field>,
  findings: Findings,
): Omit<AccessLimit, 'place' | 'subject' | 'models'> {
  const perField = members.get('per')
  const isMoney = members.has('usd')
  const moneyPer = isMoney ? readWord(perField, moneyPeriods, findings) : undefined
  // `per` belongs to the money, where there is some: rates beside it are a minute.
  const ratePer = (isMoney ? undefined : readWord(perField, ratePeriods, findings)) ?? 'minute'
  if (perField !== undefined && !isMoney && !members.has('requests') && !members.has('tokens'))
    refuse(perField, '"per" only beside requests, tokens or usd', findings)
  const requests = readIntegerField(members.get('requests'), 0, requestsMax, findings)
  const tokens = readIntegerField(members.get('tokens'), 0, tokensMax, findings)
  const atOnce = readIntegerField(members.get('at_once'), 0, atOnceMax, findings)
  const waitMs = readWait(members, findings)
  const usd = readMoney(members, moneyPer, findings)
  return {
    ...(requests === undefined ? {} : { requests: { count: requests, per: ratePer } }),
    ...(tokens === undefined ? {} : { tokens: { count: tokens, per: ratePer } }),
    ...(atOnce === undefined ? {} : { atOnce }),
    ...(waitMs === undefined || waitMs === 0 ? {} : { waitMs }),
    ...(usd === undefined ? {} : { usd }),
  }
}

/** Slots of limits for some models are taken after the body was read: its bytes must not wait. */
function readWait(members: ReadonlyMap<string, Field>, findings: Findings): number | undefined {
  const field = members.get('wait_ms')
  if (field !== undefined && !members.has('at_once')) return refuse(field, '"wait_ms" only beside at_once', findings)
  if (field !== undefined && members.has('models')) return refuse(field, '"wait_ms" only without models', findings)
  return readIntegerField(field, 0, waitMsMax, findings)
}

function readMoney(
  members: ReadonlyMap<string, Field>,
  per: MoneyPeriod | undefined,
  findings: Findings,
): MoneyAmount | undefined {
  const field = members.get('usd')
  const hard = members.get('hard')
  const isHard = readBooleanField(hard, findings) ?? false
  const away = members.get('when_away')
  const whenAway = readWord(away, awayWords, findings) ?? 'closed'
  const unpriced = members.get('unpriced')
  const asksUnpriced = readWord(unpriced, unpricedWords, findings) === 'ask'
  if (field === undefined) {
    if (unpriced !== undefined) refuse(unpriced, '"unpriced" only beside usd', findings)
    if (hard !== undefined) refuse(hard, '"hard" only beside usd', findings)
    if (away !== undefined) refuse(away, '"when_away" only beside usd', findings)
    return undefined
  }
  const usd = readNumber(field, 0, usdMax, findings)
  if (!members.has('per')) refuse(field, `"per" beside it: ${moneyPeriods.join(', ')}`, findings)
  if (usd === undefined || per === undefined) return undefined
  return {
    nanoUsd: Math.round(usd * nanoPerUsd),
    per,
    isHard,
    ...(asksUnpriced ? { asksUnpriced } : {}),
    ...(whenAway === 'open' ? { isOpenWhenAway: true } : {}),
  }
}

const unpricedWords = ['last', 'ask'] as const
const awayWords = ['closed', 'open'] as const
const wholeSubjects = ['everyone', 'each person', 'each key'] as const
const subjectForms = ['everyone', 'each person', 'each key', 'person:NAME', 'team:NAME', 'key:ID', 'provider:ID']
const subjectHints: Readonly<Record<string, string>> = {
  all: 'everyone',
  '*': 'everyone',
  user: 'person:NAME',
  users: 'each person',
  'each user': 'each person',
  keys: 'each key',
  group: 'team:NAME',
  line: 'key:ID',
  model: 'everyone',
}

/** Reads the callers, or the provider, that an entry is for. */
export function readSubject(
  field: Field | undefined,
  { teams, keys }: NamesOfFile,
  findings: Findings,
): LimitSubject | undefined {
  if (field === undefined) return undefined
  const value: unknown = field.node.value
  const text = typeof value === 'string' ? value : ''
  const kind = wholeSubjects.find((each) => each === text)
  if (kind !== undefined) return { kind }
  const [, beginning = '', name = ''] = /^([^:]*):(.*)$/s.exec(text) ?? []
  switch (beginning) {
    case 'person':
      return readPart(field, name, personRule.pattern)
        ? { kind: 'person', name }
        : refuse(field, `"person:NAME" with ${personRule.allowed}`, findings)
    case 'team':
      return teams.includes(name)
        ? { kind: 'team', name }
        : refuse(field, `the name of one of the teams of this file${didYouMean(name, teams)}`, findings)
    case 'key':
      return readKeyName(name, keys) ?? refuse(field, keyForms + didYouMean(name, keys), findings)
    case 'provider':
      return readPart(field, name, idRule.pattern)
        ? { kind: 'provider', id: name }
        : refuse(field, '"provider:ID" with the id of a provider', findings)
    default:
      return refuse(field, subjectForms.map((each) => `"${each}"`).join(', ') + subjectHint(text, beginning), findings)
  }
}

function readKeyName(name: string, keys: readonly string[]): LimitSubject | undefined {
  if (/^[1-9]\d{0,14}$/.test(name)) return { kind: 'key', line: Number(name) }
  return keys.includes(name) ? { kind: 'key', line: lineOfFileKey(name), name } : undefined
}

const subjectLengthMax = 300
const keyForms =
  '"key:ID" with the number of a line of keys, as "svc keys list --json" shows it, ' +
  'or "key:NAME" with the name of a key in "keys" of this file'

function readPart({ node }: Field, name: string, pattern: RegExp): boolean {
  return String(node.value).length <= subjectLengthMax && pattern.test(name)
}

function subjectHint(text: string, beginning: string): string {
  const word = (beginning === '' ? text : beginning).toLowerCase()
  const hint = Object.hasOwn(subjectHints, word) ? subjectHints[word] : undefined
  if (hint !== undefined) return ` (did you mean "${hint}"?)`
  return didYouMean(beginning === '' ? text : `${beginning}:NAME`, subjectForms)
}

function readModels(field: Field | undefined, findings: Findings): readonly string[] | undefined {
  if (field === undefined) return undefined
  const items = readElements(field, findings)
  if (items === undefined) return undefined
  if (items.length === 0 || items.length > modelsMax)
    return refuse(field, `a list of 1 to ${modelsMax} names of models; without it the limit is for all`, findings)
  return [...new Set(items.flatMap((item) => readTextField(item, modelPatternRule, findings) ?? []))]
}

/** Finds amounts that another one of the same subject and models repeats, or leaves without effect. */
function comparedAmounts(findings: Findings): {
  add(limit: AccessLimit, members: ReadonlyMap<string, Field>): void
} {
  const known = new Map<string, Compared[]>()

  function compare(one: Compared, others: readonly Compared[]): void {
    const same = others.find(({ rank }) => rank === one.rank)
    if (same !== undefined) {
      findings.add(one.field, `a second limit of ${one.text}`, `each limit once (the first is ${same.field.path})`)
      return
    }
    const longer = others.find(({ rank, amount }) => rank > one.rank && amount < one.amount)
    const shorter = others.find(({ rank, amount }) => rank < one.rank && amount > one.amount)
    if (longer !== undefined) refuse(one.field, `at most ${longer.amount}, as in ${longer.field.path}`, findings)
    else if (shorter !== undefined)
      refuse(one.field, `at least ${shorter.amount}, as in ${shorter.field.path}, which has no effect`, findings)
  }

  return {
    add(limit, members) {
      const { subject, models = [] } = limit
      const scope = JSON.stringify([subjectText(subject), models.map((name) => name.toLowerCase()).toSorted()])
      for (const one of amountsOf(limit, members)) {
        const key = `${one.name} ${scope}`
        const others = known.get(key) ?? []
        compare(one, others)
        known.set(key, [...others, one])
      }
    },
  }
}

interface Compared {
  readonly name: (typeof amountNames)[number]
  readonly field: Field
  readonly amount: number
  /** Order of the periods. */
  readonly rank: number
  /** In words, such as `requests a minute for everyone`. */
  readonly text: string
}

const periods: readonly (RatePeriod | MoneyPeriod)[] = ['minute', 'hour', ...moneyPeriods]

function amountsOf(limit: AccessLimit, members: ReadonlyMap<string, Field>): readonly Compared[] {
  const { subject, requests, tokens, atOnce, usd } = limit
  const all: readonly [Compared['name'], number | undefined, RateAmount['per'] | MoneyPeriod | undefined][] = [
    ['requests', requests?.count, requests?.per],
    ['tokens', tokens?.count, tokens?.per],
    ['at_once', atOnce, undefined],
    ['usd', usd === undefined ? undefined : usd.nanoUsd / nanoPerUsd, usd?.per],
  ]
  return all.flatMap(([name, amount, per]) => {
    const field = members.get(name)
    if (amount === undefined || field === undefined) return []
    const period = per === undefined ? '' : ` ${periodText(per)}`
    const rank = per === undefined ? -1 : periods.indexOf(per)
    return [{ name, field, amount, rank, text: `${name}${period} for ${subjectText(subject)}` }]
  })
}
