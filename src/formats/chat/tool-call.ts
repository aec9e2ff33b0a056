import { insertMissing } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readFunction, readId } from './tool-call-fields.ts'

const callTable = nameTable(['id', 'type', 'function', 'custom'])
const typeTable = nameTable(['function', 'custom'])

/** A member `type`: its code in {@link typeTable}, or -1, and its offsets. */
interface FoundType {
  readonly code: number
  readonly start: number
  readonly end: number
}

/**
 * Passes a tool call of a whole answer, which must be an object, and repairs it: it gets a missing id, and the type of
 * the member that describes the call.
 *
 * @param ids of the calls before it; one of these ids is replaced
 * @throws {MalformedAnswer} without a function or custom tool, and for a malformed function
 */
export function readToolCall(cursor: JsonCursor, edits: Edit[], ids: Set<string>): void {
  let seen = 0
  let type: FoundType | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(callTable)
    if (code === 0) readCallId(cursor, edits, ids)
    else if (code === 1) type = passType(cursor)
    else if (cursor.skipNull()) continue
    else if (code === 2) readFunction(cursor, edits)
    else cursor.skip()
    seen |= 1 << code
  }
  if ((seen & 12) === 0) throw new MalformedAnswer('malformed', 'a tool call has no function')
  completeCall(edits, cursor.position - 1, seen, type)
}

/** Passes an id, and replaces an empty one and a repeated one. */
function readCallId(cursor: JsonCursor, edits: Edit[], ids: Set<string>): void {
  cursor.peek()
  const start = cursor.position
  const given: Edit[] = []
  const id = readId(cursor, given) ?? ''
  const isOwn = id !== '' && !ids.has(id)
  ids.add(id)
  if (isOwn) edits.push(...given)
  else edits.push({ start, end: cursor.position, replacement: encode(`"${madeUpId('call_')}"`) })
}

function passType(cursor: JsonCursor): FoundType {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  return { code: kind === 'string' ? cursor.stringCode(typeTable, start, end) : -1, start, end }
}

function completeCall(edits: Edit[], end: number, seen: number, type: FoundType | undefined): void {
  const isCustom = (seen & 4) === 0
  const name = isCustom ? '"custom"' : '"function"'
  if (type !== undefined && type.code !== (isCustom ? 1 : 0))
    edits.push({ start: type.start, end: type.end, replacement: encode(name) })
  if ((seen & 3) !== 3) insertMissing(edits, end, seen, [`"id":"${madeUpId('call_')}"`, `"type":${name}`])
}
