import { invalidRequest } from './error.ts'
import type { WireError } from './error.ts'
import { nameTable } from './json-cursor.ts'
import type { JsonCursor, JsonKind } from './json-cursor.ts'
import { skip } from './pace.ts'
import type { Pace, Walk } from './pace.ts'
import { missing, wrongType } from './request-fault.ts'
import { notAmong } from './request-fields.ts'

const messageNames = nameTable(['role', 'content'])
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'function']
const roleTable = nameTable(roles)

/** Passes `messages` and checks them (docs/api.md). */
export function* checkMessages(cursor: JsonCursor, pace: Pace): Walk<void> {
  const kind = cursor.peek()
  if (kind !== 'array') throw wrongType('messages', 'an array of objects', kind)
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'object') throw wrongType(`messages[${index}]`, 'an object', element)
    let role: string | undefined
    let content: JsonKind | undefined
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(messageNames)
      if (code === 0) {
        const start = cursor.position
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        role = readRole(cursor, start, index)
      } else {
        if (code === 1) {
          content = cursor.peek()
          if (content === 'array') yield* checkParts(cursor, pace, index)
          else if (content !== 'string' && content !== 'null') {
            throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
          }
        }
        if ((code !== 1 || content !== 'array') && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      }
      if (cursor.position >= pace.limit) yield pace
    }
    if (role === undefined) throw missing(`messages[${index}].role`)
    if (role !== 'assistant' && role !== 'function') {
      if (content === undefined) throw missing(`messages[${index}].content`)
      if (content === 'null') throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
    }
    index++
  }
  if (index === 0) throw invalidRequest('invalid_value', "'messages' must have at least one message.", 'messages')
}

/** The role that stands from `start` on; when it is a string, it was passed already. */
function readRole(cursor: JsonCursor, start: number, index: number): string {
  const role = roles[cursor.stringCode(roleTable, start, cursor.position)]
  if (role !== undefined) return role
  const param = `messages[${index}].role`
  if (cursor.position === start) throw wrongType(param, 'a string', cursor.peek())
  throw notAmong(cursor, start, param, roles)
}

const partNames = nameTable(['type', 'text', 'image_url'])
const imageNames = nameTable(['url'])
const partTypes = ['text', 'image_url', 'input_audio', 'file', 'refusal']
const partTypeTable = nameTable(partTypes)

function* checkParts(cursor: JsonCursor, pace: Pace, message: number): Walk<void> {
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const kind = cursor.peek()
    if (kind !== 'object') throw wrongType(partPath(message, index), 'an object', kind)
    let type: string | undefined
    let text: JsonKind | undefined
    let image: JsonKind | undefined
    let url: JsonKind | undefined
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(partNames)
      const start = cursor.position
      const member = cursor.peek()
      if (code === 1) text = member
      else if (code === 2) image = member
      if (code === 2 && member === 'object') url = yield* readUrlKind(cursor, pace)
      else if ((code !== 0 || member === 'string') && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (code === 0) type = readPartType(cursor, start, message, index)
      if (cursor.position >= pace.limit) yield pace
    }
    if (type === undefined) throw missing(`${partPath(message, index)}.type`)
    if (type === 'text' && text !== 'string') throw wrongKind(text, 'a string', `${partPath(message, index)}.text`)
    if (type === 'image_url') {
      if (image !== 'object') throw wrongKind(image, 'an object', `${partPath(message, index)}.image_url`)
      if (url !== 'string') throw wrongKind(url, 'a string', `${partPath(message, index)}.image_url.url`)
    }
    index++
  }
}

/** The type that stands from `start` on; when it is a string, it was passed already. */
function readPartType(cursor: JsonCursor, start: number, message: number, index: number): string {
  const type = partTypes[cursor.stringCode(partTypeTable, start, cursor.position)]
  if (type !== undefined) return type
  const param = `${partPath(message, index)}.type`
  if (cursor.position === start) throw wrongType(param, 'a string', cursor.peek())
  throw notAmong(cursor, start, param, partTypes)
}

/** Passes the object of an image part; the kind of its `url`. */
function* readUrlKind(cursor: JsonCursor, pace: Pace): Walk<JsonKind | undefined> {
  let url: JsonKind | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(imageNames) === 0) url = cursor.peek()
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
  }
  return url
}

function partPath(message: number, index: number): string {
  return `messages[${message}].content[${index}]`
}

function wrongKind(found: JsonKind | undefined, expected: string, param: string): WireError {
  return found === undefined ? missing(param) : wrongType(param, expected, found)
}
