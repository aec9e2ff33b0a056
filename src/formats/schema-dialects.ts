import type { JsonObject } from '../base/json-value.ts'
import type { SchemaDialect } from '../profiles/profile.ts'
import { isObject, listOf, objectOf, omit } from './exact-json.ts'

/** Members that have a schema, a list of schemas, or an object of schemas. */
const ofSchema: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
])
const ofSchemas: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])
const ofNamedSchemas: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** Changes one schema, whose inner ones have been changed. Returns the same object if it fits. */
type SchemaRule = (schema: JsonObject) => JsonObject

const rules: Readonly<Record<SchemaDialect, SchemaRule>> = {
  closed,
  unbounded: (schema) => described(withoutMembers(oneOfAsAnyOf(schema), bounds), schema),
  mfjs: (schema) => declaredOnly(typeInside(plainReference(schema))),
  rooted: withItems,
}

/**
 * A schema in the subsets of JSON Schema that a target takes, in their order ({@link SchemaDialect}). The same object
 * if it fits.
 */
export function inDialects(schema: JsonObject, dialects: readonly SchemaDialect[]): JsonObject {
  return dialects.reduce((each, dialect) => {
    const fitting = mapped(each, rules[dialect], dialect === 'mfjs')
    return dialect === 'rooted' ? asRoot(fitting) : fitting
  }, schema)
}

/** @param hasNoBooleans schemas `true` and `false` become objects */
function mapped(schema: JsonObject, rule: SchemaRule, hasNoBooleans: boolean): JsonObject {
  const inner = (value: unknown): unknown =>
    isObject(value) ? mapped(value, rule, hasNoBooleans) : typeof value === 'boolean' && hasNoBooleans ? {} : value
  let isChanged = false
  const members = Object.entries(schema).map(([name, value]): readonly [string, unknown] => {
    const changed = mappedMember(name, value, inner)
    if (changed !== value) isChanged = true
    return [name, changed]
  })
  return rule(isChanged ? Object.fromEntries(members) : schema)
}

function mappedMember(name: string, value: unknown, inner: (value: unknown) => unknown): unknown {
  if (ofSchemas.has(name) && Array.isArray(value)) return same(value, value.map(inner))
  if (ofNamedSchemas.has(name) && isObject(value)) {
    const entries = Object.entries(value)
    const changed = entries.map(([key, each]) => [key, inner(each)] as const)
    return changed.every(([, each], index) => each === entries[index]?.[1]) ? value : Object.fromEntries(changed)
  }
  return ofSchema.has(name) && isObject(value) ? inner(value) : value
}

function same(given: readonly unknown[], changed: readonly unknown[]): readonly unknown[] {
  return changed.every((each, index) => each === given[index]) ? given : changed
}

/** Every object is closed. */
function closed(schema: JsonObject): JsonObject {
  const isOfObject =
    schema['type'] === 'object' || listOf(schema['type']).includes('object') || isObject(schema['properties'])
  return isOfObject && schema['additionalProperties'] !== false ? { ...schema, additionalProperties: false } : schema
}

/** Members that only validate. */
const bounds: readonly string[] = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'contains',
  'minContains',
  'maxContains',
]

function oneOfAsAnyOf(schema: JsonObject): JsonObject {
  const { oneOf, ...others } = schema
  return oneOf === undefined || 'anyOf' in schema ? schema : { ...others, anyOf: oneOf }
}

function withoutMembers(schema: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => name in schema)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))
}

/** Says bounds that were removed in the description, where the model reads them. */
function described(schema: JsonObject, given: JsonObject): JsonObject {
  const said = bounds.filter((name) => name in given && typeof given[name] !== 'object')
  if (said.length === 0) return schema
  const text = said.map((name) => `${name}: ${JSON.stringify(given[name])}`).join(', ')
  const { description } = given
  return {
    ...schema,
    description: typeof description === 'string' && description !== '' ? `${description} (${text})` : text,
  }
}

/** A reference stands alone: members beside it would collide with those of its target. */
function plainReference(schema: JsonObject): JsonObject {
  const { $ref, $defs, definitions } = schema
  if ($ref === undefined || Object.keys(schema).length === 1) return schema
  return { $ref, ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) }
}

/** With `anyOf`, the type stands in its items. */
function typeInside(schema: JsonObject): JsonObject {
  const { type, anyOf, ...others } = schema
  if (type === undefined || !Array.isArray(anyOf)) return schema
  const items = anyOf.map((item: unknown) => (isObject(item) && !('type' in item) ? { type, ...item } : item))
  return { ...others, anyOf: items }
}

/** Names of `required` are declared. */
function declaredOnly(schema: JsonObject): JsonObject {
  const { required, properties } = schema
  if (!Array.isArray(required)) return schema
  const declared = objectOf(properties)
  const kept = required.filter((name: unknown) => typeof name === 'string' && name in declared)
  if (kept.length === required.length) return schema
  const { required: _, ...others } = schema
  return kept.length === 0 ? others : { ...others, required: kept }
}

/** The parameters of a tool: an object, as most targets want it. */
export function ofObject(schema: unknown): JsonObject {
  const given = objectOf(schema)
  return given['type'] === 'object' ? given : { properties: {}, ...given, type: 'object' }
}

function withItems(schema: JsonObject): JsonObject {
  const { type } = schema
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  return isArray && schema['items'] === undefined && schema['prefixItems'] === undefined
    ? { ...schema, items: {} }
    : schema
}

const unions = ['anyOf', 'oneOf', 'allOf', 'enum', 'not']

/** The outermost schema as an object: the properties of the branches of its unions, of which none is needed. */
function asRoot(schema: JsonObject): JsonObject {
  const isRoot = schema['type'] === 'object' && !unions.some((name) => name in schema)
  if (isRoot) return schema
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(schema[name])).map(objectOf)
  const named = [...branches, schema].flatMap(({ properties }) => Object.entries(objectOf(properties)))
  const properties = Object.fromEntries(named)
  return { ...omit(schema, unions), type: 'object', properties }
}
