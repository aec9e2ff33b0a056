import { insertMembers, isDigits, numberIn, replaceValue } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

const listNames = nameTable(['content', 'refusal'])
const tokenNames = nameTable(['token', 'logprob', 'bytes', 'top_logprobs'])
/** The format's value for a very unlikely token. */
const unlikely = '-9999.0'

/**
 * Passes and repairs a choice's `logprobs`. Missing members, and those of a wrong type, get a default: null for lists
 * and `bytes`, an empty list for `top_logprobs`, -9999.0 for `logprob`. A value other than an object becomes null.
 *
 * @throws {MalformedAnswer} when an entry is not an object or has no token
 */
export function readLogprobs(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  if (kind !== 'object') return nullUnless(cursor, edits, kind === 'null')
  let seen = 0
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    hasMembers = true
    const code = cursor.nameCode(listNames)
    if (code === -1) {
      cursor.skip()
      continue
    }
    seen |= 1 << code
    const list = cursor.peek()
    if (list === 'array') readTokens(cursor, edits, true)
    else nullUnless(cursor, edits, list === 'null')
  }
  if (seen === 3) return
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push('"content":null')
  if ((seen & 2) === 0) missing.push('"refusal":null')
  insertMembers(edits, cursor.position - 1, missing, hasMembers)
}

function nullUnless(cursor: JsonCursor, edits: Edit[], isRight: boolean): void {
  const start = cursor.position
  cursor.skip()
  if (!isRight) edits.push({ start, end: cursor.position, replacement: nullText })
}

function readTokens(cursor: JsonCursor, edits: Edit[], isTop: boolean): void {
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an entry of logprobs is not an object')
    readToken(cursor, edits, isTop)
  }
}

/** @param isTop the token has `top_logprobs` */
function readToken(cursor: JsonCursor, edits: Edit[], isTop: boolean): void {
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(tokenNames)
    if (code === -1) {
      cursor.skip()
      continue
    }
    seen |= 1 << code
    if (code === 0) readText(cursor, edits)
    else if (code === 1) readLogprob(cursor, edits)
    else if (code === 2) readBytes(cursor, edits)
    else if (!isTop) cursor.skip()
    else if (cursor.peek() === 'array') readTokens(cursor, edits, false)
    else replaceValue(cursor, edits, '[]')
  }
  if ((seen & 1) === 0) throw new MalformedAnswer('malformed', 'an entry of logprobs has no token')
  if ((seen & 7) === 7 && (!isTop || (seen & 8) !== 0)) return
  const missing: string[] = []
  if ((seen & 2) === 0) missing.push(`"logprob":${unlikely}`)
  if ((seen & 4) === 0) missing.push('"bytes":null')
  if (isTop && (seen & 8) === 0) missing.push('"top_logprobs":[]')
  insertMembers(edits, cursor.position - 1, missing, true)
}

/** Passes a token. A number is put into quotes. */
function readText(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  if (kind === 'string') return
  if (kind !== 'number') throw new MalformedAnswer('malformed', `a token of logprobs is a ${kind}`)
  edits.push({ start, end: cursor.position, replacement: encode(`"${utf8(cursor.bytes, start, cursor.position)}"`) })
}

function readLogprob(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  if (kind === 'number') cursor.skip()
  else {
    const start = cursor.position
    const value = kind === 'string' ? numberIn(cursor.string()) : Number.NaN
    if (kind !== 'string') cursor.skip()
    edits.push({ start, end: cursor.position, replacement: encode(Number.isFinite(value) ? String(value) : unlikely) })
  }
}

function readBytes(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  if (kind === 'array' && passIntegers(cursor)) return
  const start = cursor.position
  let isRight = kind === 'null' || kind === 'array'
  if (kind !== 'array') cursor.skip()
  else {
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      const isNumber = cursor.peek() === 'number'
      const element = cursor.position
      cursor.skip()
      if (!isNumber || !isDigits(cursor.bytes, element, cursor.position)) isRight = false
    }
  }
  if (!isRight) edits.push({ start, end: cursor.position, replacement: nullText })
}

/** Passes an array of integers without white space. False, without moving, for any other. */
function passIntegers(cursor: JsonCursor): boolean {
  const { bytes } = cursor
  let digits = 0
  for (let position = cursor.position + 1; position < bytes.length; position++) {
    const byte = bytes[position] ?? 0
    if (byte >= 0x30 && byte <= 0x39) {
      if (digits === 1 && bytes[position - 1] === 0x30) return false
      digits += 1
    } else if (digits === 0) return false
    else if (byte === 0x2c) digits = 0
    else {
      if (byte !== 0x5d) return false
      cursor.position = position + 1
      return true
    }
  }
  return false
}

const nullText = encode('null')
