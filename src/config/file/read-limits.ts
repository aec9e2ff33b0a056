import type { JsonObject } from '../../base/json-value.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
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
import { listShape, objectShape } from '../../shapes/containers.ts'
import { memberNode, type ShapeNode } from '../../shapes/node.ts'
import {
  flagShape,
  integerShape,
  mapShape,
  numberShape,
  refuseNode,
  textShape,
  wordShape,
  type Faults,
  type ValueOf,
  type ValueShape,
} from '../../shapes/shape.ts'
import { idRule, modelPatternRule, personRule } from './rules.ts'

const modelsMax = 100
/** In nano-USD still an exact number. */
const usdMax = 9_000_000
const nanoPerUsd = 1e9

/** Amounts of a limit, by the names of their members. */
const amountNames = ['requests', 'tokens', 'at_once', 'usd'] as const

/** The names in the file that limits and rules of content may have. */
export interface NamesOfFile {
  readonly teams: readonly string[]
  readonly keys: readonly string[]
}

const periods: readonly (RatePeriod | MoneyPeriod)[] = ['minute', 'hour', ...moneyPeriods]

const models = mapShape(
  listShape(textShape(modelPatternRule), {
    ...{ min: 1, max: modelsMax, noun: 'models' },
    allowed: `a list of 1 to ${modelsMax} names of models; without it the limit is for all`,
  }),
  (names) => [...new Set(names)],
)

/** The members of an entry of `limits`, but for `for`. */
const amounts = {
  models,
  requests: integerShape(0, 1_000_000_000),
  tokens: integerShape(0, 1_000_000_000_000),
  at_once: integerShape(0, 1_000_000),
  // Longer than clients notice, and short enough that connections do not pile up.
  wait_ms: integerShape(0, 2_000),
  usd: numberShape(0, usdMax),
  // Which of them are allowed depends on the amounts: checkCompany.
  per: {
    read: ({ value }: ShapeNode) => periods.find((period) => period === value),
    schema: wordShape(periods).schema,
  },
  hard: flagShape,
  unpriced: wordShape(['last', 'ask']),
  when_away: wordShape(['closed', 'open']),
}

/** In the schema: values that fit the condition must fit the consequence, and others the alternative. */
function whenever(condition: JsonObject, consequence: JsonObject, alternative?: JsonObject): readonly JsonObject[] {
  const others = alternative === undefined ? [] : [{ anyOf: [condition, alternative] }]
  return [{ anyOf: [{ not: condition }, consequence] }, ...others]
}

const oneOfThem = (names: readonly string[]): JsonObject => ({ anyOf: names.map((name) => ({ required: [name] })) })

const amountRules = {
  ...oneOfThem(amountNames),
  allOf: [
    ...whenever(
      { required: ['usd'] },
      { required: ['per'], properties: { per: { enum: [...moneyPeriods] } } },
      { properties: { per: { enum: [...ratePeriods] }, hard: false, unpriced: false, when_away: false } },
    ),
    ...whenever({ required: ['wait_ms'] }, { required: ['at_once'], properties: { models: false } }),
    ...whenever({ required: ['per'] }, oneOfThem(['requests', 'tokens', 'usd'])),
    ...whenever(
      { properties: { for: { pattern: '^provider:' } } },
      { properties: { requests: false, tokens: false, at_once: false } },
    ),
  ],
}

/** `limits`. */
export function limitsShape(names: NamesOfFile): ValueShape<readonly AccessLimit[]> {
  const entry = mapShape(limitShape(names), (values, node) => ({ limit: limitOf(values, node.path), node }))
  return mapShape(listShape(entry, { max: 1_000, noun: 'limits' }), (entries, _, faults) => {
    compareAmounts(entries, faults)
    return entries.map(({ limit }) => limit)
  })
}

/** An entry of `limits`. */
function limitShape(names: NamesOfFile) {
  return objectShape(
    { for: subjectShape(names, limitPattern), ...amounts },
    {
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
      check: (values, node, faults) => {
        if (!amountNames.some((name) => memberNode(node, name) !== undefined))
          faults.add(node, 'no amount', 'one or more of requests, tokens, at_once, usd')
        checkCompany(node, faults)
        if (values.for?.kind === 'provider') refuseRates(node, faults)
        const money = memberNode(node, 'usd')
        if (values.for?.kind === 'each session' && money !== undefined)
          refuseNode(money, 'for sessions, only requests, tokens and at_once', faults)
      },
      schema: amountRules,
    },
  )
}

