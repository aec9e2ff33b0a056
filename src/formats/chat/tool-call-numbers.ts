import { insertMembers, readListIndex, removeMember } from '../../bytes/fill.ts'
import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { madeUpId, readFunction, readId } from './tool-call-fields.ts'

/** Numbers the tool calls of one stream. */
export interface ToolCallNumbers {
  /**
   * Passes a delta's `tool_calls`, which must be an array, repairs its pieces, and returns whether it has any.
   *
   * @throws {MalformedAnswer} when one is not an object, or its function is malformed
   */
  read(cursor: JsonCursor, choice: number, edits: Edit[]): boolean
  /** Whether this choice has a tool call. */
  hasCall(choice: number): boolean
}

/** The tool calls of one choice. Indexes are assigned here; they equal the upstream's if those are unique. */
interface ToolCallState {
  readonly indexById: Map<string, number>
  readonly idByIndex: Map<number, string>
  /** The upstream's index → the assigned index of the latest call with it. */
  readonly assigned: Map<number, number>
  next: number
  /** Assigned index of the last piece. */
  last: number
  /** The upstream's index of the last piece. */
  lastGiven: number | undefined
}

/**
 * Assigns tool calls the `index` by which clients join their pieces, for each choice separately. If an upstream leaves
 * it out (Mistral, Gemini), calls are counted in the order of their first ids; a piece without an id belongs to the
 * call before it, unless it has a name. If an upstream gives several calls the same index, a piece with another id and
 * a name begins a new call. The first piece of a call gets a missing id and type.
 */
export function toolCallNumbers(): ToolCallNumbers {
  const byChoice = new Map<number, ToolCallState>()
  return {
    read(cursor, choice, edits) {
      let hasCall = false
      for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
        hasCall = true
        if (cursor.peek() !== 'object') {
          throw new MalformedAnswer('malformed', 'a tool call of an event is not an object')
        }
        let state = byChoice.get(choice)
        if (state === undefined) {
          state = {
            indexById: new Map(),
            idByIndex: new Map(),
            assigned: new Map(),
            next: 0,
            last: 0,
            lastGiven: undefined,
          }
          byChoice.set(choice, state)
        }
        readToolCall(cursor, state, edits)
      }
      return hasCall
    },
    hasCall: (choice) => byChoice.has(choice),
  }
}

const toolCallTable = nameTable(['index', 'id', 'type', 'function'])
const typeTable = nameTable(['function', 'custom'])

function readToolCall(cursor: JsonCursor, state: ToolCallState, edits: Edit[]): void {
  let hasMembers = false
  let given: number | undefined
  /** Offsets of the index. */
  let start = 0
  let end = 0
  let isNumber = false
  let id = ''
  let hasId = false
  /** Where an empty id stands. */
  let emptyId: Pick<Edit, 'start' | 'end'> | undefined
  let hasName = false
  let isTyped = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const { nameStart } = cursor
    const code = cursor.nameCode(toolCallTable)
    const kind = cursor.peek()
    const valueStart = cursor.position
    let isKept = true
    if (code === 0) {
      given = readListIndex(cursor)
      start = valueStart
      end = cursor.position
      isNumber = kind === 'number'
      isKept = given !== undefined
    } else if (code === 1 && (kind === 'string' || kind === 'number')) {
      id = readId(cursor, edits) ?? ''
      hasId = true
      if (id === '') emptyId = { start: valueStart, end: cursor.position }
    } else if (code === 2 && kind === 'string') {
      isKept = isTyped = readType(cursor, edits)
    } else if (code === 3 && kind !== 'null') {
      hasName = readFunction(cursor, edits, false)
    } else {
      cursor.skip()
      isKept = code === -1
    }
    if (isKept) hasMembers = true
    else removeMember(cursor, edits, nameStart)
  }
  // The usual piece continues the call of the piece before it, with the upstream's own index.
  if (id === '' && isNumber && given === state.last && given === state.lastGiven) return
  const index = callIndex(state, given, id, hasName)
  const isNew = !state.idByIndex.has(index)
  if (isNew) state.idByIndex.set(index, id)
  if (id !== '') state.indexById.set(id, index)
  state.last = index
  state.lastGiven = given
  state.next = Math.max(state.next, index + 1)
  if (given !== undefined && (given !== index || !isNumber)) {
    edits.push({ start, end, replacement: encode(String(index)) })
  }
  if (isNew && emptyId !== undefined) edits.push({ ...emptyId, replacement: encode(`"${madeUpId()}"`) })
  if (given !== undefined && !isNew && isTyped && hasId) return
  const missing = missingMembers({
    index: given === undefined ? index : undefined,
    needsId: isNew && !hasId,
    needsType: (isNew || id !== '') && !isTyped,
  })
  insertMembers(edits, cursor.position - 1, missing, hasMembers)
}

/** Missing members of a piece of a tool call. */
function missingMembers({
  index,
  needsId,
  needsType,
}: {
  readonly index: number | undefined
  readonly needsId: boolean
  readonly needsType: boolean
}): readonly string[] {
  const missing: string[] = []
  if (index !== undefined) missing.push(`"index":${index}`)
  if (needsId) missing.push(`"id":"${madeUpId()}"`)
  if (needsType) missing.push('"type":"function"')
  return missing
}

/** Returns the assigned index of a piece's call. */
function callIndex(state: ToolCallState, given: number | undefined, id: string, hasName: boolean): number {
  const { indexById, idByIndex, assigned, next } = state
  if (given === undefined) {
    const index = indexById.get(id) ?? (id !== '' || hasName ? next : state.last)
    if (!assigned.has(index)) assigned.set(index, index)
    return index
  }
  const known = assigned.get(given)
  let index = known === undefined && !idByIndex.has(given) ? given : next
  if (known !== undefined) {
    const knownId = idByIndex.get(known)
    if (id === '' || knownId === '' || knownId === id) return known
    const named = indexById.get(id)
    if (named === undefined && !hasName) return known
    index = named ?? next
  }
  assigned.set(given, index)
  return index
}

/** Passes a type; replaces an unknown one. False, without an edit, for an empty one. */
function readType(cursor: JsonCursor, edits: Edit[]): boolean {
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  if (end - start === 2) return false
  if (cursor.stringCode(typeTable, start, end) === -1) edits.push({ start, end, replacement: encode('"function"') })
  return true
}
