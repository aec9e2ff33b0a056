import type { JsonObject } from '../../base/json-value.ts'
import { isObject, listOf, numberOf, objectOf, objectsOf } from '../../formats/exact-json.ts'

/** Limit of the work for one value, in written characters and steps. It stops at schemas that branch endlessly. */
const workMax = 256 * 1024
const stepWork = 16
const depthMax = 64

/** Returned instead of a value if none fits, or if none was found within the limits. */
const none = undefined

/**
 * Makes a small value that fits a JSON Schema: objects have their required members, arrays have `minItems` elements, or
 * one. Reads `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`,
 * `minItems`, `maxItems`, lengths and `format` of strings, limits of numbers, `multipleOf`, `allOf`, `anyOf`, `oneOf`
 * and `$ref` within the schema. Other keywords, such as `pattern` and `not`, are not read.
 *
 * @returns undefined if no value was found
 */
export function sampleValue(root: JsonObject): unknown {
  return new Sampler(root).sample(root, 0)
}

/** Makes one value. */
class Sampler {
  readonly #root: JsonObject
  /** References that are being resolved. One inside itself has no value, so that recursion ends. */
  readonly #open = new Set(['#'])
  #work = workMax

  constructor(root: JsonObject) {
    this.#root = root
  }

  #spend(amount: number): boolean {
    this.#work -= amount
    return this.#work > 0
  }

  /** @returns {@link none} if no value was found */
  sample(schema: unknown, depth: number): unknown {
    if (!this.#spend(stepWork) || depth > depthMax) return none
    if (schema === undefined || schema === true) return 'text'
    if (!isObject(schema)) return none
    const { $ref, allOf, anyOf, oneOf, ...others } = schema
    if (typeof $ref === 'string') return this.#sampleReference($ref, { allOf, anyOf, oneOf, ...others }, depth)
    const [first, ...rest] = objectsOf(allOf)
    if (first !== undefined) {
      const left = [...listOf(first['allOf']), ...rest]
      return this.sample({ ...merge({ anyOf, oneOf, ...others }, first), allOf: left }, depth + 1)
    }
    const alternatives = listOf(anyOf).length > 0 ? listOf(anyOf) : listOf(oneOf)
    if (alternatives.length > 0) return firstOf(alternatives, (each) => this.#sampleAlternative(each, others, depth))
    return this.#sampleTyped(others, depth)
  }

  #sampleAlternative(schema: unknown, others: JsonObject, depth: number): unknown {
    if (schema === true) return this.#sampleTyped(others, depth)
    return isObject(schema) ? this.sample(merge(others, schema), depth + 1) : none
  }

  /** Resolves a reference; the members beside it apply, too. */
  #sampleReference(reference: string, others: JsonObject, depth: number): unknown {
    const target = this.#open.has(reference) ? undefined : resolve(this.#root, reference)
    if (target === undefined) return none
    this.#open.add(reference)
    const value = isObject(target) ? this.sample(merge(target, others), depth + 1) : this.sample(target, depth + 1)
    this.#open.delete(reference)
    return value
  }

  #sampleTyped(schema: JsonObject, depth: number): unknown {
    if ('const' in schema) return this.#chargedValue(schema['const'])
    const types = typesOf(schema)
    if (Array.isArray(schema['enum'])) {
      const fitting = listOf(schema['enum']).filter((value) => schema['type'] === undefined || types.some(isOf(value)))
      return fitting.length === 0 ? none : this.#chargedValue(fitting[0])
    }
    return firstOf(types, (type) => this.#sampleOfType(type, schema, depth))
  }

  #sampleOfType(type: string, schema: JsonObject, depth: number): unknown {
    switch (type) {
      case 'object':
        return this.#sampleObject(schema, depth)
      case 'array':
        return this.#sampleArray(schema, depth)
      case 'string':
        return this.#charged(sampleString(schema))
      case 'integer':
      case 'number':
        return sampleNumber(schema, type === 'integer')
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        return none
    }
  }

  #sampleObject({ properties, required, additionalProperties }: JsonObject, depth: number): unknown {
    const declared = objectOf(properties)
    const members: [string, unknown][] = []
    for (const name of listOf(required)) {
      if (typeof name !== 'string' || !this.#spend(name.length)) return none
      const value = this.sample(Object.hasOwn(declared, name) ? declared[name] : additionalProperties, depth + 1)
      if (value === none) return none
      members.push([name, value])
    }
    return Object.fromEntries(members)
  }

  #sampleArray({ items, prefixItems, minItems, maxItems }: JsonObject, depth: number): unknown {
    const first = listOf(prefixItems)
    const needed = numberOf(minItems) ?? 0
    const wanted = Math.min(Math.max(needed, first.length, 1), numberOf(maxItems) ?? Infinity)
    const values: unknown[] = []
    while (values.length < wanted) {
      const value = this.sample(values.length < first.length ? first[values.length] : items, depth + 1)
      if (value === none) break
      values.push(value)
    }
    return values.length < needed ? none : values
  }

  #charged(value: string | undefined): unknown {
    return value === undefined || !this.#spend(value.length) ? none : value
  }

  /** Counts a value of the schema, which may be large and used often, as work, and returns it. */
  #chargedValue(value: unknown): unknown {
    return this.#spend(JSON.stringify(value).length) ? value : none
  }
}

