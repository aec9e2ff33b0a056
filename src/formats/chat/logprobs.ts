import { insertMissing, isDigits, numberIn, replaceValue } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

const listNames = nameTable(['content', 'refusal'])
const tokenNames = nameTable(['logprob', 'bytes', 'top_logprobs', 'token'])
/** The format's value for a very unlikely token. */
const unlikely = '-9999.0'
const alternativeMembers = [`"logprob":${unlikely}`, '"bytes":null']
const tokenMembers = [...alternativeMembers, '"top_logprobs":[]']

/**
 * Passes and repairs a choice's `logprobs`. Missing members, and those of a wrong type, get a default: null for lists
 * and `bytes`, an empty list for `top_logprobs`, -9999.0 for `logprob`. A value other than an object becomes null.
 *
 * @throws {MalformedAnswer} when an entry is not an object or has no token
 */
export function readLogprobs(cursor: JsonCursor, edits: Edit[]): void {
  if (cursor.skipNull()) return
  if (cursor.peek() !== 'object') return replaceValue(cursor, edits, 'null')
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(listNames)
    seen |= 1 << code
    if (code === -1) cursor.skip()
    else readList(cursor, edits)
  }
  if ((seen & 3) !== 3) insertMissing(edits, cursor.position - 1, seen, ['"content":null', '"refusal":null'])
}

function readList(cursor: JsonCursor, edits: Edit[]): void {
  if (cursor.skipNull()) return
  if (cursor.peek() === 'array') readTokens(cursor, edits, true)
  else replaceValue(cursor, edits, 'null')
}

function readTokens(cursor: JsonCursor, edits: Edit[], isTop: boolean): void {
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an entry of logprobs is not an object')
    readToken(cursor, edits, isTop)
  }
}

/** @param isTop the token has `top_logprobs` */
function readToken(cursor: JsonCursor, edits: Edit[], isTop: boolean): void {
  const required = isTop ? tokenMembers : alternativeMembers
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(tokenNames)
    seen |= 1 << code
    if (code === 0) readLogprob(cursor, edits)
    else if (code === 1) readBytes(cursor, edits)
    else if (code === 2 && isTop) readAlternatives(cursor, edits)
    else if (code === 3) readText(cursor, edits)
    else cursor.skip()
  }
  if ((seen & 8) === 0) throw new MalformedAnswer('malformed', 'an entry of logprobs has no token')
  const all = (1 << required.length) - 1
  if ((seen & all) !== all) insertMissing(edits, cursor.position - 1, seen, required)
}

function readAlternatives(cursor: JsonCursor, edits: Edit[]): void {
  if (cursor.peek() === 'array') readTokens(cursor, edits, false)
  else replaceValue(cursor, edits, '[]')
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
