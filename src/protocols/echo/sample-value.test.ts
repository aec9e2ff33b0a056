import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import { sampleValue } from './sample-value.ts'

const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false, logger: false })
const city = { type: 'string' }

describe('a value that fits', () => {
  const schemas: readonly (readonly [string, JsonObject])[] = [
    ['no keyword', {}],
    ['a const', { const: { a: [1, null] } }],
    ['an enum', { enum: ['b', 'a'] }],
    ['an enum with another type', { type: 'integer', enum: ['b', 1.5, 7] }],
    ['required members', { type: 'object', properties: { city, days: { type: 'integer' } }, required: ['city'] }],
    ['a required member that is not declared', { required: ['x'], additionalProperties: { type: 'null' } }],
    [
      'nested objects',
      { properties: { a: { type: 'object', properties: { city }, required: ['city'] } }, required: ['a'] },
    ],
    ['several types', { type: ['array', 'null'], items: city, minItems: 3 }],
    ['a tuple', { type: 'array', prefixItems: [city, { type: 'null' }], minItems: 2 }],
    ['no elements', { type: 'array', maxItems: 0 }],
    ['lengths', { type: 'string', minLength: 6, maxLength: 7 }],
    ['a short text', { type: 'string', maxLength: 2 }],
    ['a date', { type: 'string', format: 'date' }],
    ['limits', { type: 'integer', exclusiveMinimum: 5, maximum: 6 }],
    ['negative numbers', { type: 'number', maximum: -3.5 }],
    ['a small gap', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 }],
    ['multiples', { type: 'integer', multipleOf: 7, minimum: 8 }],
    [
      'all schemas',
      {
        allOf: [{ properties: { a: city }, required: ['a'] }, { $ref: '#/$defs/b' }],
        $defs: { b: { properties: { a: { minLength: 9 } }, required: ['a'] } },
      },
    ],
    ['nested allOf', { allOf: [{ allOf: [{ required: ['a'] }] }, { required: ['b'] }] }],
    ['any schema', { anyOf: [false, { type: 'array', items: false, minItems: 1 }, city] }],
    ['any schema at all', { anyOf: [false, true] }],
    ['one schema', { oneOf: [{ type: 'null' }, city] }],
    ['members beside anyOf', { type: 'object', properties: { a: city }, anyOf: [{ required: ['a'] }] }],
    [
      'a list of nodes',
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
            required: ['next'],
          },
        },
      },
    ],
    [
      'a tree',
      { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } }, required: ['children'] },
    ],
    ['an escaped reference', { $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { const: 7 } } }],
    [
      'a member named as the prototype',
      { properties: JSON.parse('{"__proto__":{"const":1}}') as JsonObject, required: ['__proto__'] },
    ],
  ]
  test.each(schemas)('%s', (_, schema) => {
    const value = sampleValue(schema)
    expect(value).not.toBeUndefined()
    expect([ajv.validate(schema, value), value, ajv.errorsText()]).toEqual([true, value, 'No errors'])
  })

  const base = { depthSize: 'small', maxDepth: 4 } as const
  const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      base,
      fc.record({ type: fc.constant('string'), minLength: fc.nat(20) }),
      fc.record({
        type: fc.constantFrom('integer', 'number'),
        minimum: fc.integer(),
        multipleOf: fc.integer({ min: 1, max: 9 }),
      }),
      fc.record({ enum: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: fc.jsonValue() }),
      fc.constantFrom<JsonObject>({ type: 'null' }, { type: 'boolean' }, {}),
      fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }).map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      })),
    ),
  }))

  test('any schema of these keywords', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const value = sampleValue(schema)
        expect(value).not.toBeUndefined()
        expect(ajv.validate(schema, value)).toBe(true)
      }),
    )
  })
})

describe('there is no value', () => {
  const schemas: readonly (readonly [string, JsonObject])[] = [
    ['that contains itself without end', { properties: { a: { $ref: '#' } }, required: ['a'] }],
    [
      'for references in a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['for a foreign reference', { $ref: 'https://example.com/schema' }],
    ['for a reference with a broken escape', { $ref: '#/%' }],
    ['for lengths without texts between them', { type: 'string', minLength: 3, maxLength: 2 }],
    ['for limits without numbers between them', { type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }],
    ['for an enum of another type', { type: 'string', enum: [1] }],
    ['of an unknown type', { type: 'text' }],
    ['with a member that is never allowed', { properties: { a: false }, required: ['a'] }],
    ['as long as this', { type: 'string', minLength: 1e9 }],
    ['as large as this', { type: 'array', minItems: 1e9 }],
  ]
  test.each(schemas)('%s', (_, schema) => {
    expect(sampleValue(schema)).toBeUndefined()
  })

  test('as large as that of a small schema whose references double at each step', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` }
        return [`d${index}`, { properties: { a: next, b: next }, required: ['a', 'b'] }]
      }),
    )
    expect(sampleValue({ $ref: '#/$defs/d0', $defs: { ...$defs, d60: true } })).toBeUndefined()
    const text = 'x'.repeat(10_000)
    expect(sampleValue({ type: 'array', minItems: 1_000, items: { const: text } })).toBeUndefined()
  })

  test('or one, for any JSON as a schema', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'type',
            'enum',
            'items',
            'properties',
            'required',
            'anyOf',
            'allOf',
            '$ref',
            'minimum',
            'minItems',
            'multipleOf',
            'minLength',
          ),
          fc.jsonValue(),
        ),
        (schema) => {
          const value = sampleValue(schema)
          expect(value === undefined || typeof JSON.stringify(value) === 'string').toBe(true)
        },
      ),
    )
  })
})
