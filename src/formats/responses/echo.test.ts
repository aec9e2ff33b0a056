import { describe, expect, test } from 'bun:test'
import { checkBody } from '../check-body.ts'
import { objectOf, parseJson } from '../exact-json.ts'
import { echoOf } from './echo.ts'
import { requestReader } from './request.ts'

function echoed(fields: object): unknown {
  const body = Buffer.from(JSON.stringify({ model: 'm', input: 'x', ...fields }))
  return parseJson(`{${echoOf(checkBody(body, requestReader('responses')))}}`)
}

describe('the request in a response', () => {
  const closed = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false }

  test('has tools with strict', () => {
    const custom = { type: 'custom', name: 'c' }
    const tools = [
      { type: 'function', name: 'f', parameters: closed },
      { type: 'function', name: 'g', parameters: { type: 'object', properties: { a: {} } } },
      { type: 'function', name: 'h', strict: null },
      { type: 'function', name: 'i', strict: true, n: 1 },
      custom,
    ]
    const stricts = [true, false, false, true]
    const expected = stricts.map((strict, index) => ({ ...tools[index], strict }))
    expect(objectOf(echoed({ tools }))['tools']).toEqual([...expected, custom])
  })

  test('has the defaults of what it lacks', () => {
    expect(echoed({ reasoning: { effort: 'low' } })).toMatchObject({
      tools: [],
      tool_choice: 'auto',
      reasoning: { effort: 'low', summary: null },
    })
  })
})
