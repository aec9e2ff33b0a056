import { isRecord, type JsonObject } from '../base/json-value.ts'
import { depthMax } from '../bytes/json-cursor.ts'

declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
    rawJSON(text: string): unknown
    isRawJSON(value: unknown): value is { readonly rawJSON: string }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const encoder = new TextEncoder()

/** Numbers with 16 digits or more may not be exact in JavaScript. */
const longNumber = /\d{16}/

/**
 * Parses JSON. Long numbers that are not exact in JavaScript are kept as text, so that `encodeJson` writes them
 * unchanged.
 *
 * @throws {SyntaxError} for invalid JSON
 * @throws {RangeError} when it is nested deeper than a request may be: writing it would take seconds
 */
export function parseJson(text: string): unknown {
  const value: unknown = longNumber.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text)
  // Each level takes two characters.
  if (text.length >= 2 * depthMax) checkDepth(value)
  return value
}

/**
 * Parses UTF-8 bytes as JSON; see {@link parseJson}.
 *
 * @throws {TypeError} for invalid UTF-8
 * @throws {SyntaxError} for invalid JSON
 * @throws {RangeError} when it is nested deeper than a request may be
 */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  return parseJson(utf8.decode(bytes))
}

/** Writes a value as JSON in UTF-8. Lone surrogates are escaped. */
export function encodeJson(value: JsonObject): Uint8Array {
  return encoder.encode(JSON.stringify(value))
}

/** Whether a value is a JSON object, not a number that {@link parseJson} kept as text. */
export function isObject(value: unknown): value is JsonObject {
  return isRecord(value) && !JSON.isRawJSON(value)
}

/** The value when it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The value when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The objects of an array; none for other values. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return listOf(value).filter(isObject)
}

/** The objects of an array, or the object itself. */
export function oneOrMore(value: unknown): readonly JsonObject[] {
  return isObject(value) ? [value] : objectsOf(value)
}

/** The value when it is a string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value when it is a number. Long numbers are rounded. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : undefined
}

/** Reads the arguments of a call; an empty object when they are no JSON object, as models write at times. */
export function readArguments(text: string): JsonObject {
  try {
    return objectOf(parseJson(text))
  } catch {
    return {}
  }
}

/** The fields of an object that have these names, in the object's order. `null` counts as absent. */
export function pick(source: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([name, value]) => names.has(name) && value !== null))
}

function keepExact(this: unknown, _key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  return source.length < 16 || String(value) === source ? value : JSON.rawJSON(source)
}

function checkDepth(value: unknown): void {
  let level = [value].filter(isContainer)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === depthMax) throw new RangeError('nested too deeply')
    level = level.flatMap((container) =>
      (Array.isArray(container) ? container : Object.values(container)).filter(isContainer),
    )
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The members of an object but these. The same object if it has none of them. */
export function omit(source: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => name in source)) return source
  return Object.fromEntries(Object.entries(source).filter(([name]) => !names.includes(name)))
}
