import { isNamedBy, type Person } from './person.ts'

/** People by user name, or by `id:VALUE`. Leads are members. */
export interface Team {
  readonly leads: readonly string[]
  readonly members: readonly string[]
}

/** Whether a person is one of a team, or leads it. */
export function isMember(team: Team | undefined, person: Person | undefined): boolean {
  return team !== undefined && isOneOf([...team.leads, ...team.members], person)
}

function isOneOf(entries: readonly string[], person: Person | undefined): boolean {
  return person !== undefined && entries.some((entry) => isNamedBy(entry, person))
}

/** The teams whose keys and use a signed-in user may see: of a lead those that they lead, of an owner all. */
export function managedTeams(
  teams: ReadonlyMap<string, Team> | undefined,
  person: Person | undefined,
  isOwner: boolean,
): readonly string[] {
  return [...(teams ?? [])].flatMap(([name, team]) => (isOwner || isOneOf(team.leads, person) ? [name] : []))
}
