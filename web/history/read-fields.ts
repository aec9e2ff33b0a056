import { isRecord } from '../../src/wire/json-value.ts'

/** Something kept or brought in is not what it should be. Its message says where, what was expected, and what was found. */
export class Damaged extends Error {
  override readonly name = 'Damaged'

  constructor(where: string, what: string) {
    super(where === '' ? what : `${where}: ${what}`)
  }
}

/** Reads a value that comes from elsewhere. @param where its place, such as `messages[2].text` @throws {Damaged} */
export type Read<Value> = (value: unknown, where: string) => Value

/** The fields of an object that comes from elsewhere. Only its own count; others than those asked for do not matter. */
export interface Fields {
  get<Value>(name: string, read: Read<Value>): Value
  /** To be spread: nothing when there is no such field. */
  optional<Name extends string, Value>(name: Name, read: Read<Value>): { readonly [Each in Name]?: Value }
}

/** @throws {Damaged} when it is no object */
export function fieldsOf(value: unknown, where: string): Fields {
  if (!isRecord(value)) throw new Damaged(where, `expected an object, found ${kindOf(value)}`)
  const placeOf = (name: string): string => (where === '' ? name : `${where}.${name}`)
  const valueOf = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)
  return {
    get: (name, read) => read(valueOf(name), placeOf(name)),
    optional(name, read) {
      const found = valueOf(name)
      return found === undefined ? {} : only(name, read(found, placeOf(name)))
    },
  }
}

function only<Name extends string, Value>(name: Name, value: Value): { readonly [Each in Name]?: Value } {
  const found: { [Each in Name]?: Value } = {}
  found[name] = value
  return found
}

/** Any text. */
export const text: Read<string> = (value, where) => {
  if (typeof value !== 'string') throw new Damaged(where, `expected a text, found ${kindOf(value)}`)
  return value
}

/** A text of at most so many characters. */
export function textUpTo(most: number): Read<string> {
  return (value, where) => {
    const found = text(value, where)
    if (found.length > most) throw new Damaged(where, `has ${found.length} characters, at most ${most} are allowed`)
    return found
  }
}

/** A number that JSON knows. */
export const number: Read<number> = (value, where) => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Damaged(where, `expected a number, found ${kindOf(value)}`)
  return value === 0 ? 0 : value // JSON has no -0.
}

/** Unix milliseconds of a date that can be shown. */
export const time: Read<number> = (value, where) => {
  const found = number(value, where)
  if (found < 0 || found > 8.64e15) throw new Damaged(where, `${found} is no time`)
  return found
}

/** `true` or `false`. */
export const flag: Read<boolean> = (value, where) => {
  if (typeof value !== 'boolean') throw new Damaged(where, `expected true or false, found ${kindOf(value)}`)
  return value
}

/** One of these texts. */
export function oneOf<Value extends string>(...values: readonly Value[]): Read<Value> {
  return (value, where) => {
    const found = values.find((each) => each === value)
    if (found === undefined)
      throw new Damaged(
        where,
        `expected ${values.join(' or ')}, found ${typeof value === 'string' ? `'${value.slice(0, 40)}'` : kindOf(value)}`,
      )
    return found
  }
}

/** A list of what `read` reads. */
export function listOf<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw new Damaged(where, `expected a list, found ${kindOf(value)}`)
    return value.map((each: unknown, index) => read(each, `${where}[${index}]`))
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return 'a text'
  return `${typeof value === 'number' ? 'the number' : 'a'} ${typeof value === 'number' ? value : typeof value}`
}
