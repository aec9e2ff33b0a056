import { isAt } from '../../bytes/json-cursor.ts'
import { applyEdits, type Edit } from '../../bytes/splice.ts'
import { withoutLineBreaks } from '../../bytes/text.ts'
import type { TokenCounts } from '../answer.ts'
import { isDone } from '../done.ts'
import { encodeJson } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { withFacts } from '../token-counts.ts'
import { errorWithin, readUpstreamError } from '../upstream-error.ts'
import { countedUsage, type Usage } from '../usage.ts'
import { responseFacts, type CandidateFacts, type HeadPlace, type ResponseFacts } from './event-facts.ts'
import { isDiscarded, readFinishReason } from './finish-reason.ts'
import { grounding } from './grounding.ts'
import { geminiEventBytesMax } from './upstream.ts'

const isCalling = ({ hasCalls }: CandidateFacts) => hasCalls

/** Calls are passed on at once if more than this waits for the end. */
const heldBytesMax = 1024 * 1024

/**
 * Starts reading a stream of GenerateContentResponses. Events pass in the upstream's bytes. A prompt that was refused
 * is an answer that finished with `content_filter`.
 *
 * Calls wait for the finish: Gemini CLI runs those of an answer that was cut, repeats the request, and runs them again.
 *
 * @param choices number of candidates that were asked for
 */
export function responseReader(choices: number): PartReader {
  /** Candidates that have begun; whether they have calls. */
  const open = new Map<number, boolean>()
  let isFinished = false
  let hasContent = false
  const grounded = grounding()
  let counts: TokenCounts | undefined

  function add({ index, hasCalls, finishReason, text, isBeyondText }: CandidateFacts): string | undefined {
    const before = open.get(index)
    const called = hasCalls || before === true
    hasContent ||= text !== '' || isBeyondText
    if (finishReason === undefined) {
      if (before !== called) open.set(index, called)
      return undefined
    }
    if (isDiscarded(finishReason) && (choices === 1 || !hasContent))
      throw new MalformedAnswer('malformed', `the answer ended with ${finishReason.slice(0, 64)}`)
    open.delete(index)
    return readFinishReason(finishReason, called)
  }

  function partOf(data: Uint8Array, { candidates, isBlocked, usage }: ResponseFacts): Part {
    let reason = isBlocked && candidates.length === 0 ? 'content_filter' : undefined
    let isBeyondText = false
    for (const each of candidates) {
      grounded.add(each.grounding)
      reason = add(each) ?? reason
      isBeyondText ||= each.isBeyondText || (each.index > 0 && each.text !== '')
    }
    if (reason !== undefined) isFinished = true
    const [first] = candidates
    const text = first?.index === 0 ? first.text : ''
    return {
      kind: 'part',
      data,
      isMeaningful: text !== '' || isBeyondText || reason !== undefined,
      text,
      isBeyondText,
      finishReason: reason,
      hasOpenChoice: open.size > 0,
      usage: usageSoFar(usage, candidates),
    }
  }

  /** The last counts, with the searches, if this response has any of them. */
  function usageSoFar(given: TokenCounts | undefined, candidates: readonly CandidateFacts[]): Usage | undefined {
    counts = given ?? counts
    const isNews = given !== undefined || candidates.some((each) => each.grounding !== undefined)
    return isNews && counts !== undefined ? countedUsage(withFacts(counts, grounded.facts())) : undefined
  }

  const head = new Map<HeadPlace['member'], Uint8Array>()

  /** The response with the id and the model of the first one (failover.md row 39). */
  function withHead(data: Uint8Array, places: readonly HeadPlace[]): Uint8Array {
    const edits: Edit[] = []
    for (const { member, start, end } of places) {
      const first = head.get(member)
      if (first === undefined) head.set(member, data.slice(start, end))
      else if (end - start !== first.length || !isAt(data, start, first)) edits.push({ start, end, replacement: first })
    }
    return applyEdits(data, edits)
  }

  let held: Part[] = []
  let heldBytes = 0

  /** The parts to pass on now. */
  function afterHeld(part: Part, hasCalls: boolean): readonly Part[] {
    if (held.length === 0 && !hasCalls) return [part]
    held.push(part)
    heldBytes += part.data.length
    return isFinished || heldBytes > heldBytesMax ? release() : []
  }

  function release(): readonly Part[] {
    const all = held
    held = []
    heldBytes = 0
    return all
  }

  return {
    eventBytesMax: geminiEventBytesMax,
    hasOneChoice: choices === 1,
    read({ event, data: given }): readonly Part[] | 'done' | AnsweredError {
      if (isDone(given)) return 'done'
      if (event === 'error') return { kind: 'error', error: readUpstreamError(given) }
      const facts = responseFacts(given)
      if (facts.hasError) return { kind: 'error', error: readUpstreamError(given) }
      const error = facts.candidates.length === 0 ? errorWithin(given) : undefined
      if (error !== undefined) return { kind: 'error', error }
      const kept = withHead(given, facts.head)
      const part = partOf(facts.hasLineBreaks ? withoutLineBreaks(kept) : kept, facts)
      return afterHeld(part, facts.candidates.some(isCalling))
    },
    finish() {
      if (isFinished && open.size === 0) return []
      const indexes = open.size === 0 ? [0] : [...open.keys()]
      const response = {
        candidates: indexes.map((index) => ({
          content: { role: 'model', parts: [{ text: '' }] },
          finishReason: 'STOP',
          index,
        })),
      }
      const data = encodeJson(response)
      return [...release(), partOf(data, responseFacts(data))]
    },
  }
}
