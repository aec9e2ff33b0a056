import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson, isObject, listOf, numberOf, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import type { WholeReply } from '../reply.ts'
import { withFacts } from '../token-counts.ts'
import { errorOf, errorWithin, readUpstreamError } from '../upstream-error.ts'
import { countedUsage } from '../usage.ts'
import { modelIn, responseFacts, type ResponseFacts } from './event-facts.ts'
import { isDiscarded, readFinishReason } from './finish-reason.ts'
import { grounding } from './grounding.ts'
import { responseReader } from './native.ts'

/**
 * Inspects a whole GenerateContentResponse. Its bytes stay as they are.
 *
 * @throws {MalformedAnswer} if it is no JSON object, has no candidates, or if Gemini discarded them
 */
export function readResponse(body: Uint8Array): WholeReply | AnsweredError {
  if (body.length === 0) throw new MalformedAnswer('empty', 'the answer is empty')
  const listed = errorInList(body)
  if (listed !== undefined) return listed
  const facts = responseFacts(body)
  const answered = errorIn(facts, body)
  if (answered !== undefined) return answered
  const { candidates, isBlocked, usage } = facts
  if (candidates.length === 0 && !isBlocked) throw new MalformedAnswer('no_choices', 'the answer has no candidates')
  const hasContent = candidates.some(({ text, isBeyondText }) => text !== '' || isBeyondText)
  const discarded =
    hasContent && candidates.length > 1 ? undefined : candidates.find(({ finishReason }) => isDiscarded(finishReason))
  if (discarded !== undefined)
    throw new MalformedAnswer('malformed', `the answer ended with ${discarded.finishReason?.slice(0, 64)}`)
  const isStopped = candidates.every(({ finishReason }) => readFinishReason(finishReason, false) === 'stop')
  const grounded = grounding()
  for (const each of candidates) grounded.add(each.grounding)
  return {
    kind: 'whole',
    body,
    usage: usage && countedUsage(withFacts(usage, grounded.facts())),
    isEmpty: !hasContent && !isBlocked && isStopped,
    isBlank: !hasContent,
    model: modelIn(body, facts),
  }
}

function errorIn({ candidates, hasError }: ResponseFacts, body: Uint8Array): AnsweredError | undefined {
  if (hasError) return { kind: 'error', error: readUpstreamError(body) }
  const error = candidates.length === 0 ? errorWithin(body) : undefined
  return error && { kind: 'error', error }
}

/** Gemini has lists around some errors. */
function errorInList(body: Uint8Array): AnsweredError | undefined {
  if (body[0] !== openArray) return undefined
  const [first] = listOf(parsedJson(body))
  return isObject(first) && isObject(first['error']) ? { kind: 'error', error: errorOf(first) } : undefined
}

const openArray = 0x5b

/**
 * Converts a whole response to the only part of a stream (failover.md row 30). Candidates without a reason get one,
 * since they are complete.
 *
 * @throws {MalformedAnswer}
 */
export function responseToParts(body: Uint8Array): readonly Part[] {
  const response = parsedJson(body)
  if (!isObject(response)) throw new MalformedAnswer('malformed', 'the answer is not a JSON object')
  const candidates = objectsOf(response['candidates']).map((each) => ({ ...each, finishReason: reasonOf(each) }))
  const written = encodeJson(candidates.length === 0 ? response : { ...response, candidates })
  const read = responseReader(candidates.length).read({ event: '', data: written })
  return read === 'done' || 'kind' in read ? [] : read
}

function reasonOf({ finishReason }: JsonObject): string {
  return textOf(finishReason) || 'STOP'
}

/** Parses an answer. @throws {MalformedAnswer} if it is no JSON */
export function parsedJson(body: Uint8Array): unknown {
  try {
    return parseJsonBytes(body)
  } catch (cause) {
    throw new MalformedAnswer('malformed', 'the answer is not JSON', { cause })
  }
}

/** Gathers the responses of a stream into one. */
export interface GatheredResponse {
  add(response: JsonObject): void
  /** @throws {MalformedAnswer} without candidates */
  finish(): JsonObject
}

/** Starts gathering. Texts that follow each other become one. */
export function gatheredResponse(): GatheredResponse {
  let head: JsonObject = {}
  const candidates = new Map<number, JsonObject>()
  return {
    add({ candidates: added, ...others }) {
      head = { ...head, ...others }
      for (const [position, candidate] of objectsOf(added).entries()) {
        const index = numberOf(candidate['index']) ?? position
        const before = candidates.get(index)
        candidates.set(index, before === undefined ? candidate : joined(before, candidate))
      }
    },
    finish() {
      if (candidates.size === 0 && !isObject(head['promptFeedback']))
        throw new MalformedAnswer('no_choices', 'the stream had no candidates')
      const all = [...candidates].toSorted(([one], [other]) => one - other).map(([, candidate]) => candidate)
      return all.length === 0 ? head : { candidates: all, ...head }
    },
  }
}

function joined(before: JsonObject, after: JsonObject): JsonObject {
  const { content: said, ...facts } = before
  const { content: more, ...newer } = after
  const content = { ...objectOf(said), ...objectOf(more), parts: joinedParts(partsOf(said), partsOf(more)) }
  return { content, ...facts, ...newer }
}

function partsOf(content: unknown): readonly JsonObject[] {
  return objectsOf(objectOf(content)['parts'])
}

/** The last text before and the first after it become one, unless they have other members. */
function joinedParts(before: readonly JsonObject[], after: readonly JsonObject[]): readonly JsonObject[] {
  const last = before.at(-1)
  const [first, ...others] = after
  if (first === undefined) return before
  if (last === undefined) return after
  if (isText(first, '')) return [...before, ...others]
  const isThought = last['thought'] === true
  if (!isText(last) || !isText(first) || isThought !== (first['thought'] === true)) return [...before, ...after]
  return [...before.slice(0, -1), { ...last, text: `${textOf(last['text'])}${textOf(first['text'])}` }, ...others]
}

/** A part with nothing but text. */
function isText(part: JsonObject, text?: string): boolean {
  const said = textOf(part['text'])
  const isPlain = Object.keys(part).every((name) => name === 'text' || name === 'thought')
  return isPlain && said !== undefined && (text === undefined || said === text)
}
