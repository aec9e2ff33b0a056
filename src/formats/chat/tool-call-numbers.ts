import { insertMembers, readListIndex, removeMember } from '../../bytes/fill.ts'
import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { CallArguments } from '../call-arguments.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readFunction, readId, type ArgumentsPiece } from './tool-call-fields.ts'

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
  /** Pieces of calls, as JSON, with the arguments that waited for the finish of their choice. */
  rest(choice: number): readonly string[]
}

/** The tool calls of one choice. Indexes are assigned here; they equal the upstream's if those are unique. */
interface ToolCallState {
  readonly indexById: Map<string, number>
  /** Ids of later calls that an earlier one has: the assigned index → an id of its own. */
  readonly ownIds: Map<number, string>
  readonly idByIndex: Map<number, string>
  /** The upstream's index → the assigned index of the latest call with it. */
  readonly assigned: Map<number, number>
  next: number
  /** Assigned index of the last piece. */
  last: number
  /** The upstream's index of the last piece. */
  lastGiven: number | undefined
  /** Arguments of functions, by the assigned index. */
  readonly arguments: Map<number, CallArguments>
}

/**
 * Assigns tool calls the `index` by which clients join their pieces, for each choice separately. If an upstream leaves
 * it out (Mistral, Gemini), calls are counted in the order of their first ids; a piece without an id belongs to the
 * call before it, unless it has a name. If an upstream gives several calls the same index, a piece with another id and
 * a name begins a new call. The first piece of a call gets a missing id and type, and one that another call has is
 * replaced. Arguments that may be no object wait for the finish ({@link CallArguments}).
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
    const calls = this.#byChoice?.get(choice)?.arguments.values()
    return calls?.some(({ isCut }) => isCut) === true
  }

  rest(choice: number): readonly string[] {
    const calls = this.#byChoice?.get(choice)?.arguments
    if (calls === undefined) return []
    return [...calls].flatMap(([index, each]) => {
      const text = each.rest()
      return text === '' ? [] : [`{"index":${index},"function":{"arguments":${JSON.stringify(text)}}}`]
    })
  }

  #stateOf(choice: number): ToolCallState {
    this.#byChoice ??= new Map()
    const known = this.#byChoice.get(choice)
    if (known !== undefined) return known
    const state: ToolCallState = {
      indexById: new Map(),
      ownIds: new Map(),
      idByIndex: new Map(),
      assigned: new Map(),
      next: 0,
      last: 0,
      lastGiven: undefined,
      arguments: new Map(),
    }
    this.#byChoice.set(choice, state)
    return state
  }
}

const pieceTable = nameTable(['index', 'id', 'type', 'function'])
const typeTable = nameTable(['function', 'custom'])

interface FoundId {
  /** Empty without an id. */
  readonly text: string
  /** Offsets of the value, and the changes to it. */
  readonly start: number
  readonly end: number
  readonly edits: readonly Edit[]
}

/** A piece of a tool call. */
interface Piece {
  /** Bits of the members that stay. */
  readonly seen: number
  /** The upstream's index, also from a string, and the offsets of its value. */
  readonly given: number | undefined
  readonly givenStart: number
  readonly givenEnd: number
  readonly isNumber: boolean
  readonly id: FoundId
  readonly hasName: boolean
  readonly arguments: ArgumentsPiece | undefined
}

/** Passes a piece, removes its members without a usable value, and numbers it. */
function readToolCall(cursor: JsonCursor, state: ToolCallState, edits: Edit[]): void {
  let seen = 0
  let given: number | undefined
  let givenStart = 0
  let givenEnd = 0
  let isNumber = false
  let id = noId
  let hasName = false
  let found: ArgumentsPiece | undefined
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
      id = passId(cursor)
      isKept = id !== noId
    } else if (code === 2) isKept = readType(cursor, edits)
    else if (code === 3 && kind !== 'null') hasName = readFunction(cursor, edits, (piece) => (found = piece))
    else {
      cursor.skip()
      isKept = code === -1
    }
    if (isKept) seen |= 1 << code
    else removeMember(cursor, edits, nameStart)
  }
  // The usual piece continues the call of the piece before it, with the upstream's own index.
  const isUsual = isNumber && given === state.last && given === state.lastGiven && !hasName && id.text === ''
  if (!isUsual) {
    const piece = { seen, given, givenStart, givenEnd, isNumber, id, hasName, arguments: found }
    numberPiece(piece, state, edits, cursor.position - 1)
  }
  readArguments(state, found, edits)
}

