import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import type { TokenCounts } from '../answer.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

/** Facts of a GenerateContentResponse, whole or one of a stream. */
export interface ResponseFacts {
  readonly candidates: readonly CandidateFacts[]
  /** The prompt was refused. */
  readonly isBlocked: boolean
  readonly hasError: boolean
  readonly usage: TokenCounts | undefined
  readonly hasLineBreaks: boolean
}

/** Facts of one candidate. */
export interface CandidateFacts {
  readonly index: number
  /** Text without thoughts; may be empty. */
  readonly text: string
  /** It has thoughts, calls, media or signatures. */
  readonly isBeyondText: boolean
  readonly hasCalls: boolean
  readonly finishReason: string | undefined
}

const topNames = nameTable(['candidates', 'usageMetadata', 'promptFeedback', 'error'])
const candidateNames = nameTable(['content', 'finishReason', 'index'])
const contentNames = nameTable(['parts'])
const partNames = nameTable(['text', 'thought', 'functionCall'])
const feedbackNames = nameTable(['blockReason'])
const usageNames = [
  'promptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
  'cachedContentTokenCount',
]
const usageTable = nameTable(usageNames)

/** Reads the facts of a response in place. @throws {MalformedAnswer} if it is no JSON object of the format */
export function responseFacts(data: Uint8Array): ResponseFacts {
  const cursor = new JsonCursor(data)
  try {
    if (cursor.peek() !== 'object') throw malformed('an event is not a JSON object')
    const facts = readTop(cursor)
    cursor.finish()
    return { ...facts, hasLineBreaks: cursor.hasLineBreaks }
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
  }
}

function readTop(cursor: JsonCursor): Omit<ResponseFacts, 'hasLineBreaks'> {
  let candidates: readonly CandidateFacts[] = []
  let usage: TokenCounts | undefined
  let isBlocked = false
  let hasError = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(topNames)) {
      case 0:
        candidates = readList(cursor, 'the candidates of an event', readCandidate)
        break
      case 1:
        usage = readUsage(cursor) ?? usage
        break
      case 2:
        isBlocked = readBlockReason(cursor)
        break
      case 3:
        hasError = cursor.isFilled()
        break
      default:
        cursor.skip()
    }
  }
  return { candidates, isBlocked, hasError, usage }
}

/** Passes an array of objects; null counts as an empty one. */
function readList<Read>(
  cursor: JsonCursor,
  what: string,
  read: (cursor: JsonCursor, position: number) => Read,
): readonly Read[] {
  if (cursor.skipNull()) return []
  if (cursor.peek() !== 'array') throw malformed(`${what} are no array`)
  const found: Read[] = []
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw malformed(`${what} are no objects`)
    found.push(read(cursor, found.length))
  }
  return found
}

function readCandidate(cursor: JsonCursor, position: number): CandidateFacts {
  let index = position
  let finishReason: string | undefined
  let parts: readonly PartFacts[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(candidateNames)) {
      case 0:
        parts = readContent(cursor)
        break
      case 1:
        finishReason = readReason(cursor)
        break
      case 2:
        index = readCount(cursor) ?? position
        break
      default:
        cursor.skip()
    }
  }
  return {
    index,
    text: parts.length === 1 ? (parts[0]?.text ?? '') : parts.map(({ text }) => text).join(''),
    isBeyondText: parts.some(({ isBeyondText }) => isBeyondText),
    hasCalls: parts.some(({ isCall }) => isCall),
    finishReason,
  }
}

function readContent(cursor: JsonCursor): readonly PartFacts[] {
  if (cursor.skipNull()) return []
  if (cursor.peek() !== 'object') throw malformed('the content of an event is no object')
  let parts: readonly PartFacts[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(contentNames) === 0) parts = readList(cursor, 'the parts of an event', readPart)
    else cursor.skip()
  }
  return parts
}

interface PartFacts {
  readonly text: string
  readonly isBeyondText: boolean
  readonly isCall: boolean
}

function readPart(cursor: JsonCursor): PartFacts {
  let text = ''
  let isThought = false
  let isBeyondText = false
  let isCall = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(partNames)) {
      case 0:
        if (cursor.skipNull()) break
        if (cursor.peek() !== 'string') throw malformed('the text of an event is no string')
        text = cursor.string()
        break
      case 1:
        isThought = cursor.isFilled()
        break
      case 2:
        isCall = cursor.isFilled()
        isBeyondText ||= isCall
        break
      default:
        isBeyondText = cursor.isFilled() || isBeyondText
    }
  }
  return isThought ? { text: '', isBeyondText: isBeyondText || text !== '', isCall } : { text, isBeyondText, isCall }
}

function readReason(cursor: JsonCursor): string | undefined {
  if (cursor.peek() !== 'string') {
    cursor.skip()
    return undefined
  }
  const reason = cursor.string()
  return reason === '' || reason === 'FINISH_REASON_UNSPECIFIED' ? undefined : reason
}

function readBlockReason(cursor: JsonCursor): boolean {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return false
  }
  let isBlocked = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(feedbackNames) === 0 && cursor.peek() === 'string')
      isBlocked = !['', 'BLOCK_REASON_UNSPECIFIED'].includes(cursor.string())
    else cursor.skip()
  }
  return isBlocked
}

function readUsage(cursor: JsonCursor): TokenCounts | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const counts: (number | undefined)[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageTable)
    if (code === -1) cursor.skip()
    else counts[code] = readCount(cursor)
  }
  const [prompt, completion = 0, reasoning, total, cached] = counts
  if (prompt === undefined && total === undefined) return undefined
  return { prompt: prompt ?? 0, completion: completion + (reasoning ?? 0), total, cached, reasoning }
}

/** Passes any value; undefined unless it is an integer of 0 or more. */
function readCount(cursor: JsonCursor): number | undefined {
  if (cursor.peek() !== 'number') {
    cursor.skip()
    return undefined
  }
  const count = cursor.number()
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

function malformed(message: string): MalformedAnswer {
  return new MalformedAnswer('malformed', message)
}
