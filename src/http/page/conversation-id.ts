import { nextTurn } from '../../base/next-turn.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { invalidRequest } from '../../formats/error.ts'

/** Bytes between two turns: some milliseconds at most. */
const turnBytes = 256 * 1024
/** No id is longer, also with escapes. */
const idBytesMax = 1_024
const names = nameTable(['id'])

/**
 * Checks that bytes are one JSON object, and returns its `id` if that is a string. No value is built, and other work of
 * the event loop goes on meanwhile: parsing 16 MiB of small values would stop it for seconds.
 *
 * @throws {WireError} 400
 */
export async function conversationId(body: Uint8Array): Promise<string | undefined> {
  try {
    return await idIn(new JsonCursor(body))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest('invalid_json', `The request body is not valid JSON in UTF-8: ${error.message}.`)
  }
}

async function idIn(cursor: JsonCursor): Promise<string | undefined> {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  let id: string | undefined
  let turnAt = turnBytes
  const turn = async (): Promise<void> => {
    turnAt = cursor.position + turnBytes
    await nextTurn()
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const isId = cursor.nameCode(names) === 0
    const isText = cursor.peek() === 'string'
    const start = cursor.position
    while (!cursor.skip(turnAt)) await turn()
    // As for `JSON.parse`, the last one counts.
    if (isId) id = isText && cursor.position - start <= idBytesMax ? cursor.stringAt(start, cursor.position) : undefined
    if (cursor.position >= turnAt) await turn()
  }
  cursor.finish()
  return id
}
