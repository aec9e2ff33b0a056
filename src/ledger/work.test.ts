import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { atOnce, joinedSql, listSql, rowsOf, sql, statement } from './work.ts'

test('parameters count by their numbers, in any order, and a JSON path keeps its mark', () => {
  const database = new Database(':memory:')
  const text = `SELECT $2 AS second, $1 AS first, json_extract('{"cost":7}', '$.cost') AS cost`
  expect(atOnce(database, rowsOf(statement(text, ['a', 'b'])))).toEqual([{ second: 'b', first: 'a', cost: 7 }])
  database.close()
})

test('statements in a statement keep their own values, also used twice', () => {
  const bytes = new Uint8Array([1])
  const own = joinedSql([sql`a = ${'?'} OR a = ${null}`, sql`b IN ${listSql([2, 3])}`], ' AND ')
  expect(sql`SELECT ${statement('c')} FROM t WHERE d = ${bytes} AND (${own}) LIMIT ${4}`).toEqual({
    text: 'SELECT c FROM t WHERE d = $1 AND (a = $2 OR a = $3 AND b IN ($4, $5)) LIMIT $6',
    values: [bytes, '?', null, 2, 3, 4],
  })
  const twice = statement('e = $1 OR f = $1', [5])
  expect(sql`${0} ${twice}`).toEqual({ text: '$1 e = $2 OR f = $2', values: [0, 5] })
  expect(listSql([])).toEqual({ text: '(NULL)', values: [] })
})
