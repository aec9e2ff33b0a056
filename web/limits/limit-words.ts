import type { LimitRowEntry } from '../../src/http/page/page-api.ts'
import { locale } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatMs } from '../ui/format.ts'
import type { moneyPeriods, ratePeriods } from './limit-fields.ts'

type Kind = LimitRowEntry['kind']

/** A period of a limit. */
export type Period = (typeof moneyPeriods)[number] | (typeof ratePeriods)[number]

/** A period in words, such as `a day`. */
export const perWords: Readonly<Record<Period, string>> = say.limitForm.per

/** An amount of a limit: `$1.50`, `12,345`. */
export function amountOf(kind: Kind, amount: number): string {
  return kind === 'usd' ? formatCost(amount) : formatCount(amount)
}

/** The limit in words, such as `$5.00 a day`. */
export function limitWords({ kind, limit, per }: LimitRowEntry): string {
  return periodWords(kindWords(kind, amountOf(kind, limit)), per)
}

/** The limit with its callers, such as `$5.00 a day for each person`. */
export function limitTitle(row: LimitRowEntry, subject = subjectWords(row.for)): string {
  return say.limits.title.replace('{words}', () => limitWords(row)).replace('{subject}', () => subject)
}

/** When a budget begins again, behind other words: `, begins again 1 Dec`. Empty for other limits. */
export function windowWords({ kind, per, windowEnds }: LimitRowEntry, timeZone: string): string {
  if (windowEnds !== undefined) return `, ${say.limits.beginsAgain(momentIn(timeZone, windowEnds))}`
  return kind === 'usd' && per === 'total' ? `, ${say.limits.doesNotBeginAgain}` : ''
}

/** An amount with its unit, such as `58 of 60 requests`. */
export function kindWords(kind: string, amount: string): string {
  return amounts[kind]?.replace('{amount}', () => amount) ?? `${amount} ${kind}`
}

/** An amount with its period, such as `a shared budget a month`. */
export function periodWords(amount: string, per: string | undefined): string {
  return periods[per ?? '']?.replace('{amount}', () => amount) ?? amount
}

const amounts: Readonly<Record<string, string>> = say.limits.amount

const periods: Readonly<Record<string, string>> = say.limits.per

/** The callers of a limit in words, such as `each person`. Names of teams, keys and people stay as they are. */
export function subjectWords(subject: string): string {
  return subjects[subject] ?? subject
}

const subjects: Readonly<Record<string, string>> = say.limits.subjects

/** Whose use counts, and how, in one line. */
export function limitFacts({ models, isApart, place }: LimitRowEntry): string {
  const facts = [
    isApart ? say.limits.apart : '',
    models === undefined ? '' : say.limits.onlyModels(models.join(', ')),
    say.limits.place(place),
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

/** The index in `limits` of access.json. */
export function placeOf({ place }: LimitRowEntry): string {
  return /\d+/.exec(place)?.[0] ?? ''
}

function momentIn(timeZone: string, time: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time)
}

/** The part of a limit that is used or held: 0 to 1. A limit of 0 is used up. */
export function usedShare(limit: number, remaining: number): number {
  return limit === 0 ? 1 : Math.min(1, Math.max(0, 1 - remaining / limit))
}

/** When all of it is back, such as `in 12.0 s`. `–`: nothing is used, or the window's end says it. */
export function backWords(backAt: number | undefined, now: number): string {
  return backAt === undefined || backAt <= now ? '–' : say.limits.backIn(formatMs(backAt - now))
}
