import { keptContent } from '../content/content-file.ts'
import type { ContentQuestion, KeptContent } from '../content/content-question.ts'
import { contentBytesMax, contentChunkRows, type ContentRow } from '../content/content-row.ts'
import type { ContentStore } from '../content/content-store.ts'
import { jsonParameter, type PostgresClient, type Query } from './postgres-client.ts'

/** Unix milliseconds of the server: machines with wrong clocks neither keep content longer nor shorter. */
const clock = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Content in PostgreSQL. */
export function serverContent(client: PostgresClient): ContentStore {
  async function add(query: Query, row: ContentRow): Promise<void> {
    const { id, time, line, person, keepMs, flags, question, answer } = row
    await query(
      `INSERT INTO content (id, time, line, person, expires, flags, bytes, question, answer)
       VALUES ($1, $2, $3, $4, ${clock} + $5, $6, $7, $8, $9)`,
      [
        ...[id, time, line, await personOf(query, person), keepMs, flags, question.length + answer.length],
        ...[question, answer],
      ],
    )
  }

  return {
    async write(rows) {
      await client.transaction(async (query) => {
        for (const row of rows) await add(query, row)
      })
    },
    close: () => client.close(),
  }
}

/** Numbers of people are looked up each time: a person may have been forgotten since. */
async function personOf(query: Query, person: ContentRow['person']): Promise<number> {
  if (person === undefined) return 0
  const { id: subject, name, accountId = null } = person
  const find = async () => (await query('SELECT id FROM person WHERE subject = $1', [subject]))[0]?.['id']
  const known = await find()
  if (known !== undefined) return Number(known)
  await query(
    `INSERT INTO person (subject, name, seen, user_id) VALUES ($1, $2, ${clock}, $3) ON CONFLICT (subject) DO NOTHING`,
    [subject, name, accountId],
  )
  return Number(await find())
}

/** Deletes some expired content, or the oldest if there is too much. @returns whether it did */
export async function deleteSomeServerContent(
  query: Query,
  now: number,
  bytesMax: number = contentBytesMax,
): Promise<boolean> {
  const [sum] = await query('SELECT coalesce(sum(bytes), 0) AS bytes FROM content')
  const which =
    Number(sum?.['bytes']) > bytesMax ? 'ORDER BY seq' : `WHERE expires <= ${Math.floor(now)} ORDER BY expires`
  const deleted = await query(
    `DELETE FROM content WHERE seq IN
       (SELECT seq FROM content ${which} LIMIT ${contentChunkRows} FOR UPDATE SKIP LOCKED) RETURNING seq`,
  )
  return deleted.length > 0
}

/** Reads content. */
export async function readServerContent(
  query: Query,
  { id, time, line, people }: ContentQuestion,
): Promise<KeptContent | undefined> {
  const [row] = await query(
    `SELECT content.time, content.expires, content.line, content.person, content.flags, content.question,
       content.answer, person.subject
     FROM content LEFT JOIN person ON person.id = content.person AND person.gone IS NULL
     WHERE content.id = $1 AND content.expires > ${clock}
       AND ($2::bigint IS NULL OR content.time = $2) AND ($3::bigint IS NULL OR content.line = $3)
       AND ($4::text IS NULL OR person.subject IN (SELECT jsonb_array_elements_text($4::text::jsonb)))
     ORDER BY content.seq DESC LIMIT 1`,
    [id, time ?? null, line ?? null, people === undefined ? null : jsonParameter(people)],
  )
  if (row === undefined) return undefined
  return keptContent(row, typeof row['subject'] === 'string' ? row['subject'] : undefined)
}
