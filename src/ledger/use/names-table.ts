import type { Database } from 'bun:sqlite'
import type { LabelKind } from '../../observe/fields.ts'
import type { Person } from '../../people/person.ts'

/** Names of one kind, beyond which further ones count as `other`. */
export const namesMax = 100_000

/** The ids of names and people. New ones are stored. Ids are found in memory after their first use. */
export interface NamesTable {
  /** @returns 0 for an empty name */
  idOf(kind: LabelKind, name: string): number
  /** @returns 0 without a person */
  idOfPerson(person: Person | undefined): number
}

/** The names of a database. A transaction that is rolled back needs a new one. */
export function namesTable(database: Database, now: () => number): NamesTable {
  const known = new Map<string, number>()
  const counts = new Map<LabelKind, number>()
  const people = new Map<string, { readonly id: number; readonly name: string }>()
  const find = database.query<{ id: number }, [string, string]>('SELECT id FROM label WHERE kind = ?1 AND text = ?2')
  const insert = database.query<unknown, [string, string]>('INSERT INTO label (kind, text) VALUES (?1, ?2)')
  const put = database.query<{ id: number }, [string, string, number, string | null]>(
    `INSERT INTO person (subject, name, seen, user_id) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (subject) DO UPDATE SET name = excluded.name, seen = excluded.seen RETURNING id`,
  )

  function countOf(kind: LabelKind): number {
    const count =
      counts.get(kind) ??
      Number(database.query<unknown, [string]>('SELECT count(*) FROM label WHERE kind = ?1').values(kind)[0]?.[0])
    counts.set(kind, count)
    return count
  }

  function stored(kind: LabelKind, name: string): number {
    const found = find.get(kind, name)
    if (found !== null) return found.id
    if (countOf(kind) >= namesMax && name !== 'other') return stored(kind, 'other')
    counts.set(kind, countOf(kind) + 1)
    return Number(insert.run(kind, name).lastInsertRowid)
  }

  return {
    idOf(kind, name) {
      if (name === '') return 0
      const key = `${kind} ${name}`
      const id = known.get(key) ?? stored(kind, name)
      if (known.size < namesMax) known.set(key, id)
      return id
    },
    idOfPerson(person) {
      if (person === undefined) return 0
      const { id: subject, accountId = null, name } = person
      const found = people.get(subject)
      if (found?.name === name) return found.id
      const { id } = put.get(subject, name, now(), accountId) ?? { id: 0 }
      if (people.size < namesMax) people.set(subject, { id, name })
      return id
    },
  }
}
