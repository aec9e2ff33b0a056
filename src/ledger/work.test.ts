import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { atOnce, rowsOf, statement } from './work.ts'

test('parameters count by their numbers, in any order, and a JSON path keeps its mark', () => {
  const database = new Database(':memory:')
  const text = `SELECT $2 AS second, $1 AS first, json_extract('{"cost":7}', '$.cost') AS cost`
  expect(atOnce(database, rowsOf(statement(text, ['a', 'b'])))).toEqual([{ second: 'b', first: 'a', cost: 7 }])
  database.close()
})
