import type { JsonObject } from '../../base/json-value.ts'
import { object, type ObjectShape, type Shape } from '../request-shape.ts'

/** Google accepts names of members in two spellings: `inlineData` and `inline_data`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The shape of an object whose members may have either spelling. @param required names that have one spelling */
export function spelled(members: Readonly<Record<string, Shape>>, required: readonly string[] = []): ObjectShape {
  return object(bothSpellings(members), required)
}

/** The members in both spellings. */
export function bothSpellings<Value>(members: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]): readonly (readonly [string, Value])[] => {
      const other = snakeCase(name)
      return other === name
        ? [[name, value]]
        : [
            [name, value],
            [other, value],
          ]
    }),
  )
}

/** A member in either spelling; null counts as absent. */
export function memberOf(source: JsonObject, name: string): unknown {
  return source[name] ?? source[snakeCase(name)] ?? undefined
}
