import { isRecord, type JsonObject } from '../../src/base/json-value.ts'

const sharedLengthMin = 160

/**
 * Schemas in which repeated objects are references to schemas of their own, which have the names of the members where
 * they stand first.
 */
export function sharedSchemas(schemas: Readonly<Record<string, JsonObject>>): Readonly<Record<string, unknown>> {
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  const found = new Map<string, unknown>()

  function count(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    const text = textOf(value)
    if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
    // What is inside of a repeated schema is not repeated by that.
    if (text === undefined || counts.get(text) === 1) Object.values(value).forEach(count)
  }

  function written(value: unknown, place: string): unknown {
    if (Array.isArray(value)) return value.map((each: unknown) => written(each, place))
    if (!isRecord(value)) return value
    const text = textOf(value)
    return text !== undefined && (counts.get(text) ?? 0) > 1 ? reference(text, value, place) : members(value, place)
  }

  function members(value: Readonly<Record<string, unknown>>, place: string): unknown {
    const entries = Object.entries(value).map(([name, member]) => {
      const isNamed = !['items', 'anyOf', 'allOf', 'properties', 'then', 'if'].includes(name)
      return [name, written(member, isNamed ? name : place)] as const
    })
    return Object.fromEntries(entries)
  }

  function reference(text: string, value: Readonly<Record<string, unknown>>, place: string): unknown {
    const known = names.get(text)
    let name = known ?? place
    for (let number = 2; known === undefined && (found.has(name) || name in schemas); number++)
      name = `${place}${number}`
    names.set(text, name)
    if (known === undefined) {
      // Reserves the name before schemas inside get theirs.
      found.set(name, undefined)
      found.set(name, members(value, place))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  Object.values(schemas).forEach(count)
  const whole = Object.entries(schemas).map(([name, schema]) => [name, written(schema, name)] as const)
  return Object.fromEntries([...whole, ...found])
}

/** The text of a schema of objects that is worth a name. */
function textOf(value: object): string | undefined {
  if (!('type' in value) || !('properties' in value)) return undefined
  const text = JSON.stringify(value)
  return text.length < sharedLengthMin ? undefined : text
}
