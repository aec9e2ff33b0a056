import { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { migrations, rowMigrations } from '../migrations.ts'
import { identityOf, onlyNumber, openDatabase, performed } from '../open-database.ts'
import { namesTable } from '../use/names-table.ts'
import type { ContentQuestion, KeptContent } from './content-question.ts'
import { contentBytesMax, contentChunkRows, contentFlags, contentText, type ContentRow } from './content-row.ts'
import type { ContentStore } from './content-store.ts'

export interface ContentFileOptions {
  /** Path of svc.db, which has the people. */
  readonly path: string
  readonly lockMs?: number
  /** Unix milliseconds. */
  readonly now?: () => number
}

/** Path of requests.db beside svc.db. */
export function rowsPathBeside(path: string): string {
  return join(dirname(path), 'requests.db')
}

/** Content in requests.db. Opens the files at their first use, and again when one is replaced. */
export function contentFile({ path, lockMs = 5_000, now = Date.now }: ContentFileOptions): ContentStore {
  const rowsPath = rowsPathBeside(path)
  const people = openFile({ path, migrations, lockMs, isDispensable: false })
  const rows = openFile({ path: rowsPath, migrations: rowMigrations, lockMs, isDispensable: true })

  /** Numbers of people are looked up each time: a person may have been forgotten since. */
  async function personOf({ person }: ContentRow): Promise<number> {
    if (person === undefined) return 0
    const database = await people.current()
    return await performed(path, lockMs, () => {
      const known = database.query<{ id: number }, [string]>('SELECT id FROM person WHERE subject = ?1')
      return known.get(person.id)?.id ?? namesTable(database, now).idOfPerson(person)
    })
  }

  return {
    async write(added) {
      const numbers: number[] = []
      for (const row of added) numbers.push(await personOf(row))
      const database = await rows.current()
      await performed(rowsPath, lockMs, () => database.transaction(() => add(database, added, numbers)).immediate())
    },
    close() {
      people.close()
      rows.close()
    },
  }

  function add(database: Database, added: readonly ContentRow[], numbers: readonly number[]): void {
    const insert = database.query<unknown, (string | number | Uint8Array)[]>(
      `INSERT INTO content (id, time, line, person, expires, flags, bytes, question, answer)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    )
    for (const [index, { id, time, line, keepMs, flags, question, answer }] of added.entries()) {
      const bytes = question.length + answer.length
      insert.run(id, time, line, numbers[index] ?? 0, now() + keepMs, flags, bytes, question, answer)
    }
  }
}

/** A database that is opened when it is needed. Connections to replaced files stay open, as in `sumsFile`. */
function openFile(options: Parameters<typeof openDatabase>[0]) {
  let file: { readonly database: Database; readonly identity: string } | undefined
  const replaced: unknown[] = []

  function isSame(): boolean {
    try {
      return identityOf(options.path) === file?.identity
    } catch {
      return false // The file is gone.
    }
  }

  return {
    async current(): Promise<Database> {
      if (file !== undefined && isSame()) return file.database
      replaced.push(file)
      const database = await openDatabase(options)
      file = { database, identity: identityOf(options.path) }
      return database
    },
    close(): void {
      file?.database.close()
      file = undefined
    },
  }
}

/** The bytes of all content. */
export function contentBytes(database: Database): number {
  return onlyNumber(database, 'SELECT coalesce(sum(bytes), 0) FROM content')
}

/** Deletes some expired content, or the oldest if there is too much, within a transaction. @returns whether it did */
export function deleteSomeContent(database: Database, now: number, bytesMax: number = contentBytesMax): boolean {
  const which =
    contentBytes(database) > bytesMax
      ? `SELECT seq FROM content ORDER BY seq LIMIT ${contentChunkRows}`
      : `SELECT seq FROM content WHERE expires <= ${now} ORDER BY expires LIMIT ${contentChunkRows}`
  return database.run(`DELETE FROM content WHERE seq IN (${which})`).changes > 0
}

/** Reads content. @param people svc.db @param rows requests.db */
export function readFileContent(
  { people, rows }: { readonly people: Database; readonly rows: Database },
  { id, time, line, people: subjects }: ContentQuestion,
  now: number,
): KeptContent | undefined {
  const numbers =
    subjects &&
    people
      .query<{ id: number }, [string]>(`SELECT id FROM person WHERE subject IN (SELECT value FROM json_each(?1))`)
      .all(JSON.stringify(subjects))
      .map((row) => row.id)
  const row = rows
    .query<Record<string, unknown>, (string | number | null)[]>(
      `SELECT time, expires, line, person, flags, question, answer FROM content
       WHERE id = ?1 AND expires > ?2 AND time = coalesce(?3, time) AND line = coalesce(?4, line)
         AND (?5 IS NULL OR person IN (SELECT value FROM json_each(?5))) ORDER BY seq DESC LIMIT 1`,
    )
    .get(id, now, time ?? null, line ?? null, numbers === undefined ? null : JSON.stringify(numbers))
  if (row === null) return undefined
  const known = people
    .query<{ subject: string }, [number]>('SELECT subject FROM person WHERE id = ?1 AND gone IS NULL')
    .get(Number(row['person']))
  return keptContent(row, known?.subject)
}

/** Content of a row, whose numbers may be texts. */
export function keptContent(row: Readonly<Record<string, unknown>>, personId: string | undefined): KeptContent {
  const flags = Number(row['flags'])
  return {
    time: Number(row['time']),
    expires: Number(row['expires']),
    line: Number(row['line']),
    person: Number(row['person']),
    ...(personId === undefined ? {} : { personId }),
    question: contentText(row['question']),
    answer: contentText(row['answer']),
    isQuestionCut: (flags & contentFlags.questionCut) !== 0,
    isAnswerCut: (flags & contentFlags.answerCut) !== 0,
  }
}
