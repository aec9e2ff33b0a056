import type { JsonObject } from '../../base/json-value.ts'
import { JsonCursor, JsonSyntaxError, nameTable, type JsonKind } from '../../bytes/json-cursor.ts'
import { utf8 } from '../../bytes/text.ts'
import type { TokenCounts } from '../answer.ts'
import { objectOf, parseJson } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { countIn, countsIn, prompted } from '../token-counts.ts'
import { errorWithin } from '../upstream-error.ts'
import { countedUsage, type Usage } from '../usage.ts'

/** The member that every whole answer of an endpoint has. */
export interface AnswerShape {
  /** A member: a list that is not empty, or text. */
  readonly member: string
  /** Members of which each entry of the list has one, and their kind. Absent: the member is text. */
  readonly entries?: Readonly<Record<string, JsonKind>>
}

/** Bytes of an empty text in JSON. */
const emptyText = 2
/** Larger members and bodies are not parsed: usage and errors are short. */
const parsedBytesMax = 64 * 1024

/**
 * Returns a reader of whole answers. Their bytes pass through.
 *
 * @param shape absent: none is in JSON
 * @throws {MalformedAnswer}
 */
export function answerReader(shape: AnswerShape | undefined): (body: Uint8Array) => WholeReply | AnsweredError {
  const { member = '', entries } = shape ?? {}
  const topNames = nameTable([member, 'usage', 'meta', 'error'])
  const entryNames = nameTable(Object.keys(entries ?? {}))
  const entryKinds = Object.values(entries ?? {})
  /** All texts of the answer are empty. */
  let isBlank = true

  function read(cursor: JsonCursor): WholeReply {
    if (shape === undefined) throw malformed('the answer is of another type')
    if (cursor.peek() !== 'object') throw malformed('the answer is not a JSON object')
    let isFound = false
    isBlank = true
    let usage: Usage | undefined
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      switch (cursor.nameCode(topNames)) {
        case 0:
          readContent(cursor)
          isFound = true
          break
        case 1:
        case 2:
          usage = usageOf(smallObject(cursor)) ?? usage
          break
        case 3:
          if (cursor.isFilled()) throw malformed('the answer is an error')
          break
        default:
          cursor.skip()
      }
    }
    cursor.finish()
    if (!isFound) throw malformed(`the answer has no ${member}`)
    return { kind: 'whole', body: cursor.bytes, usage, isEmpty: false, isBlank }
  }

  function readContent(cursor: JsonCursor): void {
    const kind = cursor.peek()
    if (kind !== (entries === undefined ? 'string' : 'array')) throw malformed(`${member} is a ${kind}`)
    if (entries === undefined) return passValue(cursor)
    let count = 0
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      if (cursor.peek() !== 'object' || !hasOne(cursor)) throw malformed(`${member}[${count}] is not of its format`)
      count++
    }
    if (count === 0) throw malformed(`${member} is empty`)
  }

  /** Passes an entry of the list; whether it has one of the members. */
  function hasOne(cursor: JsonCursor): boolean {
    let isFound = false
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const code = cursor.nameCode(entryNames)
      if (code !== -1 && cursor.peek() === entryKinds[code]) {
        isFound = true
        passValue(cursor)
      } else cursor.skip()
    }
    return isFound
  }

  function passValue(cursor: JsonCursor): void {
    cursor.peek()
    const start = cursor.position
    cursor.skip()
    if (cursor.position - start > emptyText) isBlank = false
  }

  return (body) => {
    try {
      return read(new JsonCursor(body))
    } catch (error) {
      const answered = body.length > parsedBytesMax ? undefined : errorWithin(body)
      if (answered !== undefined) return { kind: 'error', error: answered }
      if (!(error instanceof JsonSyntaxError)) throw error
      throw new MalformedAnswer('malformed', `the answer is not JSON: ${error.message}`, { cause: error })
    }
  }
}

/** Passes a value; an empty object unless it is a short object. */
function smallObject(cursor: JsonCursor): JsonObject {
  cursor.peek()
  const start = cursor.position
  cursor.skip()
  if (cursor.position - start > parsedBytesMax) return {}
  return objectOf(parseJson(utf8(cursor.bytes, start, cursor.position)))
}

/**
 * The usage of an endpoint, under the names of chat completions, Responses or Cohere. Answers without a count of their
 * own have no tokens.
 */
export function usageOf(usage: JsonObject): Usage | undefined {
  const { tokens, billed_units } = usage
  const named = { ...objectOf(tokens), ...usage }
  const hasAnswer = named['completion_tokens'] !== undefined || named['output_tokens'] !== undefined
  const found = countsIn(named, usage['service_tier'])
  const counts = found === undefined || hasAnswer ? found : withoutAnswer(found)
  const searches = countIn(objectOf(billed_units)['search_units'])
  if (searches === undefined) return counts && countedUsage(counts)
  const counted = countedUsage(counts ?? { prompt: 0, completion: 0, lacks: 'both' })
  return { ...counted, billed: { ...counts?.billed, searches } }
}

/** A total above the prompt, or alone, is that of the prompt. */
function withoutAnswer({ prompt, total, lacks, ...counts }: TokenCounts): TokenCounts {
  const known = lacks === 'both' ? undefined : prompt
  return { ...counts, ...prompted(known === undefined ? total : Math.max(known, total ?? 0), 0, undefined) }
}

function malformed(message: string): MalformedAnswer {
  return new MalformedAnswer('malformed', message)
}
