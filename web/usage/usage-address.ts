import { say } from '../texts/say.ts'
import { ownRange, usageRanges, writeDate, type Measure, type UsageRange } from './usage-sums.ts'

/** The groups that use can be shown by. */
export const usageGroups = say.usage.groups

/** A group. */
export type UsageGroupName = keyof typeof usageGroups

/** The charts, by the value that they show. */
export const usageMeasures: Readonly<Record<Measure, string>> = say.usage.measures

/** What the view shows. It is in the address, so that it survives a reload and can be sent to others. */
export interface UsageChoice {
  readonly range: UsageRange
  readonly by: UsageGroupName
  readonly measure: Measure
  /** Absent: the use of all for owners, else of the person. */
  readonly team?: string
}

const [, rangeDefault] = usageRanges

/** Reads a choice from an address such as `#/usage?time=30d&by=person`. Anything unknown is the default. */
export function readUsageChoice(hash: string): UsageChoice {
  const query = new URLSearchParams(hash.split('?')[1])
  const [by, chart] = [query.get('by') ?? '', query.get('chart') ?? '']
  const team = query.get('team') ?? ''
  return {
    range:
      usageRanges.find((range) => shortName(range) === query.get('time')) ??
      ownRange(query.get('from') ?? '', query.get('to') ?? '') ??
      rangeDefault,
    by: isKey(usageGroups, by) ? by : 'model',
    measure: isKey(usageMeasures, chart) ? chart : 'cost',
    ...(team === '' ? {} : { team }),
  }
}

/** Writes a choice as the query of an address, without what is the default. */
export function writeUsageChoice({ range, by, measure, team = '' }: UsageChoice): string {
  const query = new URLSearchParams()
  if (range.last !== undefined) {
    query.set('from', writeDate(range.last - (range.count - 1) * 86_400_000))
    query.set('to', writeDate(range.last))
  } else if (range !== rangeDefault) query.set('time', shortName(range))
  if (by !== 'model') query.set('by', by)
  if (measure !== 'cost') query.set('chart', measure)
  if (team !== '') query.set('team', team)
  return query.toString()
}

/**
 * The choice as a person can see it: no team that they may not see, and no groups by team but of all.
 *
 * @param isOwner sees all teams together
 * @param teams that the person may see
 */
export function visibleChoice(
  { team, ...choice }: UsageChoice,
  isOwner: boolean,
  teams: readonly string[],
): UsageChoice {
  const shown = team !== undefined && teams.includes(team) ? { team } : {}
  const isByTeam = choice.by === 'team' && (!isOwner || 'team' in shown)
  return { ...choice, ...shown, by: isByTeam ? 'model' : choice.by }
}

/** `24h`, `30d`. */
export function shortName({ unit, count }: UsageRange): string {
  return `${count}${unit === 'hour' ? 'h' : 'd'}`
}

/** Whether an object has this key. */
export function isKey<Key extends string>(names: Readonly<Record<Key, unknown>>, name: string): name is Key {
  return Object.hasOwn(names, name)
}
