import type { LabelKind } from '../../observe/fields.ts'
import type { Person } from '../../people/person.ts'
import { forRows, givenRows, insertRows, numberInRow, sql, statement, storableText, type Work } from '../work.ts'

/** Names of one kind, beyond which further ones count as `other`. */
const namesMax = 100_000

interface Label {
  readonly kind: LabelKind
  readonly text: string
}

const labelColumns = { columns: ['kind text', 'text text'], keys: 2 }
const findLabels = forRows(sql`SELECT kind, text, id FROM label WHERE (kind, text) IN (${givenRows})`, labelColumns)
const insertLabels = insertRows('label', labelColumns, statement('ON CONFLICT DO NOTHING'))
const putPeople = insertRows(
  'person',
  { columns: ['subject text', 'name text', 'seen', 'user_id text'], keys: 1 },
  statement('ON CONFLICT (subject) DO UPDATE SET name = excluded.name, seen = excluded.seen RETURNING id, subject'),
)

/**
 * The ids of names and people, which stay in memory. Names without an id are collected: {@link UseNames.store} finds
 * their ids, before the transaction that needs them. Machines that store the same name get the same id.
 */
export class UseNames {
  /** Of the people that were forgotten, as it was before the first id was found; `undefined`: not read yet. */
  mark: string | undefined
  readonly #now: () => number
  readonly #labels = new Map<string, number>()
  readonly #people = new Map<string, { readonly id: number; readonly name: string }>()
  /** Numbers of stored names. */
  readonly #counts = new Map<LabelKind, number>()
  readonly #newLabels = new Map<string, Label>()
  readonly #newPeople = new Map<string, Person>()

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** @returns 0 for an empty name, and for a name that must be stored first */
  idOf(kind: LabelKind, text: string): number {
    if (text === '') return 0
    const key = keyOf(kind, text)
    const id = this.#labels.get(key)
    if (id !== undefined) return id
    this.#newLabels.set(key, { kind, text: storableText(text) })
    return this.#labels.get(keyOf(kind, 'other')) ?? 0
  }

  /** @returns 0 without a person, and for a person who must be stored first */
  idOfPerson(person: Person | undefined): number {
    if (person === undefined) return 0
    const found = this.#people.get(person.id)
    if (found?.name !== person.name) this.#newPeople.set(person.id, person)
    return found?.id ?? 0
  }

  /** Names are asked for from here on. */
  collect(): void {
    if (this.#labels.size > namesMax) this.#labels.clear()
    if (this.#people.size > namesMax) this.#people.clear()
    this.#newLabels.clear()
    this.#newPeople.clear()
  }

  /** Whether names must be stored. */
  get hasNew(): boolean {
    return this.#newLabels.size > 0 || this.#newPeople.size > 0
  }

  /** Forgets all ids: they may have changed. */
  clear(): void {
    this.mark = undefined
    for (const map of [this.#labels, this.#people, this.#counts]) map.clear()
    this.collect()
  }

  /** Finds the ids of the collected names, and stores new names. */
  *store(): Work<void> {
    if (this.#newLabels.size > 0) yield* this.#storeLabels()
    if (this.#newPeople.size > 0) yield* this.#storePeople()
  }

  *#storeLabels(): Work<void> {
    yield* this.#findLabels([...this.#newLabels])
    const missing = [...this.#newLabels].filter(([key]) => !this.#labels.has(key))
    const limited = yield* this.#limited(missing.map(([, label]) => label))
    if (limited.length === 0) return
    yield insertLabels(limited.map(({ kind, text }) => [kind, text]))
    yield* this.#findLabels([...missing, ...limited.map((label) => [keyOf(label.kind, label.text), label] as const)])
  }

  *#findLabels(wanted: readonly (readonly [key: string, label: Label])[]): Work<void> {
    const found = yield findLabels(wanted.map(([, { kind, text }]) => [kind, text]))
    const ids = new Map(found.map((row) => [`${String(row['kind'])} ${String(row['text'])}`, numberInRow(row, 'id')]))
    for (const [key, { kind, text }] of wanted) {
      const id = ids.get(keyOf(kind, text))
      if (id !== undefined) this.#labels.set(key, id)
    }
  }

  /** Beyond the limit of a kind, names count as `other`. */
  *#limited(wanted: readonly Label[]): Work<readonly Label[]> {
    const kept: Label[] = []
    for (const [kind, ofKind] of Map.groupBy(wanted, (label) => label.kind)) {
      if ((this.#counts.get(kind) ?? namesMax) + ofKind.length > namesMax) {
        const [row] = yield sql`SELECT count(*) AS count FROM label WHERE kind = ${kind}`
        this.#counts.set(kind, numberInRow(row, 'count'))
      }
      const count = this.#counts.get(kind) ?? 0
      kept.push(...ofKind.slice(0, Math.max(0, namesMax - count)))
      if (count + ofKind.length > namesMax) kept.push({ kind, text: 'other' })
      this.#counts.set(kind, count + ofKind.length)
    }
    return kept
  }

  *#storePeople(): Work<void> {
    const people = new Map([...this.#newPeople.values()].map((person) => [storableText(person.id), person]))
    const rows = Array.from(people, ([id, { name, accountId = null }]) => [id, name, this.#now(), accountId])
    const stored = yield putPeople(rows)
    const ids = new Map(stored.map((row) => [String(row['subject']), numberInRow(row, 'id')]))
    for (const { id, name } of this.#newPeople.values())
      this.#people.set(id, { id: ids.get(storableText(id)) ?? 0, name })
  }
}

function keyOf(kind: LabelKind, text: string): string {
  return `${kind} ${text}`
}
