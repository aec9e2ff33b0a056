import type { LimitRowEntry, LimitsAnswer, PeopleAnswer, UsageAnswer } from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'

/** The people, with their costs and their remaining amounts. */
export interface PeopleState extends PeopleAnswer {
  /** This month's cost in USD by user name. Absent: no use is kept. */
  readonly month?: ReadonlyMap<string, number>
  readonly limits: readonly LimitRowEntry[]
}

interface Asked {
  readonly hasUsage: boolean
  readonly hasLimits: boolean
}

/** Loads the people. Sums and limits that cannot be read are left out: sessions are shown all the same. */
export async function loadPeople(client: ApiClient, signal: AbortSignal, asked: Asked): Promise<PeopleState> {
  const [people, use, limits] = await Promise.all([
    client.get<PeopleAnswer>('/api/people', signal),
    asked.hasUsage
      ? client.get<UsageAnswer>(`/api/usage?by=person&from=${monthStart(new Date())}`, signal).catch(() => undefined)
      : undefined,
    asked.hasLimits ? client.get<LimitsAnswer>('/api/limits', signal).catch(() => undefined) : undefined,
  ])
  return {
    ...people,
    ...(use === undefined ? {} : { month: costsOf(use) }),
    limits: limits?.limits ?? [],
  }
}

function monthStart(now: Date): string {
  return `${now.toISOString().slice(0, 7)}-01`
}

function costsOf({ rows }: UsageAnswer): ReadonlyMap<string, number> {
  const costs = new Map<string, number>()
  for (const { name, cost } of rows) costs.set(name, (costs.get(name) ?? 0) + cost)
  return costs
}

/** A budget of one person, and its remaining amount. */
export interface PersonBudget {
  readonly row: LimitRowEntry
  readonly remaining: number
}

/** The person's own budget with the smallest part left. */
export function tightestOf(limits: readonly LimitRowEntry[], userName: string): PersonBudget | undefined {
  const own = limits.flatMap((row) => {
    if (row.kind !== 'usd') return []
    if (row.isApart && row.for.endsWith('person')) {
      const remaining = row.uses.find(({ name }) => isSame(name, userName))?.remaining ?? row.limit
      return [{ row, remaining }]
    }
    const [use] = row.uses
    return isSame(row.for, `person:${userName}`) && use !== undefined ? [{ row, remaining: use.remaining }] : []
  })
  const partOf = ({ row, remaining }: PersonBudget) => (row.limit === 0 ? 0 : remaining / row.limit)
  return own.toSorted((one, other) => partOf(one) - partOf(other))[0]
}

/** Some identity providers, such as GitHub, ignore the case of names. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
