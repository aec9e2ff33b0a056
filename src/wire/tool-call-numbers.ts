import { insertMembers } from './fill.ts'
import { nameTable } from './json-cursor.ts'
import type { JsonCursor } from './json-cursor.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import type { Edit } from './splice.ts'
import { encode } from './text.ts'

/** Numbers the tool calls of one stream. */
export interface ToolCallNumbers {
  /**
   * Passes a delta's `tool_calls`, with an edit for each `index` and `type` that is missing. Whether there is any call.
   *
   * @throws {MalformedAnswer} when one is not an object
   */
  read(cursor: JsonCursor, choice: number, edits: Edit[]): boolean
}

interface ToolCallState {
  readonly indexById: Map<string, number>
  next: number
  last: number
}

/**
 * Gives tool calls the `index` that clients put their pieces together by, where an upstream leaves it out (Mistral,
 * Gemini): in the order in which ids first appear, for each choice on its own; a piece without an id belongs to the
 * call before it, unless it has a name. A call with an id is given a type.
 */
export function toolCallNumbers(): ToolCallNumbers {
  const byChoice = new Map<number, ToolCallState>()
  return {
    read(cursor, choice, edits) {
      if (cursor.peek() !== 'array') {
        cursor.skip()
        return false
      }
      let hasCall = false
      for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
        hasCall = true
        if (cursor.peek() !== 'object')
          throw new MalformedAnswer('malformed', 'a tool call of an event is not an object')
        const state = byChoice.get(choice) ?? { indexById: new Map(), next: 0, last: 0 }
        byChoice.set(choice, state)
        readToolCall(cursor, state, edits)
      }
      return hasCall
    },
  }
}

const toolCallTable = nameTable(['index', 'id', 'type', 'function'])
const functionTable = nameTable(['name'])

function readToolCall(cursor: JsonCursor, state: ToolCallState, edits: Edit[]): void {
  let hasMembers = false
  let index: number | undefined
  let id = ''
  let hasName = false
  let isTyped = false
  /** Where `index` and `type` stand when they are there but null or the like. */
  let wrongIndex: Span | undefined
  let wrongType: Span | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    hasMembers = true
    const code = cursor.nameCode(toolCallTable)
    const kind = cursor.peek()
    const start = cursor.position
    if (code === 0 && kind === 'number') index = cursor.number()
    else if (code === 1 && kind === 'string') id = cursor.string()
    else if (code === 3 && kind === 'object') hasName = readHasName(cursor) || hasName
    else cursor.skip()
    if (code === 0 && !(index !== undefined && Number.isSafeInteger(index) && index >= 0)) {
      wrongIndex = { start, end: cursor.position }
      index = undefined
    }
    if (code === 2 && kind === 'string' && cursor.position - start > 2) isTyped = true
    else if (code === 2) wrongType = { start, end: cursor.position }
  }
  const missing: string[] = []
  if (index === undefined) {
    index = state.indexById.get(id) ?? (id !== '' || hasName ? state.next : state.last)
    if (wrongIndex === undefined) missing.push(`"index":${index}`)
    else edits.push({ ...wrongIndex, replacement: encode(String(index)) })
  }
  if (id !== '') state.indexById.set(id, index)
  state.last = index
  state.next = Math.max(state.next, index + 1)
  if (id !== '' && !isTyped) {
    if (wrongType === undefined) missing.push('"type":"function"')
    else edits.push({ ...wrongType, replacement: encode('"function"') })
  }
  insertMembers(edits, cursor.position - 1, missing, hasMembers)
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Passes a tool call's `function`; whether it has a name. */
function readHasName(cursor: JsonCursor): boolean {
  let hasName = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(functionTable) === 0) hasName = cursor.isFilled()
    else cursor.skip()
  }
  return hasName
}
