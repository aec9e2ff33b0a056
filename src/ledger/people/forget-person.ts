import { forgotten } from '../key-row.ts'
import type { PersonDatabase } from '../ledger.ts'
import { numberInRow, statement, type Work } from '../work.ts'
import { ownKeys, type FoundPerson } from './find-person.ts'
import { forgottenMark } from './forgotten-mark.ts'

/**
 * Ends the keys of a person, deletes the content of the person's requests and the sums by session, and removes name,
 * e-mail address and ids of the person from all tables, with one entry in the audit. Other sums, rows and entries stay,
 * without the person. Then no byte of them is left in the files.
 *
 * @param at Unix milliseconds
 * @throws {LedgerUnavailable} also if everything is removed, but its bytes could not be overwritten
 */
export async function forgetPerson(database: PersonDatabase, person: FoundPerson, at: number): Promise<void> {
  const { personId: subject, id, names } = person
  // First: a failure must not leave content of a person who cannot be found any more.
  if (id !== 0) {
    await database.inRequests(statement('DELETE FROM content WHERE person = $1', [id]))
    // Callers name sessions, some of them by the person.
    await database.inRequests(statement('UPDATE request SET session = NULL WHERE person = $1', [id]))
  }
  await database.change(function* (version) {
    // Owners of lasting values begin with the person.
    if (subject !== undefined)
      yield statement('DELETE FROM lasting WHERE substr(owner, 2, length($1)) = $2', [subject, subject])
    if (id !== 0) yield statement('DELETE FROM usage_session WHERE person = $1', [id])
    const keys = subject === undefined ? [] : yield* forgetSubject(subject, { at, version })
    for (const name of names) yield* forgetName(name, version)
    return {
      ...{ time: at, actor: 'command line', via: 'command line', action: 'person.forgotten', object: String(id) },
      after: { keys },
    }
  })
  await database.erase()
}

/** @returns the ids of the keys that it ends */
function* forgetSubject(
  subject: string,
  { at, version }: { readonly at: number; readonly version: number },
): Work<readonly number[]> {
  const ended = yield statement(
    `UPDATE key SET ended = $1, ended_by = 'command line' WHERE ended IS NULL AND ${ownKeys('$2')} RETURNING id`,
    [at, subject],
  )
  yield statement(
    `UPDATE key SET person = NULL, person_name = NULL, person_user_id = NULL, person_caseless = NULL,
       person_seen = NULL, name = '${forgotten}', made_by = '${forgotten}', version = $1
     WHERE ${ownKeys('$2')}`,
    [version, subject],
  )
  yield statement(
    `UPDATE person SET subject = '${forgotten} #' || id, name = '${forgotten} #' || id, email = NULL,
       user_id = NULL, gone = $1
     WHERE subject = $2`,
    [at, subject],
  )
  // Services that know the person's number look it up again.
  yield statement(
    `INSERT INTO meta (name, value) VALUES ('${forgottenMark}', $1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [crypto.randomUUID()],
  )
  return ended.map((row) => numberInRow(row, 'id'))
}

function* forgetName(name: string, version: number): Work<void> {
  for (const column of ['made_by', 'ended_by'])
    yield statement(`UPDATE key SET ${column} = '${forgotten}', version = $1 WHERE ${column} = $2`, [version, name])
  yield statement('UPDATE audit SET actor = NULL, actor_salt = NULL WHERE actor = $1', [name])
}