type LimitValues = ValueOf<ReturnType<typeof limitShape>>

/** A provider's own concurrency limit is in providers.json, and its rates are its own. */
function refuseRates(node: ShapeNode, faults: Faults): void {
  for (const name of ['requests', 'tokens', 'at_once']) {
    const member = memberNode(node, name)
    const hint = name === 'at_once' ? '; see "max_concurrent" of the provider in providers.json' : ''
    if (member !== undefined) refuseNode(member, `for a provider, only usd${hint}`, faults)
  }
}

/** Members that mean something only beside others. */
function checkCompany(node: ShapeNode, faults: Faults): void {
  const has = (name: string): boolean => memberNode(node, name) !== undefined
  const refuseIf = (isRefused: boolean, name: string, allowed: string): void => {
    const member = memberNode(node, name)
    if (isRefused && member !== undefined) refuseNode(member, allowed, faults)
  }
  // `per` belongs to the money, where there is some: rates beside it are a minute.
  const isMoney = has('usd')
  const per = memberNode(node, 'per')
  if (per !== undefined) wordShape<string>(isMoney ? moneyPeriods : ratePeriods).read(per, faults)
  refuseIf(!isMoney && !has('requests') && !has('tokens'), 'per', '"per" only beside requests, tokens or usd')
  // Slots of limits for some models are taken after the body was read: its bytes must not wait.
  refuseIf(!has('at_once'), 'wait_ms', '"wait_ms" only beside at_once')
  refuseIf(has('at_once') && has('models'), 'wait_ms', '"wait_ms" only without models')
  for (const name of ['unpriced', 'hard', 'when_away']) refuseIf(!isMoney, name, `"${name}" only beside usd`)
  refuseIf(!has('per'), 'usd', `"per" beside it: ${moneyPeriods.join(', ')}`)
}

function limitOf(values: LimitValues, place: string): AccessLimit {
  const { models: named, requests, tokens, atOnce, waitMs = 0, usd } = values
  const ratePer = ratePeriods.find((period) => usd === undefined && period === values.per) ?? 'minute'
  const moneyPer = moneyPeriods.find((period) => period === values.per)
  return {
    ...{ place, subject: values.for },
    ...(named === undefined ? {} : { models: named }),
    ...(requests === undefined ? {} : { requests: { count: requests, per: ratePer } }),
    ...(tokens === undefined ? {} : { tokens: { count: tokens, per: ratePer } }),
    ...(atOnce === undefined ? {} : { atOnce }),
    ...(waitMs === 0 ? {} : { waitMs }),
    ...(usd === undefined || moneyPer === undefined ? {} : { usd: moneyOf(values, usd, moneyPer) }),
  }
}

function moneyOf({ hard = false, unpriced, whenAway }: LimitValues, usd: number, per: MoneyPeriod): MoneyAmount {
  return {
    ...{ nanoUsd: Math.round(usd * nanoPerUsd), per, isHard: hard },
    ...(unpriced === 'ask' ? { asksUnpriced: true } : {}),
    ...(whenAway === 'open' ? { isOpenWhenAway: true } : {}),
  }
}

const wholeSubjects = ['everyone', 'each person', 'each key', 'each session'] as const
const subjectForms = [...wholeSubjects, 'person:NAME', 'team:NAME', 'key:ID', 'provider:ID']
const subjectHints: Readonly<Record<string, string>> = {
  all: 'everyone',
  '*': 'everyone',
  user: 'person:NAME',
  users: 'each person',
  'each user': 'each person',
  keys: 'each key',
  session: 'each session',
  sessions: 'each session',
  group: 'team:NAME',
  line: 'key:ID',
  model: 'everyone',
}

const callers =
  'everyone|each person|each key|person:(?!id:$)[^\\s,\\u0000-\\u001f\\u007f]+|team:[a-z0-9][a-z0-9_-]*' +
  '|key:(?:[1-9]\\d{0,14}|[A-Za-z][A-Za-z0-9._-]*)'
/** Subjects that are callers, for the schema. */
export const callerPattern = `^(?:${callers})$`
const limitPattern = `^(?:each session|${callers}|provider:[a-z0-9][a-z0-9_-]*)$`

/** The callers, or the provider, that an entry is for. @param pattern for the schema */
export function subjectShape(names: NamesOfFile, pattern: string): ValueShape<LimitSubject> {
  return {
    read: (node, faults) => readSubject(node, names, faults),
    schema: () => ({ type: 'string', maxLength: subjectLengthMax, pattern }),
  }
}