const noId: FoundId = { text: '', start: 0, end: 0, edits: [] }

/** Passes an id; {@link noId} for values that cannot be one. */
function passId(cursor: JsonCursor): FoundId {
  const edits: Edit[] = []
  cursor.peek()
  const start = cursor.position
  const text = readId(cursor, edits)
  return text === undefined ? noId : { text, start, end: cursor.position, edits }
}

/** The arguments of the last call. */
function argumentsOf({ arguments: known, last }: ToolCallState): CallArguments {
  let own = known.get(last)
  if (own === undefined) known.set(last, (own = new CallArguments()))
  return own
}

/** Reads a piece of the arguments of the last call, and replaces the text that has to wait for the finish. */
function readArguments(state: ToolCallState, piece: ArgumentsPiece | undefined, edits: Edit[]): void {
  if (piece === undefined) return
  const { text, start, end, isText } = piece
  const passed = argumentsOf(state).read(text)
  if (!isText || passed !== text) edits.push({ start, end, replacement: encode(JSON.stringify(passed)) })
}

/** Assigns a piece to a call. The first piece of a call gets an id and a type. */
function numberPiece(piece: Piece, state: ToolCallState, edits: Edit[], end: number): void {
  const { given } = piece
  const id = piece.id.text
  const index = callIndex(state, piece)
  const isNew = !state.idByIndex.has(index)
  const instead = idInstead(state, piece, index, isNew)
  if (isNew) state.idByIndex.set(index, id)
  if (id !== '') state.indexById.set(id, index)
  state.last = index
  state.lastGiven = given
  state.next = Math.max(state.next, index + 1)
  if (given !== undefined && (given !== index || !piece.isNumber))
    edits.push({ start: piece.givenStart, end: piece.givenEnd, replacement: encode(String(index)) })
  if (piece.id !== noId) changeId(piece.id, instead, edits)
  insertMembers(edits, end, missingMembers(piece, index, isNew), piece.seen !== 0)
}

function changeId({ start, end, edits: own }: FoundId, instead: string | undefined, edits: Edit[]): void {
  if (instead !== undefined) edits.push({ start, end, replacement: encode(`"${instead}"`) })
  else edits.push(...own)
}

/** An id in place of an empty one, or of one that an earlier call has. Undefined: the piece keeps its id. */
function idInstead(
  state: ToolCallState,
  { id: { text: id } }: Piece,
  index: number,
  isNew: boolean,
): string | undefined {
  if (!isNew) return id === '' ? undefined : state.ownIds.get(index)
  if (id !== '' && !state.indexById.has(id)) return undefined
  const made = madeUpId('call_')
  if (id !== '') state.ownIds.set(index, made)
  return made
}

function missingMembers({ given, seen, id: { text: id } }: Piece, index: number, isNew: boolean): readonly string[] {
  const missing: string[] = []
  if (given === undefined) missing.push(`"index":${index}`)
  if (isNew && (seen & 2) === 0) missing.push(`"id":"${madeUpId('call_')}"`)
  if ((isNew || id !== '') && (seen & 4) === 0) missing.push('"type":"function"')
  return missing
}

/** As {@link callIndex}, for a piece without the upstream's index. */
function indexOfUncounted(state: ToolCallState, piece: Piece): number {
  const { indexById, assigned, next, last } = state
  const {
    id: { text: id },
    hasName,
  } = piece
  const known = indexById.get(id) ?? (id !== '' || hasName ? next : last)
  const index = isWholeCall(piece) && state.arguments.get(known)?.isComplete === true ? next : known
  if (!assigned.has(index)) assigned.set(index, index)
  return index
}

/** Returns the assigned index of a piece's call. */
function callIndex(state: ToolCallState, piece: Piece): number {
  const { indexById, idByIndex, assigned, next } = state
  const {
    given,
    id: { text: id },
    hasName,
  } = piece
  if (given === undefined) return indexOfUncounted(state, piece)
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

/** Whether a piece has a name and arguments, so that it cannot continue a complete call. */
function isWholeCall({ hasName, arguments: given }: Piece): boolean {
  return hasName && given !== undefined && given.text.trim() !== ''
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
