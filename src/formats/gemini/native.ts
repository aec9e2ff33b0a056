import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { isAt } from '../../bytes/json-cursor.ts'
import { applyEdits, type Edit } from '../../bytes/splice.ts'
import { withoutLineBreaks } from '../../bytes/text.ts'
import type { TokenCounts } from '../answer.ts'
import { encodeJson } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { isDone } from '../reply.ts'
import { withFacts } from '../token-counts.ts'
import { errorWithin, readUpstreamError } from '../upstream-error.ts'
import { countedUsage, type Usage } from '../usage.ts'
import { modelIn, responseFacts, type CandidateFacts, type HeadPlace, type ResponseFacts } from './event-facts.ts'
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
  return new ResponseParts(choices)
}

class ResponseParts implements PartReader {
  readonly #choices: number
  /** Candidates that have begun; whether they have calls. */
  readonly #open = new Map<number, boolean>()
  #isFinished = false
  #hasContent = false
  readonly #grounded = grounding()
  #counts: TokenCounts | undefined
  readonly #head = new Map<HeadPlace['member'], Uint8Array>()
  #held: Part[] = []
  #heldBytes = 0
  readonly eventBytesMax: number
  readonly hasOneChoice: boolean
  model: string | undefined

  constructor(choices: number) {
    this.#choices = choices
    this.eventBytesMax = geminiEventBytesMax
    this.hasOneChoice = choices === 1
  }

  read({ event, data: given }: ServerSentEvent): readonly Part[] | 'done' | AnsweredError {
    if (isDone(given)) return 'done'
    if (event === 'error') return { kind: 'error', error: readUpstreamError(given) }
    const facts = responseFacts(given)
    if (facts.hasError) return { kind: 'error', error: readUpstreamError(given) }
    const error = facts.candidates.length === 0 ? errorWithin(given) : undefined
    if (error !== undefined) return { kind: 'error', error }
    this.model ??= modelIn(given, facts)
    const kept = this.#withHead(given, facts.head)
    const part = this.#partOf(facts.hasLineBreaks ? withoutLineBreaks(kept) : kept, facts)
    return this.#afterHeld(part, facts.candidates.some(isCalling))
  }

  finish(): Part[] {
    if (this.#isFinished && this.#open.size === 0) return []
    const indexes = this.#open.size === 0 ? [0] : [...this.#open.keys()]
    const response = {
      candidates: indexes.map((index) => ({
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason: 'STOP',
        index,
      })),
    }
    const data = encodeJson(response)
    return [...this.#release(), this.#partOf(data, responseFacts(data))]
  }

  #add({ index, hasCalls, finishReason, text, isBeyondText }: CandidateFacts): string | undefined {
    const before = this.#open.get(index)
    const called = hasCalls || before === true
    this.#hasContent ||= text !== '' || isBeyondText
    if (finishReason === undefined) {
      if (before !== called) this.#open.set(index, called)
      return undefined
    }
    if (isDiscarded(finishReason) && (this.#choices === 1 || !this.#hasContent))
      throw new MalformedAnswer('malformed', `the answer ended with ${finishReason.slice(0, 64)}`)
    this.#open.delete(index)
    return readFinishReason(finishReason, called)
  }

  #partOf(data: Uint8Array, { candidates, isBlocked, usage }: ResponseFacts): Part {
    let reason = isBlocked && candidates.length === 0 ? 'content_filter' : undefined
    let isBeyondText = false
    for (const each of candidates) {
      this.#grounded.add(each.grounding)
      reason = this.#add(each) ?? reason
      isBeyondText ||= each.isBeyondText || (each.index > 0 && each.text !== '')
    }
    if (reason !== undefined) this.#isFinished = true
    const [first] = candidates
    const text = first?.index === 0 ? first.text : ''
    return {
      kind: 'part',
      data,
      isMeaningful: text !== '' || isBeyondText || reason !== undefined,
      text,
      isBeyondText,
      finishReason: reason,
      hasOpenChoice: this.#open.size > 0,
      usage: this.#usageSoFar(usage, candidates),
    }
  }

  /** The last counts, with the searches, if this response has any of them. */
  #usageSoFar(given: TokenCounts | undefined, candidates: readonly CandidateFacts[]): Usage | undefined {
    this.#counts = given ?? this.#counts
    const isNews = given !== undefined || candidates.some((each) => each.grounding !== undefined)
    return isNews && this.#counts !== undefined
      ? countedUsage(withFacts(this.#counts, this.#grounded.facts()))
      : undefined
  }

  /** The response with the id and the model of the first one (failover.md row 39). */
  #withHead(data: Uint8Array, places: readonly HeadPlace[]): Uint8Array {
    const edits: Edit[] = []
    for (const { member, start, end } of places) {
      const first = this.#head.get(member)
      if (first === undefined) this.#head.set(member, data.slice(start, end))
      else if (end - start !== first.length || !isAt(data, start, first)) edits.push({ start, end, replacement: first })
    }
    return applyEdits(data, edits)
  }

  /** The parts to pass on now. */
  #afterHeld(part: Part, hasCalls: boolean): readonly Part[] {
    if (this.#held.length === 0 && !hasCalls) return [part]
    this.#held.push(part)
    this.#heldBytes += part.data.length
    return this.#isFinished || this.#heldBytes > heldBytesMax ? this.#release() : []
  }

  #release(): readonly Part[] {
    const all = this.#held
    this.#held = []
    this.#heldBytes = 0
    return all
  }
}
