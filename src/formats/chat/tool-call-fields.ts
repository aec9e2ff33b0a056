import { insertMembers, removeMember, replaceValue } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

const functionTable = nameTable(['name', 'arguments'])

/**
 * Passes the `function` of a tool call, or of a piece of one, and returns whether it has a name. Arguments that are
 * JSON instead of text become its text. In a whole call, missing arguments become `{}`. In a piece, a name that is null
 * is removed, and arguments that are null become empty.
 *
 * @param onArguments called with arguments that are text
 * @throws {MalformedAnswer} when it is not an object, its name is not a string, or a whole call has none
 */
export function readFunction(
  cursor: JsonCursor,
  edits: Edit[],
  isWhole: boolean,
  onArguments?: (text: string) => void,
): boolean {
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
      readArguments(cursor, edits, isWhole ? '"{}"' : '""', onArguments)
    } else if (code === 0 && kind !== 'string') {
      if (isWhole || kind !== 'null') throw new MalformedAnswer('malformed', `the name of a function is a ${kind}`)
      cursor.skip()
      removeMember(cursor, edits, nameStart)
    } else if (code === 0) {
      isNamed = true
      const start = cursor.position
      cursor.skip()
      hasName = cursor.position - start > 2
    } else cursor.skip()
  }
  if (isWhole && !isNamed) throw new MalformedAnswer('malformed', 'a tool call has no name')
  if (isWhole && !hasArguments) insertMembers(edits, cursor.position - 1, ['"arguments":"{}"'], true)
  return hasName
}

/** Passes arguments. */
function readArguments(cursor: JsonCursor, edits: Edit[], empty: string, onText?: (text: string) => void): void {
  const kind = cursor.peek()
  if (kind === 'string' && onText !== undefined) return onText(cursor.string())
  if (kind === 'string') return void cursor.skip()
  if (kind === 'null') return replaceValue(cursor, edits, empty)
  const start = cursor.position
  cursor.skip()
  // The upstream's spelling, so that long integers stay exact.
  const text = utf8(cursor.bytes, start, cursor.position)
  edits.push({ start, end: cursor.position, replacement: encode(JSON.stringify(text)) })
}

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
