import type { Boot, LimitRowEntry } from '../../src/http/page/page-api.ts'

/** A limit as the form has it. Amounts are as typed; absent: the limit has no such amount. */
export interface LimitFields {
  readonly subject: string
  /** Names with commas between them. Empty: all. */
  readonly models: string
  readonly usd?: string
  readonly requests?: string
  readonly tokens?: string
  readonly atOnce?: string
  /** Of the money. */
  readonly moneyPer: string
  /** Of requests and tokens, if there is no money. */
  readonly ratePer: string
  readonly isHard: boolean
}

export type AmountName = 'usd' | 'requests' | 'tokens' | 'atOnce'

/** An entry of `limits` in access.json. The service checks it. */
export type LimitEntryFields = Readonly<Record<string, unknown>>

export const amountNames = ['usd', 'requests', 'tokens', 'atOnce'] as const
export const moneyPeriods = ['day', 'week', 'month', 'year', 'total'] as const
export const ratePeriods = ['minute', 'hour', 'day'] as const

/** Callers that are not named one by one, as access.json has them. */
export function wholeSubjects({ user, hasKeys }: Pick<Boot, 'user' | 'hasKeys'>): readonly [string, ...string[]] {
  const ofKeys = hasKeys === true ? ['each key'] : []
  return user === undefined ? ['everyone', ...ofKeys] : ['each person', ...ofKeys, 'everyone']
}

/** The fields of a new limit. */
export function newFields(subject: string): LimitFields {
  return { subject, models: '', usd: '$5', moneyPer: 'day', ratePer: 'minute', isHard: false }
}

/** A new limit that repeats none: of the first callers, and then the first period, that have no budget yet. */
export function freeFields(
  subjects: readonly [string, ...string[]],
  limits: readonly Pick<LimitRowEntry, 'for' | 'kind' | 'per' | 'models'>[],
): LimitFields {
  const isTaken = ({ subject, moneyPer }: LimitFields): boolean =>
    limits.some((row) => row.for === subject && row.kind === 'usd' && row.per === moneyPer && row.models === undefined)
  const all = moneyPeriods.flatMap((moneyPer) => subjects.map((subject) => ({ ...newFields(subject), moneyPer })))
  return all.find((fields) => !isTaken(fields)) ?? newFields(subjects[0])
}

/** The fields of an entry of the file. */
export function fieldsOf(entry: LimitEntryFields): LimitFields {
  const per = textOf(entry['per'])
  const hasMoney = entry['usd'] !== undefined
  const amount = (name: AmountName, member: string) =>
    entry[member] === undefined ? {} : { [name]: textOf(entry[member]) }
  return {
    subject: textOf(entry['for']),
    models: Array.isArray(entry['models']) ? entry['models'].map(textOf).join(', ') : '',
    ...(hasMoney ? { usd: `$${textOf(entry['usd'])}` } : {}),
    ...amount('requests', 'requests'),
    ...amount('tokens', 'tokens'),
    ...amount('atOnce', 'at_once'),
    moneyPer: hasMoney && per !== '' ? per : 'day',
    ratePer: !hasMoney && per !== '' ? per : 'minute',
    isHard: entry['hard'] === true,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The entry of the fields. @param before the entry in the file, whose other members stay while they mean something */
export function entryOf(fields: LimitFields, before: LimitEntryFields = {}): LimitEntryFields {
  const { subject, models, usd, requests, tokens, atOnce, moneyPer, ratePer, isHard } = fields
  const names = models.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const hasRate = (requests ?? tokens) !== undefined
  const kept = (member: string, isKept: boolean) =>
    isKept && before[member] !== undefined ? { [member]: before[member] } : {}
  return {
    for: subject,
    ...(usd === undefined ? {} : { usd: numberOf(usd), per: moneyPer }),
    ...(requests === undefined ? {} : { requests: numberOf(requests) }),
    ...(tokens === undefined ? {} : { tokens: numberOf(tokens) }),
    ...(usd === undefined && hasRate && ratePer !== 'minute' ? { per: ratePer } : {}),
    ...(atOnce === undefined ? {} : { at_once: numberOf(atOnce) }),
    ...kept('wait_ms', atOnce !== undefined && names.length === 0),
    ...(names.length === 0 ? {} : { models: names }),
    ...(usd !== undefined && isHard ? { hard: true } : {}),
    ...kept('unpriced', usd !== undefined),
    ...kept('when_away', usd !== undefined),
  }
}

/** A number, also with a decimal comma; or the text, which the service refuses. */
function numberOf(text: string): number | string {
  const plain = text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/,(?=\d{1,2}$)/, '.')
  return /^\d+(?:\.\d+)?$/.test(plain) ? Number(plain) : text
}
