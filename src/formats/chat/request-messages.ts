import { nameTable, type JsonCursor, type JsonKind } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { invalidRequest, type WireError } from '../error.ts'
import { notAmong } from '../fields.ts'
import { missing, wrongType } from '../request-fault.ts'
import { isReasoningText, reasoningNames, type ReasoningMember } from './request-reasoning.ts'

const messageNames = nameTable(['role', 'content', ...reasoningNames])
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'function']
const roleTable = nameTable(roles)

/** Facts of the messages that were read. */
export interface MessageFacts {
  hasMessages: boolean
  /** Parts of content, tools or the choice among them are written in another way than this format's. */
  hasOtherForms: boolean
  /** Offsets of their reasoning. */
  readonly reasoning: { readonly members: ReasoningMember[]; readonly bare: number[] }
}

/** Passes `messages` and checks them (docs/api.md). */
export function* checkMessages(cursor: JsonCursor, pace: Pace, facts: MessageFacts): Walk<void> {
  const { reasoning } = facts
  const list = cursor.peek()
  if (list !== 'array') throw wrongType('messages', 'an array of objects', list)
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    checkMessageKind(cursor.peek(), index)
    const message = cursor.position
    let role: string | undefined
    let content: JsonKind | undefined
    let previousEnd: number | undefined
    let isBare = true
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(messageNames)
      const start = cursor.nameStart
      const valueStart = cursor.position
      const kind = cursor.peek()
      if (code === 1 && kind === 'array') yield* checkParts(cursor, pace, index, facts)
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (code === 0) role = readRole(cursor, valueStart, kind, index)
      else if (code === 1) content = checkContentKind(kind, index)
      else if (code > 1) {
        const name = reasoningName(code)
        reasoning.members.push({ name, message, start, valueStart, end: cursor.position, previousEnd })
        if (isReasoningText(name)) isBare = false
      }
      previousEnd = cursor.position
      if (previousEnd >= pace.limit) yield pace
    }
    checkPresence(role, content, index)
    if (isBare && role === 'assistant') reasoning.bare.push(message)
    index++
  }
  if (index === 0) throw invalidRequest('invalid_value', "'messages' must have at least one message.", 'messages')
  facts.hasMessages = true
}

function checkMessageKind(kind: JsonKind, index: number): void {
  if (kind !== 'object') throw wrongType(`messages[${index}]`, 'an object', kind)
}

/** Returns the role, a passed value at `start`. */
function readRole(cursor: JsonCursor, start: number, kind: JsonKind, index: number): string {
  if (kind !== 'string') throw wrongType(`messages[${index}].role`, 'a string', kind)
  const role = roles[cursor.stringCode(roleTable, start, cursor.position)]
  if (role === undefined) throw notAmong(cursor, start, `messages[${index}].role`, roles)
  return role
}

function checkContentKind(kind: JsonKind, index: number): JsonKind {
  if (kind === 'string' || kind === 'array' || kind === 'null') return kind
  throw wrongType(`messages[${index}].content`, 'a string or an array of parts', kind)
}

function reasoningName(code: number): string {
  return reasoningNames[code - 2] ?? ''
}

/** Checks that a message has a role, and content if its role requires one. */
function checkPresence(role: string | undefined, content: JsonKind | undefined, index: number): void {
  if (role === undefined) throw missing(`messages[${index}].role`)
  if (role === 'assistant' || role === 'function') return
  if (content === undefined) throw missing(`messages[${index}].content`)
  if (content === 'null' && role !== 'tool')
    throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
}

const partNames = nameTable(['type', 'text', 'image_url'])
const imageNames = nameTable(['url'])
/** Types of parts that are checked; parts of other types pass unread. */
const partTypes = ['text', 'image_url']
/** Types of Responses, which some clients write here. */
const otherTypes = ['input_text', 'output_text', 'input_image']
const partTypeTable = nameTable([...partTypes, ...otherTypes])

function* checkParts(cursor: JsonCursor, pace: Pace, message: number, facts: MessageFacts): Walk<void> {
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'object') throw wrongType(partPath(message, index), 'an object', element)
    let type: string | undefined
    let text: JsonKind | undefined
    let image: JsonKind | undefined
    let url: JsonKind | undefined
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(partNames)
      const start = cursor.position
      const kind = cursor.peek()
      if (code === 2 && kind === 'object') url = yield* readUrlKind(cursor, pace)
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (code === 0) type = readPartType({ cursor, start, kind, path: () => partPath(message, index) }, facts)
      else if (code === 1) text = kind
      else if (code === 2) image = kind
      if (cursor.position >= pace.limit) yield pace
    }
    if (type === undefined) throw missing(`${partPath(message, index)}.type`)
    if (type === 'text') checkText(text, message, index)
    else if (type === 'image_url') checkImage(image, url, message, index)
    index++
  }
}

/** A value that was passed. */
interface PassedValue {
  readonly cursor: JsonCursor
  readonly start: number
  readonly kind: JsonKind
  readonly path: () => string
}

/** Returns the type; `other` for a type that is not checked. */
function readPartType({ cursor, start, kind, path }: PassedValue, facts: MessageFacts): string {
  if (kind !== 'string') throw wrongType(`${path()}.type`, 'a string', kind)
  const code = cursor.stringCode(partTypeTable, start, cursor.position)
  if (code >= partTypes.length) facts.hasOtherForms = true
  return partTypes[code] ?? 'other'
}

function checkText(text: JsonKind | undefined, message: number, index: number): void {
  if (text !== 'string') throw wrongKind(text, 'a string', `${partPath(message, index)}.text`)
}

function checkImage(image: JsonKind | undefined, url: JsonKind | undefined, message: number, index: number): void {
  if (image === 'string' || (image === 'object' && url === 'string')) return
  const path = `${partPath(message, index)}.image_url`
  throw image === 'object' ? wrongKind(url, 'a string', `${path}.url`) : wrongKind(image, 'an object or a string', path)
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
