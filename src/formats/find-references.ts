import { JsonCursor, JsonSyntaxError, nameTable } from '../bytes/json-cursor.ts'
import { indexOfBytes, latin1 } from '../bytes/text.ts'

/** Members whose texts name content by an id or an address, in all formats. */
const naming = [
  ...['file_id', 'fileUri', 'file_uri', 'file_url', 'image_url', 'video_url', 'audio_url', 'document_url', 'pdf_url'],
  ...['cachedContent', 'cached_content'],
]
/** Members whose texts are addresses or base64. */
const mixed = ['file_data', 'image', 'video', 'audio']
/** Members of {@link containers} that name content. */
const inner = ['url', 'uri', 'id']
/** What models and tools have said: addresses in it are text. A top-level `input` is a prompt. */
const said = ['arguments', 'args', 'input', 'response', 'annotations', 'citations']
const names = nameTable([...naming, ...mixed, ...inner, ...said, 'source', 'file'])
const mixedFrom = naming.length
const innerFrom = mixedFrom + mixed.length
const saidFrom = innerFrom + inner.length
const containersFrom = saidFrom + said.length

/** Texts of which a body with content by reference has one. An escape may be a part of a name. */
const marks = ['file_id"', 'file_data"', 'url"', 'ri"', '"cached', '"image"', '"video"', '"audio"', '\\u00'].map(
  (text) => new TextEncoder().encode(text),
)
const quote = 0x22
const backslash = 0x5c
/** The first byte of a form. */
const hyphen = 0x2d
const prefixBytes = 24

/**
 * Counts the content of a request that is named by its address, or by the id of a stored file, in any format: its size
 * is not known. Most requests have none of the {@link marks}, and are not walked over.
 */
export function referencesIn(body: Uint8Array): number {
  if (body[0] === hyphen || marks.every((mark) => indexOfBytes(body, mark) === -1)) return 0
  try {
    return countIn(new JsonCursor(body), 'top')
  } catch (error) {
    // A form that begins with a text.
    if (error instanceof JsonSyntaxError) return 0
    throw error
  }
}

type Place = 'top' | 'container' | 'other'

/** Passes a value. */
function countIn(cursor: JsonCursor, place: Place): number {
  let count = 0
  const kind = cursor.peek()
  if (kind === 'array') {
    for (let more = cursor.firstElement(); more; more = cursor.nextElement())
      count += countIn(cursor, place === 'top' ? 'other' : place)
  } else if (kind === 'object') {
    for (let more = cursor.firstMember(); more; more = cursor.nextMember())
      count += countInMember(cursor, cursor.nameCode(names), place)
  } else cursor.skip()
  return count
}

/** Passes the value of a member. @param code of its name; -1: any other name */
function countInMember(cursor: JsonCursor, code: number, place: Place): number {
  if (code >= saidFrom && code < containersFrom && place !== 'top') {
    cursor.skip()
    return 0
  }
  const isContainer = code !== -1 && (code < innerFrom || code >= containersFrom)
  if (cursor.peek() !== 'string') return countIn(cursor, isContainer ? 'container' : 'other')
  const start = cursor.position + 1
  passString(cursor)
  if (code === -1 || code >= saidFrom || (code >= innerFrom && place !== 'container')) return 0
  const prefix = latin1(cursor.bytes, start, Math.min(start + prefixBytes, cursor.position - 1))
  const isNaming = code < mixedFrom || code >= innerFrom
  return isReference(prefix, isNaming) ? 1 : 0
}

/** Passes a string. Base64 may have megabytes, and no escapes. */
function passString(cursor: JsonCursor): void {
  const end = indexOfBytes(cursor.bytes, quote, cursor.position + 1)
  if (end === -1 || cursor.bytes[end - 1] === backslash) cursor.skip()
  else cursor.position = end + 1
}

/** Whether a text names content. An escape may hide it. @param isNaming it need not be an address */
function isReference(prefix: string, isNaming: boolean): boolean {
  if (prefix === '' || /^data:/i.test(prefix)) return false
  return isNaming || /^[a-z\d+.-]*[:\\]/i.test(prefix)
}
