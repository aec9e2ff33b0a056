import { isFileLine } from '../people/keys/file-key.ts'
import { isNamedBy, type Caller, type CallerKey, type Person } from '../people/person.ts'
import { isMember } from '../people/teams.ts'
import {
  periodText,
  ratePeriods,
  subjectText,
  type AccessLimit,
  type AccessPolicy,
  type RatePeriod,
} from './access-policy.ts'
import type { CounterSpec } from './counter.ts'

/** A limit that names a caller. */
export interface NamedLimit {
  readonly spec: CounterSpec
  /** The models that count: names in lower case, or beginnings of names and `*`. Absent: all. */
  readonly models?: readonly string[]
}

const periodMs: Readonly<Record<RatePeriod, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** The period of some milliseconds; `undefined` without one. */
export function periodOf(ms: number): RatePeriod | undefined {
  return ratePeriods.find((period) => periodMs[period] === ms)
}

/** The limits of requests, tokens and concurrency that name a caller. */
export function limitsNaming(caller: Caller, policy: AccessPolicy): readonly NamedLimit[] {
  return policy.limits.flatMap((limit) => {
    const counted = countedFor(limit, caller, policy)
    return counted === undefined ? [] : namedLimits(limit, counted)
  })
}

/**
 * Identifies a caller among all: the key's line with its person or team, or the person, as rules name them. A key in
 * access.json may get another team, while requests that were sent before are under way.
 */
export function callerId({ key, person }: Caller): string {
  if (key === undefined) return namedId(person)
  if (person !== undefined) return `${keyId(key)} ${namedId(person)}`
  return key.team === undefined ? keyId(key) : `${keyId(key)} team:${key.team}`
}

/** As {@link callerId}, cheaply for keys of the database: their teams stay. */
export function callerKey(caller: Caller): string | number {
  const { key, person } = caller
  if (key === undefined || person !== undefined) return callerId(caller)
  return key.team === undefined || !isFileLine(key.line) ? key.line : callerId(caller)
}

/** Rules may have the id of a person, or the name, which may change while the id stays. */
function namedId(person: Person | undefined): string {
  return person === undefined ? '' : `${personId(person)} ${person.accountId ?? ''} ${person.name}`
}

/** Whose use counts under `each key`. */
function keyId({ line }: CallerKey): string {
  return `key:${line}`
}

/** Whose use counts under `each person`, with and without a key. */
function personId({ id }: Person): string {
  return `person:${id}`
}

/** Whose use counts under `each session`: another caller may send the same one. */
function sessionId(caller: Caller): string | undefined {
  return caller.session && `session:${caller.session} ${callerId(caller)}`
}

/** Whose requests a limit counts together with those of the caller; `undefined`: it does not name the caller. */
export function countedFor(
  { subject }: Pick<AccessLimit, 'subject'>,
  caller: Caller,
  { teams }: Pick<AccessPolicy, 'teams'>,
): string | undefined {
  const { key, person } = caller
  switch (subject.kind) {
    case 'everyone':
      return ''
    case 'each person':
      return person && personId(person)
    case 'each key':
      return key && keyId(key)
    case 'each session':
      return sessionId(caller)
    case 'key':
      return togetherIf(key?.line === subject.line)
    case 'person':
      return togetherIf(person !== undefined && isNamedBy(subject.name, person))
    case 'team':
      return togetherIf(key?.team === subject.name || isMember(teams.get(subject.name), person))
    case 'provider':
      return undefined
  }
}

function togetherIf(isNamed: boolean): string | undefined {
  return isNamed ? '' : undefined
}

/** The limits of one entry for the callers that it counts together. @param counted as {@link countedFor} gives it */
export function namedLimits(
  { subject, models, requests, tokens, atOnce, waitMs, place }: AccessLimit,
  counted: string,
): readonly NamedLimit[] {
  const folded = models?.map((name) => name.toLowerCase()).toSorted()
  const scope = JSON.stringify([subjectText(subject), counted, folded ?? null])
  const whose = subjectText(subject)
  const ofModels = models === undefined ? '' : ` of ${models.join(', ')}`
  const textOf = (amount: string) => `${amount}${ofModels} for ${whose} (${place} of access.json)`
  const specs: CounterSpec[] = []
  for (const [kind, amount] of [
    ['requests', requests],
    ['tokens', tokens],
  ] as const) {
    if (amount === undefined) continue
    const { count, per } = amount
    const text = textOf(`${count} ${kind} ${periodText(per)}`)
    specs.push({ key: `${kind} ${per} ${scope}`, kind, most: count, perMs: periodMs[per], subject: whose, text })
  }
  if (atOnce !== undefined)
    specs.push({
      key: `at_once ${scope}`,
      kind: 'at_once',
      most: atOnce,
      perMs: 0,
      subject: whose,
      text: textOf(`${atOnce} requests at once`),
      ...(waitMs === undefined ? {} : { waitMs }),
    })
  return specs.map((spec) => (folded === undefined ? { spec } : { spec, models: folded }))
}