function firstOf<Each>(all: readonly Each[], sample: (each: Each) => unknown): unknown {
  for (const each of all) {
    const value = sample(each)
    if (value !== none) return value
  }
  return none
}

/** Merges two schemas: required names are joined, properties of both must fit both, else the second applies. */
function merge(one: JsonObject, other: JsonObject): JsonObject {
  const given = Object.entries(other).filter(([, value]) => value !== undefined)
  const required = [...new Set([...listOf(one['required']), ...listOf(other['required'])])]
  const declared = objectOf(one['properties'])
  const properties = {
    ...declared,
    ...Object.fromEntries(
      Object.entries(objectOf(other['properties'])).map(([name, schema]) => [
        name,
        Object.hasOwn(declared, name) ? { allOf: [declared[name], schema] } : schema,
      ]),
    ),
  }
  return {
    ...one,
    ...Object.fromEntries(given),
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  }
}

/** Follows a reference within the schema, such as `#/$defs/city`. */
function resolve(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const segment of reference.slice(2).split('/')) {
    const name = unescaped(segment)
    if (name === undefined || typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      return undefined
    found = Object.getOwnPropertyDescriptor(found, name)?.value
  }
  return found
}

function unescaped(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    // A percent sign without two hexadecimal digits.
    return undefined
  }
}

/** The allowed types. Where none is named, the keywords tell. */
function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return listOf(type).filter((each) => typeof each === 'string')
  const has = (...names: readonly string[]) => names.some((name) => schema[name] !== undefined)
  if (has('properties', 'required', 'additionalProperties')) return ['object']
  if (has('items', 'prefixItems', 'minItems', 'maxItems')) return ['array']
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number']
  return ['string']
}

function isOf(value: unknown): (type: string) => boolean {
  return (type) => {
    switch (type) {
      case 'null':
        return value === null
      case 'array':
        return Array.isArray(value)
      case 'object':
        return isObject(value)
      case 'integer':
        return Number.isInteger(numberOf(value))
      case 'number':
        return numberOf(value) !== undefined
      default:
        return typeof value === type
    }
  }
}

const formatted: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ['date', '2000-01-01'],
  ['date-time', '2000-01-01T00:00:00Z'],
  ['time', '00:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'name@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
])

/** Text of the allowed length. */
function sampleString({ format, minLength, maxLength }: JsonObject): string | undefined {
  const least = numberOf(minLength) ?? 0
  const most = numberOf(maxLength) ?? Infinity
  const known = formatted.get(format)
  if (least > most || least > workMax) return undefined
  if (known !== undefined) return known.length >= least && known.length <= most ? known : undefined
  return 'text'.padEnd(least, 'text').slice(0, Math.min(Math.max(least, 'text'.length), most))
}

/** The allowed number that is 1, or as near to it as is easy to find. */
function sampleNumber(schema: JsonObject, isInteger: boolean): number | undefined {
  const [minimum, maximum, above, below, multiple] = [
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
  ].map((name) => numberOf(schema[name]))
  const step = multiple ?? (isInteger ? 1 : undefined)
  const low = Math.max(minimum ?? -Infinity, above ?? -Infinity)
  const high = Math.min(maximum ?? Infinity, below ?? Infinity)
  const onStep = (value: number) =>
    step === undefined ? [value] : [Math.ceil(value / step) * step, Math.floor(value / step) * step]
  const near = [1, 0, low, low + (step ?? 1), high, high - (step ?? 1), (low + high) / 2]
  return near
    .filter(Number.isFinite)
    .flatMap(onStep)
    .find(
      (value) =>
        value >= low &&
        value <= high &&
        value !== above &&
        value !== below &&
        (!isInteger || Number.isInteger(value)) &&
        (multiple === undefined || Number.isInteger(value / multiple)),
    )
}
