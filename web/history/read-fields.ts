import { isRecord } from '../../src/base/json-value.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'

/** Stored or imported data is invalid. The message names the path, the expected and the found value. */
export class Damaged extends Error {
  override readonly name = 'Damaged'

  constructor(where: string, what: string) {
    super(where === '' ? what : `${where}: ${what}`)
  }
}

/** Reads an untrusted value. @param where its path, such as `messages[2].text` @throws {Damaged} */
export type Read<Value> = (value: unknown, where: string) => Value

/** Reads fields of an untrusted object: own fields only; others are ignored. */
export interface Fields {
  get<Value>(name: string, read: Read<Value>): Value
  /** Returns an object to spread, empty if the field is missing. */
  optional<Name extends string, Value>(name: Name, read: Read<Value>): { readonly [Each in Name]?: Value }
}

/** Starts reading an object. @throws {Damaged} if the value is not an object */
export function fieldsOf(value: unknown, where: string): Fields {
  if (!isRecord(value)) throw new Damaged(where, say.damage.expectedFound(say.damage.object, kindOf(value)))
  const findWords = (name: string): string => (where === '' ? name : `${where}.${name}`)
  const valueOf = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)
  return {
    get: (name, read) => read(valueOf(name), findWords(name)),
    optional(name, read) {
      const found = valueOf(name)
      return found === undefined ? {} : only(name, read(found, findWords(name)))
    },
  }
}

function only<Name extends string, Value>(name: Name, value: Value): { readonly [Each in Name]?: Value } {
  const found: { [Each in Name]?: Value } = {}
  found[name] = value
  return found
}

/** Reads a text. */
export const text: Read<string> = (value, where) => {
  if (typeof value !== 'string') throw new Damaged(where, say.damage.expectedFound(say.damage.text, kindOf(value)))
  return value
}

/** Reads a text with a maximum length. */
export function textWithin(most: number): Read<string> {
  return (value, where) => {
    const found = text(value, where)
    if (found.length > most)
      throw new Damaged(where, say.damage.characters(formatCount(found.length), formatCount(most)))
    return found
  }
}

/** Reads a finite number. */
export const number: Read<number> = (value, where) => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Damaged(where, say.damage.expectedFound(say.damage.number, kindOf(value)))
  return value === 0 ? 0 : value // JSON has no -0.
}

/** Reads a valid date in Unix milliseconds. */
export const time: Read<number> = (value, where) => {
  const found = number(value, where)
  if (found < 0 || found > 8.64e15) throw new Damaged(where, say.damage.notTime(String(found)))
  return found
}

/** `true` or `false`. */
export const flag: Read<boolean> = (value, where) => {
  if (typeof value !== 'boolean') throw new Damaged(where, say.damage.expectedFound(say.damage.flag, kindOf(value)))
  return value
}

/** Reads one of these texts. */
export function oneOf<Value extends string>(...values: readonly Value[]): Read<Value> {
  return (value, where) => {
    const found = values.find((each) => each === value)
    if (found !== undefined) return found
    const shown = typeof value === 'string' ? `'${value.slice(0, 40)}'` : kindOf(value)
    throw new Damaged(where, say.damage.expectedFound(values.join(say.damage.or), shown))
  }
}

/** Reads a list. */
export function listOf<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw new Damaged(where, say.damage.expectedFound(say.damage.list, kindOf(value)))
    return value.map((each: unknown, index) => read(each, `${where}[${index}]`))
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return say.damage.nothing
  if (value === null) return 'null'
  if (Array.isArray(value)) return say.damage.list
  if (typeof value === 'object') return say.damage.object
  if (typeof value === 'string') return say.damage.text
  return typeof value === 'number' ? say.damage.theNumber(String(value)) : say.damage.aKind(typeof value)
}
