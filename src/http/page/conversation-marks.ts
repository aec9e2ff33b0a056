import { nextTurn } from '../../base/next-turn.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { invalidRequest } from '../../formats/error.ts'

/** Bytes between two turns: some milliseconds at most. */
const turnBytes = 256 * 1024
/** No id is longer, also with escapes. */
const idBytesMax = 1_024
const names = nameTable(['id', 'isPinned'])

/** What the service reads of a conversation. */
export interface ConversationMarks {
  /** `undefined` without one that is a string. */
  readonly id: string | undefined
  /** Whether it is `true`. */
  readonly isPinned: boolean
}

/**
 * Checks that bytes are one JSON object, and returns its marks. No value is built, and other work of the event loop
 * goes on meanwhile: parsing 16 MiB of small values would stop it for seconds.
 *
 * @throws {WireError} 400
 */
export async function conversationMarks(body: Uint8Array): Promise<ConversationMarks> {
  try {
    return await marksIn(new JsonCursor(body))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest('invalid_json', `The request body is not valid JSON in UTF-8: ${error.message}.`)
  }
}

async function marksIn(cursor: JsonCursor): Promise<ConversationMarks> {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  let id: string | undefined
  let isPinned = false
  let turnAt = turnBytes
  const turn = async (): Promise<void> => {
    turnAt = cursor.position + turnBytes
    await nextTurn()
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const name = cursor.nameCode(names),
      kind = cursor.peek(),
      start = cursor.position
    while (!cursor.skip(turnAt)) await turn()
    const length = cursor.position - start
    // As for `JSON.parse`, the last one counts.
    if (name === 0) id = kind === 'string' && length <= idBytesMax ? cursor.stringAt(start, cursor.position) : undefined
    if (name === 1) isPinned = kind === 'boolean' && length === 'true'.length
    if (cursor.position >= turnAt) await turn()
  }
  cursor.finish()
  return { id, isPinned }
}
