import type { SqlKind } from '../sql-kind.ts'
import { peopleSql } from '../use/request-conditions.ts'
import type { UseTables } from '../use/stored-requests.ts'
import { joinedSql, listSql, numberInRow, sql, statement, textInRow, type Work, type WorkRow } from '../work.ts'
import type { ContentQuestion, KeptContent } from './content-question.ts'
import { contentBytesMax, contentChunkRows, contentFlags, contentText, type ContentRow } from './content-row.ts'

/** The numbers of the people of some rows, looked up each time: a person may have been forgotten since. */
export function* peopleOf(rows: readonly ContentRow[], kind: SqlKind): Work<readonly number[]> {
  const numbers: number[] = []
  for (const { person } of rows) numbers.push(yield* numberOf(person, kind))
  return numbers
}

function* numberOf(person: ContentRow['person'], { now }: SqlKind): Work<number> {
  if (person === undefined) return 0
  const { id: subject, name, accountId = null } = person
  const find = statement('SELECT id FROM person WHERE subject = $1', [subject])
  const [known] = yield find
  if (known !== undefined) return numberInRow(known, 'id')
  yield sql`INSERT INTO person (subject, name, seen, user_id) VALUES (${subject}, ${name}, ${now()}, ${accountId})
            ON CONFLICT (subject) DO NOTHING`
  return numberInRow((yield find)[0], 'id')
}

/** Adds content, within a transaction. @param people numbers of the people of the rows */
export function* addContent(rows: readonly ContentRow[], people: readonly number[], { now }: SqlKind): Work<void> {
  for (const [index, { id, time, line, keepMs, flags, question, answer }] of rows.entries()) {
    const bytes = question.length + answer.length
    yield sql`INSERT INTO content (id, time, line, person, expires, flags, bytes, question, answer)
              VALUES (${id}, ${time}, ${line}, ${people[index] ?? 0}, ${now()} + ${keepMs}, ${flags}, ${bytes},
                ${question}, ${answer})`
  }
}

/** The bytes of all content. */
export function* contentSize(): Work<number> {
  const [sum] = yield statement('SELECT coalesce(sum(bytes), 0) AS bytes FROM content')
  return numberInRow(sum, 'bytes')
}

/** Deletes some expired content, or the oldest if there is too much, within a transaction. @returns whether it did */
export function* deleteContent(now: number, { skipLocked }: SqlKind, bytesMax = contentBytesMax): Work<boolean> {
  const which =
    (yield* contentSize()) > bytesMax
      ? statement('ORDER BY seq')
      : sql`WHERE expires <= ${Math.floor(now)} ORDER BY expires`
  const deleted = yield sql`DELETE FROM content WHERE seq IN
    (SELECT seq FROM content ${which} LIMIT ${contentChunkRows} ${skipLocked}) RETURNING seq`
  return deleted.length > 0
}

/** Finds content that has not expired. */
export async function findContent(
  { names, rows, kind: { now } }: UseTables,
  { id, time, line, people }: ContentQuestion,
): Promise<KeptContent | undefined> {
  const conditions = [sql`id = ${id}`, sql`expires > ${now()}`]
  if (time !== undefined) conditions.push(sql`time = ${time}`)
  if (line !== undefined) conditions.push(sql`line = ${line}`)
  if (people !== undefined) {
    const numbers = await names(peopleSql(people))
    conditions.push(sql`person IN ${listSql(numbers.map((row) => numberInRow(row, 'id')))}`)
  }
  const [row] = await rows(
    sql`SELECT time, expires, line, person, flags, question, answer FROM content
        WHERE ${joinedSql(conditions, ' AND ')} ORDER BY seq DESC LIMIT 1`,
  )
  if (row === undefined) return undefined
  const [known] = await names(sql`SELECT subject FROM person WHERE id = ${numberInRow(row, 'person')} AND gone IS NULL`)
  return keptContent(row, known && textInRow(known, 'subject'))
}

/** Content of a row. */
export function keptContent(row: WorkRow, personId: string | undefined): KeptContent {
  const flags = numberInRow(row, 'flags')
  return {
    time: numberInRow(row, 'time'),
    expires: numberInRow(row, 'expires'),
    line: numberInRow(row, 'line'),
    person: numberInRow(row, 'person'),
    ...(personId === undefined ? {} : { personId }),
    question: contentText(row['question']),
    answer: contentText(row['answer']),
    isQuestionCut: (flags & contentFlags.questionCut) !== 0,
    isAnswerCut: (flags & contentFlags.answerCut) !== 0,
  }
}
