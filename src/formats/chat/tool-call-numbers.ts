import { insertMembers, readListIndex, removeMember } from '../../bytes/fill.ts'
import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { jsonEnd, type JsonEnd } from '../json-end.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readFunction, readId } from './tool-call-fields.ts'

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
  /** Whether the JSON of a call of this choice has begun and not ended. */
  hasOpenCall(choice: number): boolean
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
  /** Ends of the arguments that are JSON, by the assigned index. */
  readonly ends: Map<number, JsonEnd>
}

/**
 * Assigns tool calls the `index` by which clients join their pieces, for each choice separately. If an upstream leaves
 * it out (Mistral, Gemini), calls are counted in the order of their first ids; a piece without an id belongs to the
 * call before it, unless it has a name. If an upstream gives several calls the same index, a piece with another id and
 * a name begins a new call. The first piece of a call gets a missing id and type.
 */
export function toolCallNumbers(): ToolCallNumbers {
  return new CallNumbers()
}

/** A class, since every stream has one: closures would take more memory. */
class CallNumbers implements ToolCallNumbers {
  /** Absent before the first call. */
  #byChoice: Map<number, ToolCallState> | undefined

  read(cursor: JsonCursor, choice: number, edits: Edit[]): boolean {
    let hasCall = false
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      hasCall = true
      if (cursor.peek() !== 'object') {
        throw new MalformedAnswer('malformed', 'a tool call of an event is not an object')
      }
      readToolCall(cursor, this.#stateOf(choice), edits)
    }
    return hasCall
  }

  hasCall(choice: number): boolean {
    return this.#byChoice?.has(choice) === true
  }

  hasOpenCall(choice: number): boolean {
    const ends = this.#byChoice?.get(choice)?.ends.values()
    return ends?.some(({ isComplete }) => !isComplete) === true
  }

  #stateOf(choice: number): ToolCallState {
    this.#byChoice ??= new Map()
    const known = this.#byChoice.get(choice)
    if (known !== undefined) return known
    const state: ToolCallState = {
      indexById: new Map(),
      idByIndex: new Map(),
      assigned: new Map(),
      next: 0,
      last: 0,
      lastGiven: undefined,
      ends: new Map(),
    }
    this.#byChoice.set(choice, state)
    return state
  }
}

const pieceTable = nameTable(['index', 'id', 'type', 'function'])
const typeTable = nameTable(['function', 'custom'])

/** A piece of a tool call. */
interface Piece {
  /** Bits of the members that stay. */
  readonly seen: number
  /** The upstream's index, also from a string, and the offsets of its value. */
  readonly given: number | undefined
  readonly givenStart: number
  readonly givenEnd: number
  readonly isNumber: boolean
  /** Empty without an id. */
  readonly id: string
  /** Offsets of an empty id. */
  readonly emptyId: Pick<Edit, 'start' | 'end'> | undefined
  readonly hasName: boolean
}

/** Passes a piece, removes its members without a usable value, and numbers it. */
function readToolCall(cursor: JsonCursor, state: ToolCallState, edits: Edit[]): void {
  let seen = 0
  let given: number | undefined
  let givenStart = 0
  let givenEnd = 0
  let isNumber = false
  let id = ''
  let emptyId: Piece['emptyId']
  let hasName = false
  let text = ''
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const { nameStart } = cursor
    const code = cursor.nameCode(pieceTable)
    const kind = cursor.peek()
    const start = cursor.position
    let isKept = true
    if (code === 0) {
      given = readListIndex(cursor)
      givenStart = start
      givenEnd = cursor.position
      isNumber = kind === 'number'
      isKept = given !== undefined
    } else if (code === 1) {
      const found = readId(cursor, edits)
      isKept = found !== undefined
      if (found !== undefined) id = found
      if (found === '') emptyId = { start, end: cursor.position }
    } else if (code === 2) isKept = readType(cursor, edits)
    else if (code === 3 && kind !== 'null') hasName = readFunction(cursor, edits, false, (given) => (text = given))
    else {
      cursor.skip()
      isKept = code === -1
    }
    if (isKept) seen |= 1 << code
    else removeMember(cursor, edits, nameStart)
  }
  // The usual piece continues the call of the piece before it, with the upstream's own index.
  if (id !== '' || !isNumber || given !== state.last || given !== state.lastGiven) {
    const piece = { seen, given, givenStart, givenEnd, isNumber, id, emptyId, hasName }
    numberPiece(piece, state, edits, cursor.position - 1)
  }
  if (text !== '') readArguments(state, text)
}

/** Reads a piece of the arguments of the last call. */
function readArguments({ ends, last }: ToolCallState, text: string): void {
  let end = ends.get(last)
  if (end === undefined) {
    if (!/^\s*[{[]/.test(text)) return
    end = jsonEnd()
    ends.set(last, end)
  }
  end.read(text)
}

/** Assigns a piece to a call. The first piece of a call gets an id and a type. */
function numberPiece(piece: Piece, state: ToolCallState, edits: Edit[], end: number): void {
  const { id, given } = piece
  const index = callIndex(state, piece)
  const isNew = !state.idByIndex.has(index)
  if (isNew) state.idByIndex.set(index, id)
  if (id !== '') state.indexById.set(id, index)
  state.last = index
  state.lastGiven = given
  state.next = Math.max(state.next, index + 1)
  if (given !== undefined && (given !== index || !piece.isNumber))
    edits.push({ start: piece.givenStart, end: piece.givenEnd, replacement: encode(String(index)) })
  if (isNew && piece.emptyId !== undefined)
    edits.push({ ...piece.emptyId, replacement: encode(`"${madeUpId('call_')}"`) })
  insertMembers(edits, end, missingMembers(piece, index, isNew), piece.seen !== 0)
}

function missingMembers({ given, seen, id }: Piece, index: number, isNew: boolean): readonly string[] {
  const missing: string[] = []
  if (given === undefined) missing.push(`"index":${index}`)
  if (isNew && (seen & 2) === 0) missing.push(`"id":"${madeUpId('call_')}"`)
  if ((isNew || id !== '') && (seen & 4) === 0) missing.push('"type":"function"')
  return missing
}

/** Returns the assigned index of a piece's call. */
function callIndex(state: ToolCallState, { given, id, hasName }: Piece): number {
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

/** Passes a type and replaces an unknown one. False, without an edit, for an empty one and for other values. */
function readType(cursor: JsonCursor, edits: Edit[]): boolean {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  if (kind !== 'string' || end - start === 2) return false
  if (cursor.stringCode(typeTable, start, end) === -1) edits.push({ start, end, replacement: encode('"function"') })
  return true
}