function readSubject(node: ShapeNode, { teams, keys }: NamesOfFile, faults: Faults): LimitSubject | undefined {
  const text = typeof node.value === 'string' ? node.value : ''
  const kind = wholeSubjects.find((each) => each === text)
  if (kind !== undefined) return { kind }
  const [, beginning = '', name = ''] = /^([^:]*):(.*)$/s.exec(text) ?? []
  const isNamed = ({ pattern }: TextRule): boolean => text.length <= subjectLengthMax && pattern.test(name)
  switch (beginning) {
    case 'person':
      if (isNamed(personRule)) return { kind: 'person', name }
      return refuseNode(node, `"person:NAME" with ${personRule.allowed}`, faults)
    case 'team':
      if (teams.includes(name)) return { kind: 'team', name }
      return refuseNode(node, `the name of one of the teams of this file${didYouMean(name, teams)}`, faults)
    case 'key':
      return readKeyName(name, keys) ?? refuseNode(node, keyForms + didYouMean(name, keys), faults)
    case 'provider':
      if (isNamed(idRule)) return { kind: 'provider', id: name }
      return refuseNode(node, '"provider:ID" with the id of a provider', faults)
    default: {
      const forms = subjectForms.map((each) => `"${each}"`).join(', ')
      return refuseNode(node, forms + subjectHint(text, beginning), faults)
    }
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

function subjectHint(text: string, beginning: string): string {
  const word = (beginning === '' ? text : beginning).toLowerCase()
  const hint = Object.hasOwn(subjectHints, word) ? subjectHints[word] : undefined
  if (hint !== undefined) return ` (did you mean "${hint}"?)`
  return didYouMean(beginning === '' ? text : `${beginning}:NAME`, subjectForms)
}

/** Finds amounts that another one of the same subject and models repeats, or leaves without effect. */
function compareAmounts(
  entries: readonly { readonly limit: AccessLimit; readonly node: ShapeNode }[],
  faults: Faults,
): void {
  const known = new Map<string, Compared[]>()
  for (const { limit, node } of entries) {
    const models = (limit.models ?? []).map((name) => name.toLowerCase()).toSorted()
    const scope = JSON.stringify([subjectText(limit.subject), models])
    for (const one of amountsOf(limit, node)) {
      const others = known.get(`${one.name} ${scope}`) ?? []
      compare(one, others, faults)
      known.set(`${one.name} ${scope}`, [...others, one])
    }
  }
}

function compare(one: Compared, others: readonly Compared[], faults: Faults): void {
  const same = others.find(({ rank }) => rank === one.rank)
  if (same !== undefined) {
    faults.add(one.field, `a second limit of ${one.text}`, `each limit once (the first is ${same.field.path})`)
    return
  }
  const longer = others.find(({ rank, amount }) => rank > one.rank && amount < one.amount)
  const shorter = others.find(({ rank, amount }) => rank < one.rank && amount > one.amount)
  if (longer !== undefined) refuseNode(one.field, `at most ${longer.amount}, as in ${longer.field.path}`, faults)
  else if (shorter !== undefined)
    refuseNode(one.field, `at least ${shorter.amount}, as in ${shorter.field.path}, which has no effect`, faults)
}

interface Compared {
  readonly name: (typeof amountNames)[number]
  readonly field: ShapeNode
  readonly amount: number
  /** Order of the periods. */
  readonly rank: number
  /** In words, such as `requests a minute for everyone`. */
  readonly text: string
}

function amountsOf(limit: AccessLimit, node: ShapeNode): readonly Compared[] {
  const { subject, requests, tokens, atOnce, usd } = limit
  const all: readonly [Compared['name'], number | undefined, RateAmount['per'] | MoneyPeriod | undefined][] = [
    ['requests', requests?.count, requests?.per],
    ['tokens', tokens?.count, tokens?.per],
    ['at_once', atOnce, undefined],
    ['usd', usd === undefined ? undefined : usd.nanoUsd / nanoPerUsd, usd?.per],
  ]
  return all.flatMap(([name, amount, per]) => {
    const field = memberNode(node, name)
    if (amount === undefined || field === undefined) return []
    const period = per === undefined ? '' : ` ${periodText(per)}`
    const rank = per === undefined ? -1 : periods.indexOf(per)
    return [{ name, field, amount, rank, text: `${name}${period} for ${subjectText(subject)}` }]
  })
}
