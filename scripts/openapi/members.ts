import type { JsonObject } from '../../src/base/json-value.ts'

/** Kind of a member of an answer: a type of JSON Schema, or that or `null`. */
type Kind = Plain | `${Plain} or null`
type Plain = 'string' | 'number' | 'boolean' | 'array' | 'object'

type PlainOf<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly unknown[]
        ? 'array'
        : 'object'

type KindOf<Value> = null extends Value ? `${PlainOf<NonNullable<Value>>} or null` : PlainOf<Value>

/** The members of an answer with their kinds; optional ones with `?` behind the name. */
type Members<Answer> = {
  readonly [
    Name in keyof Answer & string as Partial<Pick<Answer, Name>> extends Pick<Answer, Name> ? `${Name}?` : Name
  ]-?: KindOf<Exclude<Answer[Name], undefined>>
}

/** The schema of an answer of the page's API, whose type the compiler compares. */
export function answerOf<Answer>(members: Members<Answer>): JsonObject {
  return membersSchema(members)
}

/** The schema of an answer that has these members; optional ones have `?` behind the name. */
export function answerWith(members: Readonly<Record<string, Kind>>): JsonObject {
  return membersSchema(members)
}

function membersSchema(members: Readonly<Record<string, unknown>>): JsonObject {
  const names = Object.keys(members)
  const properties = Object.entries(members).map(([name, kind]) => {
    const types = String(kind).split(' or ')
    return [name.replace('?', ''), { type: types.length === 1 ? types[0] : types }] as const
  })
  const required = names.filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  }
}
