import { limitsOfLabel } from '../../observe/record.ts'
import { shownEntry } from '../audit-chain.ts'
import { entryOfRow } from '../audit-works.ts'
import { keptContent } from '../content/content-works.ts'
import type { PersonDatabase } from '../ledger.ts'
import { counterNames } from '../use/counters.ts'
import { attemptColumns, requestColumns, requestTexts } from '../use/row-values.ts'
import type { WorkRow } from '../work.ts'
import { ownKeys, type FoundPerson } from './find-person.ts'

const pageRows = 2_000
const contentRowsMax = 20

const keyColumns = `id, line, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants, person_name,
  person_user_id, person_seen`
const textColumns = new Set(
  'hint name kind made_by ended_by grants person_name person_user_id subject user_id email'.split(' '),
)

/** Records in the audit that a person is exported. */
export async function recordExport(database: PersonDatabase, { id }: FoundPerson, time: number): Promise<void> {
  const maker = { actor: 'command line', via: 'command line' } as const
  // oxlint-disable-next-line eslint/require-yield -- it changes nothing else
  await database.change(function* () {
    return { ...maker, time, action: 'person.exported', object: String(id) }
  })
}

/**
 * Everything of a person as the text of one JSON object, in pieces: the person, own keys without hashes, changes, sums
 * by day and by hour, requests with their attempts, kept content, conversations; and number and chain of the newest
 * change of all. Times are Unix milliseconds, amounts nano-USD.
 *
 * @param conversations JSON texts
 * @throws {LedgerUnavailable}
 */
export function exportPerson(
  database: PersonDatabase,
  person: FoundPerson,
  options: ExportOptions,
): AsyncGenerator<string> {
  return new PersonExport(database, person, options).pieces()
}

interface ExportOptions {
  readonly time: number
  readonly conversations?: AsyncIterable<string> | undefined
}

class PersonExport {
  readonly #database: PersonDatabase
  readonly #person: FoundPerson
  readonly #options: ExportOptions
  readonly #labels = new Map<number, string>()

  constructor(database: PersonDatabase, person: FoundPerson, options: ExportOptions) {
    this.#database = database
    this.#person = person
    this.#options = options
  }

