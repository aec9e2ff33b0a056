import { readListIndex } from '../../bytes/fill.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { utf8 } from '../../bytes/text.ts'
import type { TokenCounts } from '../answer.ts'
import { parseJson, textOf } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { billedFacts } from '../token-counts.ts'
import { countNames, countsOfMetadata, metadataTier, modalitiesOf } from './usage-metadata.ts'

/** Facts of a GenerateContentResponse, whole or one of a stream. */
export interface ResponseFacts {
  readonly candidates: readonly CandidateFacts[]
  /** The prompt was refused. */
  readonly isBlocked: boolean
  readonly hasError: boolean
  readonly usage: TokenCounts | undefined
  readonly hasLineBreaks: boolean
  /** The places of the id and the model. */
  readonly head: readonly HeadPlace[]
}

/** Offsets of the value of a member that all responses of a stream have in common. */
export interface HeadPlace {
  readonly member: 'responseId' | 'modelVersion'
  readonly start: number
  readonly end: number
}

/** Facts of one candidate. */
export interface CandidateFacts {
  readonly index: number
  /** Text that is no thought; may be empty. */
  readonly text: string
  /** It has thoughts, calls, media or signatures. */
  readonly isBeyondText: boolean
  readonly hasCalls: boolean
  readonly finishReason: string | undefined
  /** Its `groundingMetadata`. */
  readonly grounding: unknown
}

type Mutable<Facts> = { -readonly [Name in keyof Facts]: Facts[Name] }

const topNames = nameTable(['candidates', 'usageMetadata', 'promptFeedback', 'error', 'responseId', 'modelVersion'])
const candidateNames = nameTable(['content', 'finishReason', 'index', 'groundingMetadata'])
const contentNames = nameTable(['parts'])
const partNames = nameTable(['text', 'thought', 'functionCall'])
const feedbackNames = nameTable(['blockReason'])
const usageNames = nameTable([...countNames, 'promptTokensDetails', 'candidatesTokensDetails', 'serviceTier'])
const noCandidates: readonly CandidateFacts[] = []
const noCounts: readonly undefined[] = countNames.map(() => undefined)

/** Reads the facts of a response in place. @throws {MalformedAnswer} if it is no JSON object of the format */
export function responseFacts(data: Uint8Array): ResponseFacts {
  const cursor = new JsonCursor(data)
  try {
    if (cursor.peek() !== 'object') throw malformed('an event is not a JSON object')
    const facts = readTop(cursor)
    cursor.finish()
    facts.hasLineBreaks = cursor.hasLineBreaks
    return facts
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
  }
}

/** The model that a response names. */
export function modelIn(data: Uint8Array, { head }: Pick<ResponseFacts, 'head'>): string | undefined {
  const place = head.find(({ member }) => member === 'modelVersion')
  return place && textOf(parseJson(utf8(data, place.start, place.end)))
}

function readTop(cursor: JsonCursor): Mutable<ResponseFacts> {
  const head: HeadPlace[] = []
  const facts: Mutable<ResponseFacts> = {
    head,
    candidates: noCandidates,
    isBlocked: false,
    hasError: false,
    usage: undefined,
    hasLineBreaks: false,
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(topNames)) {
      case 0:
        facts.candidates = readCandidates(cursor)
        break
      case 1:
        facts.usage = readUsage(cursor, isEnd(facts)) ?? facts.usage
        break
      case 2:
        facts.isBlocked = readBlockReason(cursor)
        break
      case 3:
        facts.hasError = cursor.isFilled()
        break
      case 4:
        head.push(passHead(cursor, 'responseId'))
        break
      case 5:
        head.push(passHead(cursor, 'modelVersion'))
        break
      default:
        cursor.skip()
    }
  }
  return facts
}

/** Whether a response has an end. The candidates are before the usage. */
function isEnd({ candidates }: ResponseFacts): boolean {
  return candidates.length === 0 || candidates.some(({ finishReason }) => finishReason !== undefined)
}

