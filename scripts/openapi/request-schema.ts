import type { JsonObject } from '../../src/base/json-value.ts'
import type { ObjectShape, Shape, TypeRule } from '../../src/formats/request-shape.ts'

/**
 * The JSON Schema of a value of a request. `null` counts as absent, except for required members.
 *
 * @param above objects around it: one inside itself is any object
 */
export function requestSchema(shape: Shape, above: readonly ObjectShape[] = []): JsonObject {
  switch (shape.kind) {
    case 'any':
    case 'noted':
      return {}
    case 'text':
      return { type: 'string' }
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
    case 'integer':
      return { type: shape.kind, ...bound('minimum', shape.min), ...bound('maximum', shape.max) }
    case 'choice':
      return { type: 'string', enum: [...shape.values] }
    case 'refused':
      return { enum: shape.onlyTrue ? [false, null] : [null], description: `Not supported: ${shape.because}.` }
    case 'list':
      return {
        type: 'array',
        ...(shape.min === 0 ? {} : { minItems: shape.min }),
        items: requestSchema(shape.of, above),
      }
    case 'object':
      return objectSchema(shape, above)
    case 'tagged': {
      const types = [...shape.types.keys()]
      return shape.isOpen
        ? { type: 'object', properties: { type: { type: 'string', examples: types } }, required: ['type'] }
        : anyOf(Array.from(shape.types.values(), (each) => objectSchema(each, above)))
    }
    case 'either':
      return anyOf(Object.values(shape.shapes).map((each) => requestSchema(each, above)))
  }
}

function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const [only, ...others] = schemas
  return only !== undefined && others.length === 0 ? only : { anyOf: [...schemas] }
}

function objectSchema(shape: ObjectShape, above: readonly ObjectShape[]): JsonObject {
  if (above.includes(shape)) return { type: 'object' }
  const { names, shapes, required, byType } = shape
  const inside = [...above, shape]
  const needed = byType === undefined || byType.defaultType !== undefined ? required : [...required, 'type']
  const members = shapes.map((member, index): [string, JsonObject] => {
    const name = names[index] ?? ''
    return [name, required.includes(name) ? requestSchema(member, inside) : orNull(requestSchema(member, inside))]
  })
  const rules = Object.entries(byType?.types ?? {}).flatMap(ruleOf)
  return {
    type: 'object',
    ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }),
    ...(needed.length === 0 ? {} : { required: [...needed] }),
    ...(rules.length === 0 ? {} : { allOf: rules }),
  }
}

/** What objects of a type must have. */
function ruleOf([type, rule]: readonly [string, TypeRule]): readonly JsonObject[] {
  const isType = { properties: { type: { const: type } }, required: ['type'] }
  if ('because' in rule) return [{ not: isType }]
  const kinds = Object.entries(rule.needs)
  if (kinds.length === 0) return []
  const properties = Object.fromEntries(kinds.map(([name, allowed]) => [name, { type: [...allowed] }]))
  return [{ anyOf: [{ not: isType }, { properties, required: Object.keys(properties) }] }]
}

function orNull(schema: JsonObject): JsonObject {
  if (Object.keys(schema).length === 0 || (schema['type'] === undefined && schema['enum'] !== undefined)) return schema
  const { type, enum: values, ...rest } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}), ...rest }
}

function bound(name: string, value: number): JsonObject {
  return Math.abs(value) >= Number.MAX_SAFE_INTEGER ? {} : { [name]: value }
}
