import type { JsonObject } from '../../base/json-value.ts'
import { isObject, listOf, objectOf, textOf } from '../exact-json.ts'
import { memberOf, snakeCase } from './spelling.ts'

/** Members whose value is a number, which Google also writes as text. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Members that JSON Schema has not. */
const own: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example'])
const camelCase: ReadonlyMap<string, string> = new Map(
  [...counts, ...own, 'anyOf'].map((name) => [snakeCase(name), name]),
)

/**
 * Makes JSON Schema of a schema in Google's dialect, whose types are in capitals
 * (https://ai.google.dev/api/caching#Schema).
 */
export function readSchema(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).flatMap(([given, value]): readonly (readonly [string, unknown])[] => {
    const name = camelCase.get(given) ?? given
    if (own.has(name) || value === null) return []
    return [[name, readMember(name, value)]]
  })
  const read = Object.fromEntries(members)
  return memberOf(schema, 'nullable') === true ? nullable(read) : read
}

function readMember(name: string, value: unknown): unknown {
  if (name === 'type') return textOf(value)?.toLowerCase() ?? value
  if (counts.has(name)) return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (name === 'items') return isObject(value) ? readSchema(value) : value
  if (name === 'anyOf') return listOf(value).map((each) => readSchema(objectOf(each)))
  if (name === 'properties' && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readSchema(objectOf(each))]))
  return value
}

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(values === undefined ? {} : { enum: [...listOf(values), null] }),
  }
}
