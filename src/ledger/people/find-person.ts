import type { PersonDatabase } from '../ledger.ts'
import { shortened } from '../use/shortened.ts'
import type { WorkRow } from '../work.ts'

/** A person, by user name or by user id. */
export interface WantedPerson {
  readonly by: 'name' | 'id'
  readonly text: string
}

/** A person that the database knows. */
export interface FoundPerson {
  /** `Person.id`, as the table `person` keeps it. Absent: only changes name the person. */
  readonly personId?: string
  /** Number of the person in sums and rows; 0: there are none. */
  readonly id: number
  /** The present one and earlier ones, as far as they are known. */
  readonly names: readonly string[]
  /** Numbers of own keys, of those among them that have not ended, and of changes that the person made. */
  readonly keys: number
  readonly keysInUse: number
  readonly entries: number
}

/** No person, or several, are meant by a name. */
export class PersonNotFound extends Error {
  override readonly name = 'PersonNotFound'
}

/** The database does not know the person. */
export class PersonUnknown extends PersonNotFound {}

/** User id of the person of an own key, or the name of a person without one. */
const userIdOfKey = 'substr(coalesce(person_user_id, person_name), 1, 128)'
/** Condition of the own keys of a person. @param parameter such as `$1` */
export function ownKeys(parameter: string): string {
  return `key.person = ${parameter}`
}

/** Actors that are not people. */
function isPersonName(name: string): boolean {
  return !['command line', 'without sign-in', 'forgotten'].includes(name) && !name.startsWith('key:')
}

/** @throws {PersonNotFound} no person, or several */
export async function findPerson(database: PersonDatabase, wanted: WantedPerson): Promise<FoundPerson> {
  const subject = await findSubject(database, wanted)
  const names = new Set<string>()
  if (wanted.by === 'name' && isPersonName(wanted.text)) names.add(wanted.text)
  let id = 0
  if (subject !== undefined) {
    const [row] = await database.read({ text: 'SELECT id FROM person WHERE subject = $1', values: [subject] })
    id = Number(row?.['id'] ?? 0)
    const rows = await database.read({
      text: `SELECT name FROM person WHERE subject = $1 UNION SELECT person_name FROM key WHERE ${ownKeys('$1')}`,
      values: [subject],
    })
    for (const name of textsOf(rows, 'name')) if (isPersonName(name)) names.add(name)
  }
  const changes = await Promise.all(Array.from(names, (name) => countChanges(database, name)))
  const { entries, made } = changes.reduce(
    (sum, each) => ({ entries: sum.entries + each.entries, made: sum.made + each.made }),
    { entries: 0, made: 0 },
  )
  if (subject === undefined && entries + made === 0) throw unknownPerson(wanted)
  return {
    ...(subject === undefined ? {} : { personId: subject }),
    id,
    names: [...names],
    entries,
    ...(await countKeys()),
  }

  async function countKeys(): Promise<Pick<FoundPerson, 'keys' | 'keysInUse'>> {
    if (subject === undefined) return { keys: 0, keysInUse: 0 }
    const [row] = await database.read({
      text: `SELECT count(*) AS keys, count(*) FILTER (WHERE ended IS NULL) AS in_use FROM key
             WHERE ${ownKeys('$1')}`,
      values: [subject],
    })
    return { keys: Number(row?.['keys']), keysInUse: Number(row?.['in_use']) }
  }
}

/** `undefined`: neither sums nor own keys have the person. */
async function findSubject(database: PersonDatabase, { by, text: given }: WantedPerson): Promise<string | undefined> {
  const text = by === 'id' ? shortened(given) : given
  const inPeople = by === 'name' ? 'name = $1' : '(subject = $1 OR user_id = $1)'
  const inKeys =
    by === 'name'
      ? 'key.person IS NOT NULL AND person_name = $1'
      : `key.person IS NOT NULL AND (key.person = $1 OR ${userIdOfKey} = $1)`
  const rows = await database.read({
    text: `SELECT subject, coalesce(user_id, subject) AS user_id FROM person WHERE gone IS NULL AND ${inPeople}
           UNION SELECT key.person, ${userIdOfKey} FROM key WHERE ${inKeys} ORDER BY 1 LIMIT 20`,
    values: [text],
  })
  const people = new Map(rows.map((row) => [String(row['subject']), String(row['user_id'])]))
  const subjects = [...people.keys()]
  const [subject, ...others] = subjects
  if (others.length === 0) return subject
  if (by === 'id' && subjects.includes(text)) return text
  // Two identity providers may give the same user id.
  const userIds = [...people.values()]
  const ids = (new Set(userIds).size === userIds.length ? userIds : subjects).map((id) => `"id:${id}"`).join(', ')
  throw new PersonNotFound(`several people have or had the name ${JSON.stringify(text)}: name one of ${ids}`)
}

async function countChanges(
  database: PersonDatabase,
  name: string,
): Promise<{ readonly entries: number; readonly made: number }> {
  const [row] = await database.read({
    text: `SELECT (SELECT count(*) FROM audit WHERE actor = $1) AS entries,
                  (SELECT count(*) FROM key WHERE made_by = $1 OR ended_by = $1) AS made`,
    values: [name],
  })
  return { entries: Number(row?.['entries']), made: Number(row?.['made']) }
}

function unknownPerson({ by, text }: WantedPerson): PersonUnknown {
  const what = by === 'name' ? 'name' : 'id'
  return new PersonUnknown(
    `the database has no person with the ${what} ${JSON.stringify(text)}; upper and lower case count. ` +
      'svc usage --by person and svc audit show names',
  )
}

function textsOf(rows: readonly WorkRow[], column: string): string[] {
  return rows.map((row) => String(row[column]))
}
