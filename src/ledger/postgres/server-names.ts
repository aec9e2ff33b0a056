import type { LabelKind } from '../../observe/fields.ts'
import type { Person } from '../../people/person.ts'
import { namesMax, type NamesTable } from '../use/names-table.ts'
import { jsonParameter, type Query } from './postgres-client.ts'

/** The ids of names at the server, which are found before a transaction and used in it. */
export interface ServerNames {
  /**
   * Finds the ids of all names that work asks for, and stores new names. Machines that store the same name get the same
   * id.
   *
   * @param work is called with a table that only collects names
   */
  prepare(query: Query, work: (names: NamesTable) => void): Promise<void>
  /** The ids of prepared names. */
  readonly table: NamesTable
}

interface Label {
  readonly kind: LabelKind
  readonly text: string
}

/** Makes names without an id. */
export function serverNames(now: () => number): ServerNames {
  const labels = new Map<string, number>()
  const counts = new Map<LabelKind, number>()
  const people = new Map<string, { readonly id: number; readonly name: string }>()

  function collector(newLabels: Map<string, Label>, newPeople: Map<string, Person>): NamesTable {
    return {
      idOf(kind, text) {
        const key = keyOf(kind, text)
        if (text !== '' && !labels.has(key)) newLabels.set(key, { kind, text })
        return 0
      },
      idOfPerson(person) {
        if (person !== undefined && people.get(person.id)?.name !== person.name) newPeople.set(person.id, person)
        return 0
      },
    }
  }

  async function findLabels(query: Query, wanted: readonly Label[]): Promise<void> {
    const rows = await query(
      `SELECT n, label.id FROM jsonb_to_recordset($1::text::jsonb) AS given (n bigint, kind text, text text)
       JOIN label ON label.kind = given.kind AND label.text = given.text`,
      [jsonParameter(wanted.map((label, n) => ({ n, ...label })))],
    )
    for (const row of rows) {
      const label = wanted[Number(row['n'])]
      if (label !== undefined) labels.set(keyOf(label.kind, label.text), Number(row['id']))
    }
  }

  async function storeLabels(query: Query, wanted: readonly Label[]): Promise<void> {
    await findLabels(query, wanted)
    const missing = await limited(
      query,
      wanted.filter(({ kind, text }) => !labels.has(keyOf(kind, text))),
    )
    if (missing.length === 0) return
    // In one order, so that machines that store the same names wait for each other.
    await query(
      `INSERT INTO label (kind, text)
       SELECT kind, text FROM jsonb_to_recordset($1::text::jsonb) AS given (kind text, text text)
       GROUP BY kind, text ORDER BY kind, text ON CONFLICT DO NOTHING`,
      [jsonParameter(missing)],
    )
    await findLabels(query, missing)
  }

  /** Beyond the limit of a kind, names count as `other`. */
  async function limited(query: Query, wanted: readonly Label[]): Promise<readonly Label[]> {
    const kept: Label[] = []
    for (const [kind, ofKind] of Map.groupBy(wanted, (label) => label.kind)) {
      if ((counts.get(kind) ?? namesMax) + ofKind.length > namesMax) {
        const [row] = await query('SELECT count(*) AS count FROM label WHERE kind = $1', [kind])
        counts.set(kind, Number(row?.['count']))
      }
      const count = counts.get(kind) ?? 0
      kept.push(...ofKind.slice(0, Math.max(0, namesMax - count)))
      if (count + ofKind.length > namesMax) kept.push({ kind, text: 'other' })
      counts.set(kind, count + ofKind.length)
    }
    return kept
  }

  async function storePeople(query: Query, wanted: readonly Person[]): Promise<void> {
    const rows = await query(
      `INSERT INTO person (subject, name, seen, user_id)
       SELECT DISTINCT ON (id) id, name, $2::bigint, "accountId"
       FROM jsonb_to_recordset($1::text::jsonb) AS given (id text, name text, "accountId" text) ORDER BY id, name
       ON CONFLICT (subject) DO UPDATE SET name = excluded.name, seen = excluded.seen RETURNING id, subject`,
      [jsonParameter(wanted), now()],
    )
    const ids = new Map(rows.map((row) => [String(row['subject']), Number(row['id'])]))
    for (const { id, name } of wanted) people.set(id, { id: ids.get(id) ?? 0, name })
  }

  return {
    async prepare(query, work) {
      if (labels.size > namesMax) labels.clear()
      if (people.size > namesMax) people.clear()
      const newLabels = new Map<string, Label>()
      const newPeople = new Map<string, Person>()
      work(collector(newLabels, newPeople))
      if (newLabels.size > 0) await storeLabels(query, [...newLabels.values()])
      if (newPeople.size > 0) await storePeople(query, [...newPeople.values()])
    },
    table: {
      idOf: (kind, text) =>
        text === '' ? 0 : (labels.get(keyOf(kind, text)) ?? labels.get(keyOf(kind, 'other')) ?? 0),
      idOfPerson: (person) => (person === undefined ? 0 : (people.get(person.id)?.id ?? 0)),
    },
  }
}

function keyOf(kind: LabelKind, text: string): string {
  return `${kind} ${text}`
}