  async *pieces(): AsyncGenerator<string> {
    const { time, conversations } = this.#options
    yield `{"exported":${JSON.stringify(new Date(time).toISOString())},"names":${JSON.stringify(this.#person.names)}`
    const newestOf = { text: 'SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1', values: [] }
    const [newest] = await this.#database.read(newestOf)
    if (newest !== undefined) yield `,\n"audit":${JSON.stringify(plain(newest, new Set(['chain'])))}`
    yield* member('people', this.#people())
    yield* member('keys', this.#keys())
    yield* member('changes', this.#changes())
    yield* member('days', this.#sums('day'))
    yield* member('hours', this.#sums('hour'))
    yield* member('requests', this.#requests())
    yield* member('content', this.#content())
    if (conversations !== undefined) yield* texts('conversations', conversations)
    yield '}\n'
  }

  async *#people(): AsyncGenerator<object> {
    const text = 'SELECT id, subject, user_id, name, email, seen FROM person WHERE subject = $1'
    if (this.#person.personId !== undefined)
      yield* (await this.#database.read({ text, values: [this.#person.personId] })).map((row) => plain(row))
  }

  async *#keys(): AsyncGenerator<object> {
    if (this.#person.personId === undefined) return
    const text = `SELECT ${keyColumns} FROM key WHERE ${ownKeys('$1')} ORDER BY id`
    for (const row of await this.#database.read({ text, values: [this.#person.personId] })) {
      const grants: unknown = JSON.parse(String(row['grants']))
      yield { ...plain(row), grants }
    }
  }

  async *#changes(): AsyncGenerator<object> {
    const text = `SELECT * FROM audit WHERE actor = $1 AND seq > $2 ORDER BY seq LIMIT ${pageRows}`
    for (const name of this.#person.names)
      for (let after = 0; ;) {
        const rows = await this.#database.read({ text, values: [name, after] })
        for (const row of rows) yield shownEntry(entryOfRow(row))
        if (rows.length < pageRows) break
        after = Number(rows.at(-1)?.['seq'])
      }
  }

  async *#sums(unit: 'day' | 'hour'): AsyncGenerator<object> {
    if (this.#person.id === 0) return
    const text = `SELECT ${unit}, line, model, provider, ${counterNames.join(', ')} FROM usage_${unit}
                  WHERE person = $1 ORDER BY ${unit}`
    for (const row of await this.#database.read({ text, values: [this.#person.id] }))
      yield await this.#named(plain(row))
  }

  async *#requests(): AsyncGenerator<object> {
    if (this.#person.id === 0) return
    const text = `SELECT seq, ${requestColumns.filter((name) => name !== 'person').join(', ')} FROM request
                  WHERE person = $1 AND person <> 0 AND (time, seq) > ($2, $3) ORDER BY time, seq LIMIT ${pageRows}`
    for (let last: readonly [number, number] = [Number.MIN_SAFE_INTEGER, 0]; ;) {
      const rows = (await this.#database.inRequests({ text, values: [this.#person.id, ...last] })).map((row) =>
        plain(row, requestTexts),
      )
      const end = rows.at(-1)
      if (end === undefined) return
      const attempts = await this.#attemptsOf(rows.map(({ seq }) => Number(seq)))
      for (const { seq, ...row } of rows) yield { ...(await this.#named(row)), trail: attempts.get(Number(seq)) ?? [] }
      last = [Number(end['time']), Number(end['seq'])]
    }
  }

  /** Pages are small: a row has up to half a mebibyte of text. */
  async *#content(): AsyncGenerator<object> {
    if (this.#person.id === 0) return
    const text = `SELECT seq, id, time, line, expires, question, answer, flags FROM content
                  WHERE person = $1 AND person <> 0 AND seq > $2 AND expires > $3 ORDER BY seq LIMIT ${contentRowsMax}`
    for (let last = 0; ;) {
      const rows = await this.#database.inRequests({ text, values: [this.#person.id, last, this.#options.time] })
      const end = rows.at(-1)
      if (end === undefined) return
      for (const row of rows) {
        const {
          person: _person,
          personId: _personId,
          ...kept
        } = keptContent({ ...row, person: this.#person.id }, undefined)
        yield { id: row['id'], ...kept }
      }
      last = Number(end['seq'])
    }
  }

  async #attemptsOf(numbers: readonly number[]): Promise<ReadonlyMap<number, readonly object[]>> {
    const text = `SELECT seq, ${attemptColumns.join(', ')} FROM attempt WHERE seq IN (${numbers.join(', ')})
                  ORDER BY seq, n`
    const found = new Map<number, object[]>()
    for (const row of await this.#database.inRequests({ text, values: [] })) {
      const { seq, ...attempt } = plain(row)
      const trail = found.get(Number(seq)) ?? []
      trail.push(await this.#named(attempt))
      found.set(Number(seq), trail)
    }
    return found
  }

  /** Writes the texts of names in place of their numbers. */
  async #named(row: WorkRow): Promise<WorkRow> {
    const texts: Record<string, string> = {}
    for (const column of ['api', 'model', 'provider', 'error', 'class', 'limits'])
      if (column in row) texts[column] = await this.#labelOf(Number(row[column]))
    const { limits } = texts
    return { ...row, ...texts, ...(limits === undefined ? {} : { limits: limitsOfLabel(limits) }) }
  }

  async #labelOf(number: number): Promise<string> {
    if (number === 0) return ''
    const known = this.#labels.get(number)
    if (known !== undefined) return known
    const [row] = await this.#database.read({ text: 'SELECT text FROM label WHERE id = $1', values: [number] })
    const text = String(row?.['text'] ?? '')
    this.#labels.set(number, text)
    return text
  }
}

async function* member(name: string, rows: AsyncGenerator<object>): AsyncGenerator<string> {
  yield* texts(name, written(rows))
}

async function* written(rows: AsyncGenerator<object>): AsyncGenerator<string> {
  for await (const row of rows) yield JSON.stringify(row)
}

async function* texts(name: string, rows: AsyncIterable<string>): AsyncGenerator<string> {
  yield `,\n${JSON.stringify(name)}:[`
  let separator = '\n'
  for await (const row of rows) {
    yield separator + row
    separator = ',\n'
  }
  yield ']'
}

/** PostgreSQL gives numbers as texts. @param texts columns with text */
function plain(row: WorkRow, texts: ReadonlySet<string> = textColumns): WorkRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && !texts.has(name) ? Number(value) : value,
    ]),
  )
}
