import { isRecord } from '../base/json-value.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { Edit } from './splice.ts'
import { encode } from './text.ts'

/** Inserts members before the closing brace at `end`. */
export function insertMembers(edits: Edit[], end: number, members: readonly string[], hasMembers: boolean): void {
  if (members.length === 0) return
  edits.push({ start: end, end, replacement: encode((hasMembers ? ',' : '') + members.join(',')) })
}

/**
 * Inserts the members that an object lacks before its closing brace at `end`.
 *
 * @param seen has bit `1 << code` for each member of the object, by its code of {@link JsonCursor.nameCode}
 * @param required members as JSON, such as `"index":0`, in the order of their codes, from 0 on
 */
export function insertMissing(edits: Edit[], end: number, seen: number, required: readonly string[]): void {
  const missing: string[] = []
  for (let code = 0; code < required.length; code++) {
    if ((seen & (1 << code)) === 0) missing.push(required[code] ?? '')
  }
  insertMembers(edits, end, missing, seen !== 0)
}

/**
 * Removes a member together with one comma. Call it after the member's value was passed, for the members of an object
 * in order.
 *
 * @param nameStart offset of the opening quote of the member's name
 */
export function removeMember({ bytes, position }: JsonCursor, edits: Edit[], nameStart: number): void {
  const before = endOfSpaceBefore(bytes, nameStart) - 1
  // If this comma was removed with the first member, the comma after the value is removed instead.
  if (bytes[before] === comma && edits.at(-1)?.end !== before + 1) {
    edits.push({ start: before, end: position, replacement: nothing })
    return
  }
  const after = startOfTextAfter(bytes, position)
  edits.push({ start: nameStart, end: bytes[after] === comma ? after + 1 : position, replacement: nothing })
}

/** Passes the next value and replaces it. */
export function replaceValue(cursor: JsonCursor, edits: Edit[], replacement: string): void {
  cursor.peek()
  const start = cursor.position
  cursor.skip()
  edits.push({ start, end: cursor.position, replacement: encode(replacement) })
}

/** Passes the next value and returns it if it is a string. Replaces others. */
export function readText(cursor: JsonCursor, edits: Edit[], replacement: string): string | undefined {
  if (cursor.peek() === 'string') return cursor.string()
  replaceValue(cursor, edits, replacement)
  return undefined
}

/**
 * Passes the next value and returns it as an integer of 0 or more. A number in a string, a negative number and a
 * fraction are replaced by the nearest such integer. Returns `undefined`, without an edit, for other values.
 */
export function readInteger(cursor: JsonCursor, edits: Edit[]): number | undefined {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind !== 'number' && kind !== 'string') {
    cursor.skip()
    return undefined
  }
  const value = kind === 'number' ? cursor.number() : numberIn(cursor.string())
  if (kind === 'number' && value >= 0 && Number.isInteger(value)) return value
  if (!Number.isFinite(value)) return undefined
  const integer = Math.max(0, Math.round(value))
  edits.push({ start, end: cursor.position, replacement: encode(String(integer)) })
  return integer
}

/** Passes the next value and returns it as a list index, also from a string; `undefined` for other values. No edits. */
export function readListIndex(cursor: JsonCursor): number | undefined {
  const kind = cursor.peek()
  if (kind !== 'number' && kind !== 'string') {
    cursor.skip()
    return undefined
  }
  const value = kind === 'number' ? cursor.number() : numberIn(cursor.string())
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Passes a choice's `index` and returns it. Anything but a list index is replaced by `fallback`. */
export function readIndex(cursor: JsonCursor, edits: Edit[], fallback: number): number {
  const kind = cursor.peek()
  const start = cursor.position
  const found = readListIndex(cursor)
  if (found !== undefined && kind === 'number') return found
  const index = found ?? fallback
  edits.push({ start, end: cursor.position, replacement: encode(String(index)) })
  return index
}

/** Parses a number; NaN for other text. */
export function numberIn(text: string): number {
  return /^\s*[-+]?\.?\d/.test(text) ? Number(text) : Number.NaN
}

/** Whether `[start, end)` holds digits only. */
export function isDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x30 || byte > 0x39) return false
  }
  return true
}

function endOfSpaceBefore(bytes: Uint8Array, position: number): number {
  let end = position
  while (isSpace(bytes[end - 1])) end--
  return end
}

function startOfTextAfter(bytes: Uint8Array, position: number): number {
  let start = position
  while (isSpace(bytes[start])) start++
  return start
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
}

const comma = 0x2c
const nothing = new Uint8Array()

/** Joins content parts (Mistral) into text and reasoning. */
export function flattenParts(parts: readonly unknown[]): { text: string; reasoning: string } {
  let text = ''
  let reasoning = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else if (isRecord(part)) {
      if (typeof part['text'] === 'string') text += part['text']
      const { thinking } = part
      if (typeof thinking === 'string') reasoning += thinking
      else if (Array.isArray(thinking)) reasoning += flattenParts(thinking).text
    }
  }
  return { text, reasoning }
}
