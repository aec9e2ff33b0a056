import { personEntry, personIdAt } from '../base/person-entry.ts'
import { shortened } from '../ledger/use/shortened.ts'
import type { PeopleFilter, UseFilter, UseTeam } from '../ledger/use/use-question.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'

/** The use of the members of a team and of its keys: that which counts in its limits. */
export function useOfTeam(policy: AccessPolicy | undefined, name: string): UseFilter {
  const { leads = [], members = [] } = policy?.teams.get(name) ?? {}
  return { ...useOfPeople([...leads, ...members]), team: name }
}

/** Teams, as sums of use are asked for. */
export function useTeams(teams: AccessPolicy['teams']): readonly UseTeam[] {
  return Array.from(teams, ([name, { leads, members }]) => ({ name, ...useOfPeople([...leads, ...members]) }))
}

/** The use of people. @param entries of access.json */
export function useOfPeople(entries: readonly string[]): PeopleFilter {
  const people: string[] = []
  const userIds: string[] = []
  const userNames: string[] = []
  for (const entry of entries.map(personEntry))
    if (entry.kind === 'name') userNames.push(shortened(entry.name))
    else if (entry.provider === undefined) userIds.push(shortened(entry.userId))
    else people.push(personIdAt(entry.provider, entry.userId))
  return { people, userIds, userNames }
}