function passHead(cursor: JsonCursor, member: HeadPlace['member']): HeadPlace {
  cursor.peek()
  const start = cursor.position
  cursor.skip()
  return { member, start, end: cursor.position }
}

function readCandidates(cursor: JsonCursor): readonly CandidateFacts[] {
  const candidates: CandidateFacts[] = []
  for (let more = isFilledList(cursor, 'candidates'); more; more = cursor.nextElement())
    candidates.push(readCandidate(cursor, candidates.length))
  return candidates
}

/** Enters an array of objects, at its first element; false for an empty one and for null. */
function isFilledList(cursor: JsonCursor, what: string): boolean {
  if (cursor.skipNull()) return false
  if (cursor.peek() !== 'array') throw malformed(`the ${what} of an event are no array`)
  return cursor.firstElement()
}

function readCandidate(cursor: JsonCursor, position: number): CandidateFacts {
  if (cursor.peek() !== 'object') throw malformed('a candidate of an event is no object')
  const facts: Mutable<CandidateFacts> = {
    index: position,
    text: '',
    isBeyondText: false,
    hasCalls: false,
    finishReason: undefined,
    grounding: undefined,
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(candidateNames)) {
      case 0:
        readContent(cursor, facts)
        break
      case 1:
        facts.finishReason = readReason(cursor)
        break
      case 2:
        facts.index = readListIndex(cursor) ?? position
        break
      case 3:
        facts.grounding = readValue(cursor)
        break
      default:
        cursor.skip()
    }
  }
  return facts
}

function readContent(cursor: JsonCursor, facts: Mutable<CandidateFacts>): void {
  if (cursor.skipNull()) return
  if (cursor.peek() !== 'object') throw malformed('the content of an event is no object')
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(contentNames) === 0)
      for (let next = isFilledList(cursor, 'parts'); next; next = cursor.nextElement()) readPart(cursor, facts)
    else cursor.skip()
  }
}

/** Adds the facts of a part. */
function readPart(cursor: JsonCursor, facts: Mutable<CandidateFacts>): void {
  if (cursor.peek() !== 'object') throw malformed('a part of an event is no object')
  let text = ''
  let isThought = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    switch (cursor.nameCode(partNames)) {
      case 0:
        text = readText(cursor)
        break
      case 1:
        isThought = cursor.isFilled()
        break
      case 2:
        facts.hasCalls = cursor.isFilled() || facts.hasCalls
        facts.isBeyondText ||= facts.hasCalls
        break
      default:
        facts.isBeyondText = cursor.isFilled() || facts.isBeyondText
    }
  }
  if (!isThought) facts.text = facts.text === '' ? text : facts.text + text
  else if (text !== '') facts.isBeyondText = true
}

function readText(cursor: JsonCursor): string {
  if (cursor.skipNull()) return ''
  if (cursor.peek() !== 'string') throw malformed('the text of an event is no string')
  return cursor.string()
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

/** @param isLast the counts are final: those of audio and images, and the tier, are read, too */
function readUsage(cursor: JsonCursor, isLast: boolean): TokenCounts | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const counts: (number | undefined)[] = [...noCounts]
  const others: unknown[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    if (code === -1 || (code >= counts.length && !isLast)) cursor.skip()
    else if (code < counts.length) counts[code] = readListIndex(cursor)
    else others[code - counts.length] = readValue(cursor)
  }
  const [prompt, , , total] = counts
  if (prompt === undefined && total === undefined) return undefined
  if (!isLast) return countsOfMetadata(counts, undefined)
  const [ofPrompt, ofAnswer, tier] = others
  return countsOfMetadata(counts, billedFacts({ ...modalitiesOf(ofPrompt, ofAnswer), serviceTier: metadataTier(tier) }))
}

function readValue(cursor: JsonCursor): unknown {
  cursor.peek()
  const start = cursor.position
  cursor.skip()
  return parseJson(utf8(cursor.bytes, start, cursor.position))
}

function malformed(message: string): MalformedAnswer {
  return new MalformedAnswer('malformed', message)
}
