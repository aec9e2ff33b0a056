import { expect, test } from 'bun:test'
import { fieldNames } from '../src/formats/chat/request-fields.ts'
import { chatMembers } from './openapi/request-bodies.ts'
import { sharedSchemas } from './openapi/shared-schemas.ts'

test('the table of a chat completion names the members that are checked', () => {
  expect(Object.keys({ model: '', ...chatMembers }).toSorted()).toEqual(fieldNames.toSorted())
})

test('a schema that is repeated becomes a reference, also inside of another one', () => {
  const inner = { type: 'object', properties: { text: { type: 'string', description: 'x'.repeat(200) } } }
  const outer = { type: 'object', properties: { part: inner, name: { type: 'string' } } }
  const found = sharedSchemas({
    one: { type: 'object', properties: { content: outer } },
    two: { type: 'array', items: outer },
    three: inner,
  })
  expect(found).toEqual({
    one: { type: 'object', properties: { content: { $ref: '#/components/schemas/content' } } },
    two: { type: 'array', items: { $ref: '#/components/schemas/content' } },
    three: { $ref: '#/components/schemas/part' },
    content: { type: 'object', properties: { part: { $ref: '#/components/schemas/part' }, name: { type: 'string' } } },
    part: inner,
  })
})
