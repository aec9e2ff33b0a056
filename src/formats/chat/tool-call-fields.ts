import { insertMembers, removeMember } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { soundArguments } from '../call-arguments.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

const functionTable = nameTable(['name', 'arguments'])

/** The arguments in a piece of a call. */
export interface ArgumentsPiece {
  readonly text: string
  /** Offsets of the value. */
  readonly start: number
  readonly end: number
  /** The value is text. */
  readonly isText: boolean
}

/**
 * Passes the `function` of a tool call, or of a piece of one, and returns whether it has a name. Arguments that are
 * JSON instead of text become its text. In a whole call, missing arguments and some that are no object are repaired. In
 * a piece, a name that is null is removed, and a name without arguments gets empty ones.
 *
 * @param onPiece called with the arguments of a piece, which it replaces. Absent: the call is whole
 * @throws {MalformedAnswer} when it is not an object, its name is not a string, or a whole call has none
 */
export function readFunction(cursor: JsonCursor, edits: Edit[], onPiece?: (piece: ArgumentsPiece) => void): boolean {
  if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'the function of a tool call is not an object')
  let hasName = false
  let isNamed = false
  let hasArguments = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const { nameStart } = cursor
    const code = cursor.nameCode(functionTable)
    const kind = cursor.peek()
    if (code === 1) {
      hasArguments = true
      if (onPiece === undefined) readWholeArguments(cursor, edits)
      else onPiece(readPiece(cursor))
    } else if (code === 0 && kind !== 'string') {
      if (onPiece === undefined || kind !== 'null')
        throw new MalformedAnswer('malformed', `the name of a function is a ${kind}`)
      cursor.skip()
      removeMember(cursor, edits, nameStart)
    } else if (code === 0) {
      isNamed = true
      const start = cursor.position
      cursor.skip()
      hasName = cursor.position - start > 2
    } else cursor.skip()
  }
  if (onPiece === undefined && !isNamed) throw new MalformedAnswer('malformed', 'a tool call has no name')
  if (isNamed && !hasArguments) {
    const end = cursor.position - 1
    insertMembers(edits, end, ['"arguments":'], true)
    edits.push({ start: end, end, replacement: onPiece === undefined ? emptyArguments : emptyText })
  }
  return hasName
}

/** Passes the arguments of a whole call. */
function readWholeArguments(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  // The usual case: an object.
  if (kind === 'string' && cursor.bytes[cursor.position + 1] === openingBrace) return void cursor.skip()
  const { text, start, end, isText } = readPiece(cursor)
  const sound = soundArguments(text)
  if (text === '') edits.push({ start, end, replacement: emptyArguments })
  else if (sound !== undefined || !isText)
    edits.push({ start, end, replacement: encode(JSON.stringify(sound ?? text)) })
}

/** Passes arguments. Of JSON instead of text the upstream's spelling, so that long integers stay exact. */
function readPiece(cursor: JsonCursor): ArgumentsPiece {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'string') return { text: cursor.string(), start, end: cursor.position, isText: true }
  cursor.skip()
  const end = cursor.position
  return { text: kind === 'null' ? '' : utf8(cursor.bytes, start, end), start, end, isText: false }
}

const openingBrace = 0x7b

/** Takes the place of arguments without text, but not in a call that was cut. */
export const emptyArguments = encode('"{}"')
export const emptyText = encode('""')

/** Passes and returns an id. A number is put into quotes. Undefined, without an edit, for other values. */
export function readId(cursor: JsonCursor, edits: Edit[]): string | undefined {
  const kind = cursor.peek()
  if (kind === 'string') return cursor.string()
  const start = cursor.position
  cursor.skip()
  if (kind !== 'number') return undefined
  const id = utf8(cursor.bytes, start, cursor.position)
  edits.push({ start, end: cursor.position, replacement: encode(`"${id}"`) })
  return id
}
