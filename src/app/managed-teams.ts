import { shortened } from '../ledger/use/shortened.ts'
import type { UseFilter, UseTeam } from '../ledger/use/use-question.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'
import { isLead, type PersonIdentity } from '../limits/named-limits.ts'

/** The teams whose keys and use a signed-in user may see: of a lead those that they lead, of an owner all. */
export function managedTeams(
  policy: AccessPolicy | undefined,
  person: PersonIdentity,
  isOwner: boolean,
): readonly string[] {
  return [...(policy?.teams ?? [])].flatMap(([name, team]) => (isOwner || isLead(team, person) ? [name] : []))
}

/** The use of the members of a team and of its keys: that which counts in its limits. */
export function useOfTeam(policy: AccessPolicy | undefined, name: string): UseFilter {
  const { leads = [], members = [] } = policy?.teams.get(name) ?? {}
  return { ...useOfPeople([...leads, ...members]), team: name }
}

/** Teams, as sums of use are asked for. */
export function useTeams(teams: AccessPolicy['teams']): readonly UseTeam[] {
  return Array.from(teams, ([name, { leads, members }]) => ({ name, ...useOfPeople([...leads, ...members]) }))
}

const idMark = 'id:'

/** The use of people. @param entries user names, or `id:VALUE` */
export function useOfPeople(entries: readonly string[]): Required<Pick<UseFilter, 'userIds' | 'userNames'>> {
  return {
    userIds: entries.filter((entry) => entry.startsWith(idMark)).map((entry) => shortened(entry.slice(idMark.length))),
    userNames: entries.filter((entry) => !entry.startsWith(idMark)).map(shortened),
  }
}
