import { nameTable, type JsonCursor, type JsonKind } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { invalidRequest, type WireError } from '../error.ts'
import { notAmong } from '../fields.ts'
import { missing, wrongType } from '../request-fault.ts'
import { isReasoningText, reasoningNames, type ReasoningMember } from './request-reasoning.ts'

const messageNames = nameTable(['role', 'content', ...reasoningNames])
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'function']
const roleTable = nameTable(roles)

/** Offsets of the reasoning found so far. */
export interface FoundReasoning {
  readonly members: ReasoningMember[]
  readonly bare: number[]
}

/** Passes `messages` and checks them (docs/api.md). Their reasoning is added to `reasoning`. */
export function* checkMessages(cursor: JsonCursor, pace: Pace, reasoning: FoundReasoning): Walk<void> {
  const kind = cursor.peek()
  if (kind !== 'array') throw wrongType('messages', 'an array of objects', kind)
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'object') throw wrongType(`messages[${index}]`, 'an object', element)
    const message = cursor.position
    let role: string | undefined
    let content: JsonKind | undefined
    let previousEnd: number | undefined
    let isBare = true
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(messageNames)
      const start = cursor.nameStart
      const valueStart = cursor.position
      if (code === 0) {
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        role = readRole(cursor, valueStart, index)
      } else {
        if (code === 1) {
          content = cursor.peek()
          if (content === 'array') yield* checkParts(cursor, pace, index)
          else if (content !== 'string' && content !== 'null') {
            throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
          }
        }
        if ((code !== 1 || content !== 'array') && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        const name = code < 2 ? undefined : reasoningNames[code - 2]
        if (name !== undefined) {
          reasoning.members.push({ name, message, start, valueStart, end: cursor.position, previousEnd })
          if (isReasoningText(name)) isBare = false
        }
      }
      previousEnd = cursor.position
      if (previousEnd >= pace.limit) yield pace
    }
    if (role === undefined) throw missing(`messages[${index}].role`)
    if (role !== 'assistant' && role !== 'function') {
      if (content === undefined) throw missing(`messages[${index}].content`)
      if (content === 'null' && role !== 'tool')
        throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
    }
    if (isBare && role === 'assistant') reasoning.bare.push(message)
    index++
  }
  if (index === 0) throw invalidRequest('invalid_value', "'messages' must have at least one message.", 'messages')
}

/** Returns the role at `start`. Call it after passing a string, and before passing any other value. */
function readRole(cursor: JsonCursor, start: number, index: number): string {
  const role = roles[cursor.stringCode(roleTable, start, cursor.position)]
  if (role !== undefined) return role
  const param = `messages[${index}].role`
  if (cursor.position === start) throw wrongType(param, 'a string', cursor.peek())
  throw notAmong(cursor, start, param, roles)
}

const partNames = nameTable(['type', 'text', 'image_url'])
const imageNames = nameTable(['url'])
/** Types of parts that are checked; parts of other types pass unread. */
const partTypes = ['text', 'image_url']
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
      if (code === 0) {
        if (member !== 'string') throw wrongType(`${partPath(message, index)}.type`, 'a string', member)
        type = partTypes[cursor.stringCode(partTypeTable, start, cursor.position)] ?? 'other'
      }
      if (cursor.position >= pace.limit) yield pace
    }
    if (type === undefined) throw missing(`${partPath(message, index)}.type`)
    if (type === 'text' && text !== 'string') throw wrongKind(text, 'a string', `${partPath(message, index)}.text`)
    if (type === 'image_url' && image !== 'string') {
      if (image !== 'object') throw wrongKind(image, 'an object or a string', `${partPath(message, index)}.image_url`)
      if (url !== 'string') throw wrongKind(url, 'a string', `${partPath(message, index)}.image_url.url`)
    }
    index++
  }
}

/** Passes the object of an image part, and returns the kind of its `url`. */
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
