import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import schemaOfFile from '../../../schema/providers.schema.json' with { type: 'json' }
import { isRecord } from '../../base/json-value.ts'
import { faultsOf, validatorOf } from './testing.ts'

/** The keywords of JSON Schema that providers.schema.json uses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}

const root: Schema = schemaOfFile
const definitions: Readonly<Record<string, Schema>> = schemaOfFile.$defs
const isValid = validatorOf(schemaOfFile)

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/$defs/', '')
  return name === undefined ? schema : (definitions[name] ?? schema)
}

/** Faults that no JSON Schema can express: they compare several values. */
const comparing = [
  /^each name and alias once/,
  /^a unique id for each provider/,
  /^each header once/,
  /^a name without a cycle of aliases/,
  /^formats only with the protocol/,
  /^prompt_cache only with/,
  /^any request field except "system" with/,
  /^the smallest number before/,
  /^each number of tokens once/,
]

function isAccepted(value: unknown): boolean {
  return faultsOf(JSON.stringify(value)).every(({ allowed }) => comparing.some((pattern) => pattern.test(allowed)))
}

const texts = [
  'a',
  'b c',
  'd/e:f',
  'groq',
  'echo',
  'openai',
  '*',
  '',
  ' a',
  'a ',
  'a\n',
  'ü',
  'A',
  '-a',
  '_a',
  '0',
  'a,b',
  '@a',
  'id:5',
  '$NAME',
  '$name_1',
  '$1',
  '$a-b',
  '${NAME}',
  'Bearer $NAME',
  'costs $5',
  'two words',
  'a\u0000',
  '\u007f',
  '\t',
  'https://a.test/v1',
  'http://127.0.0.1:9/',
  'HTTPS://a.test',
  'ftp://a.test',
  'https://a@b.test',
  'https://a.test/?b',
  'https://a.test/#b',
  'https://a.test/chat/completions',
  'https://a.test/v1/chat/completions/',
  'https://',
  'a.test',
  'host',
  'Content-Length',
  'te',
  'x-a',
  'x a',
  'model',
  'messages',
  'stream',
  'temperature',
  '__proto__',
  'constructor',
  ...[64, 65, 128, 129, 256, 257, 2048, 2049, 8192, 8193].map((length) => 'x'.repeat(length)),
] as const
const anything = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 'a', '', [], ['a'], {}, { a: 1 })
const names = fc.constantFrom(...texts)

/** Values that the schema describes, and some that it does not. */
function valuesOf(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolved(given)
  return fc.oneof({ weight: 60, arbitrary: describedBy(schema) }, { weight: 1, arbitrary: anything })
}

function describedBy(schema: Schema): fc.Arbitrary<unknown> {
  const { anyOf, minimum = 0, maximum = 0 } = schema
  if (schema.properties !== undefined) return objects(schema)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(valuesOf))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return mostly(schema.enum, [...schema.enum.map(String), 'other'])
  switch (schema.type) {
    case 'integer':
    case 'number':
      return mostly([minimum, maximum, minimum + 1], [minimum - 1, maximum + 1, minimum + 0.5])
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 3 })
    case 'object':
      return fc.dictionary(
        names,
        isRecord(schema.additionalProperties) ? valuesOf(schema.additionalProperties) : anything,
        {
          maxKeys: 2,
        },
      )
    case 'string':
      return mostly(
        texts.filter((text) => fits(text, schema)),
        texts,
      )
    default:
      return anything
  }
}

/** Members of an object: one, or none. */
type Members = readonly (readonly [string, unknown])[]

/** Objects with a few optional members, and the required ones of one alternative. */
function objects({ properties = {}, required = [], anyOf = [{}] }: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    ...anyOf.map((alternative) => {
      const needed = [...required, ...(alternative.required ?? Object.keys(alternative.properties ?? {}))]
      const members = Object.entries({ ...properties, ...alternative.properties }).map(([name, schema]) =>
        fc.oneof(
          { weight: 30, arbitrary: valuesOf(schema).map((value): Members => [[name, value]]) },
          { weight: needed.includes(name) ? 1 : 150, arbitrary: fc.constant<Members>([]) },
        ),
      )
      const others = mostly<Members>([[]], [texts.slice(0, 5).map((name) => [name, 1] as const)])
      return fc.tuple(...members, others).map((lists): unknown => Object.fromEntries(lists.flat()))
    }),
  )
}

function mostly<Value>(usual: readonly Value[], others: readonly Value[]): fc.Arbitrary<Value> {
  return fc.oneof(...(usual.length === 0 ? [] : [{ weight: 30, arbitrary: fc.constantFrom(...usual) }]), {
    weight: 1,
    arbitrary: fc.constantFrom(...others),
  })
}

function fits(text: string, { pattern = '', minLength = 0, maxLength = Infinity }: Schema): boolean {
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern, 'u').test(text)
}

describe('providers.schema.json and the parser', () => {
  test('agree about generated files, except for faults that compare several values', () => {
    const verdicts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(valuesOf(root), (value) => {
        const isAllowed = isAccepted(value)
        verdicts[isAllowed ? 'accepted' : 'refused']++
        expect([isValid(value), JSON.stringify(value)]).toEqual([isAllowed, JSON.stringify(value)])
      }),
      { numRuns: 4_000, seed: 1 },
    )
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(1_000)
  })
})
