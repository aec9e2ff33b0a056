import type { LimitRowEntry } from '../../src/http/page/page-api.ts'
import { formatCost, formatCount, formatMs } from '../ui/format.ts'

type Kind = LimitRowEntry['kind']

const units: Readonly<Record<Kind, string>> = { requests: ' requests', tokens: ' tokens', at_once: ' at once', usd: '' }

/** An amount of a limit: `$1.50`, `12,345`. */
export function amountOf(kind: Kind, amount: number): string {
  return kind === 'usd' ? formatCost(amount) : formatCount(amount)
}

/** The limit in words, such as `$5.00 a day`. */
export function limitWords({ kind, limit, per }: LimitRowEntry): string {
  const period = per === undefined ? '' : per === 'total' ? ' in total' : per === 'hour' ? ' an hour' : ` a ${per}`
  return `${amountOf(kind, limit)}${units[kind]}${period}`
}

/** Whose use counts, and how, in one line. @param timeZone of access.json, in which windows begin */
export function limitFacts({ kind, models, windowEnds, per, isApart, place }: LimitRowEntry, timeZone: string): string {
  const facts = [
    isApart ? 'each counted apart' : '',
    models === undefined ? '' : `only ${models.join(', ')}`,
    windowEnds === undefined ? '' : `begins again ${momentIn(timeZone, windowEnds)}`,
    kind === 'usd' && per === 'total' ? 'does not begin again' : '',
    `${place} of access.json`,
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

function momentIn(timeZone: string, time: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time)
}

/** The part of a limit that is used or held: 0 to 1. A limit of 0 is used up. */
export function usedShare(limit: number, remaining: number): number {
  return limit === 0 ? 1 : Math.min(1, Math.max(0, 1 - remaining / limit))
}

/** When all of it is back, such as `in 12.0 s`. `–`: nothing is used, or the window's end says it. */
export function backWords(backAt: number | undefined, now: number): string {
  return backAt === undefined || backAt <= now ? '–' : `in ${formatMs(backAt - now)}`
}
