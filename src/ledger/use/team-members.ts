import { sql } from '../work.ts'
import type { TableReader } from './stored-requests.ts'
import type { UseTeam } from './use-question.ts'

/** People that are looked for in teams: those that used the service last. */
const peopleMax = 100_000

/**
 * SQL that gives the number of the team of a row of use, from 1; 0: of none. It has numbers alone. A row is of the team
 * of its key, else of that of its person.
 *
 * @param teams of people in several, the first one counts
 */
export async function teamColumn(names: TableReader, teams: readonly UseTeam[]): Promise<string> {
  const teamOfSubject = firstTeams(teams, ({ people }) => people)
  const teamOfId = firstTeams(teams, ({ userIds }) => userIds)
  const teamOfName = firstTeams(teams, ({ userNames }) => userNames.map(caseless))
  const members = new Map<number, number[]>()
  for (const row of await names(
    sql`SELECT id, subject, coalesce(user_id, subject) AS user_id, name FROM person
        ORDER BY seen DESC LIMIT ${peopleMax}`,
  )) {
    const found = [
      teamOfSubject.get(String(row['subject'])),
      teamOfId.get(String(row['user_id'])),
      teamOfName.get(caseless(String(row['name']))),
    ]
    const team = Math.min(...found.map((number) => number ?? Infinity))
    if (team !== Infinity) members.set(team, [...(members.get(team) ?? []), Number(row['id'])])
  }
  const labels = await names(sql`SELECT id, text FROM label WHERE kind = ${'team'}`)
  const ofKeys = labels.flatMap((row) => {
    const number = teams.findIndex(({ name }) => name === row['text']) + 1
    return number === 0 ? [] : [`WHEN team = ${Number(row['id'])} THEN ${number}`]
  })
  const ofPeople = Array.from(members, ([team, ids]) => `WHEN person IN (${ids.join(', ')}) THEN ${team}`)
  const cases = [...ofKeys, ...ofPeople]
  return cases.length === 0 ? '0' : `CASE ${cases.join(' ')} ELSE 0 END`
}

function firstTeams(
  teams: readonly UseTeam[],
  namesOf: (team: UseTeam) => readonly string[],
): ReadonlyMap<string, number> {
  return new Map(teams.flatMap((team, index) => namesOf(team).map((name) => [name, index + 1] as const)).toReversed())
}

/** The case of ASCII letters does not matter, as in filters of people. */
export function caseless(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
