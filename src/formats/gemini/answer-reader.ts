import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent, UsageEvent } from '../answer.ts'
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { JsonAnswerReader } from '../json-answers.ts'
import { withFacts } from '../token-counts.ts'
import { isDiscarded, readFinishReason } from './finish-reason.ts'
import { grounding, type Grounding } from './grounding.ts'
import { addUsageMetadata, readUsageMetadata } from './usage-metadata.ts'

/**
 * Reads a whole GenerateContentResponse (https://ai.google.dev/api/generate-content). A blocked prompt is an empty
 * answer that finished with `content_filter`.
 *
 * @throws {UpstreamFailure} `malformed` without candidates, and for a function call that Gemini discarded
 */
export function readGeminiAnswer(response: JsonObject): readonly AnswerEvent[] {
  const grounded = grounding()
  for (const { groundingMetadata } of objectsOf(response['candidates'])) grounded.add(groundingMetadata)
  const usage = readUsage(addUsageMetadata(undefined, response['usageMetadata']), grounded)
  const candidates = objectsOf(response['candidates']).flatMap((candidate, position) => {
    const reader = candidateReader(indexOf(candidate) ?? position)
    return [...reader.read(candidate), ...readLogprobs(reader.choice, candidate), reader.finish(finishOf(candidate))]
  })
  if (candidates.length > 0) return [readStart(response), ...candidates, ...usage]
  if (!isBlocked(response)) throw new UpstreamFailure('malformed', 'the answer has no candidates', { status: 200 })
  return [readStart(response), candidateReader(0).finish('SAFETY'), ...usage]
}

/**
 * Starts reading a stream of GenerateContentResponses. It has no end marker: the body ends after the response that has
 * a `finishReason`, and usage comes with the finish. Of several candidates the first is read.
 */
export function geminiAnswerReader(): JsonAnswerReader {
  const reader = candidateReader(0)
  let hasStarted = false
  let isFinished = false
  let usage: JsonObject | undefined
  const grounded = grounding()

  function finish(reason: string | undefined): readonly AnswerEvent[] {
    if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return []
    const end = reader.finish(reason)
    isFinished = true
    return [end, ...readUsage(usage, grounded)]
  }

  return {
    end: () => (isFinished ? [] : finish('STOP')),
    read(response) {
      usage = addUsageMetadata(usage, response['usageMetadata'])
      const [candidate] = objectsOf(response['candidates'])
      if (candidate === undefined && !isBlocked(response)) return []
      grounded.add(candidate?.['groundingMetadata'])
      const opening = hasStarted ? [] : [readStart(response)]
      hasStarted = true
      return candidate === undefined
        ? [...opening, ...finish('SAFETY')]
        : [...opening, ...reader.read(candidate), ...finish(finishOf(candidate))]
    },
  }
}

function indexOf({ index }: JsonObject): number | undefined {
  const number = numberOf(index)
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** Reads one candidate, whole or piece by piece. */
interface CandidateReader {
  readonly choice: number
  /** @throws {UpstreamFailure} for a function call in pieces, which Gemini sends only on request */
  read(candidate: JsonObject): readonly AnswerEvent[]
  /**
   * Returns the finish. A `STOP` after function calls is `tool_calls`; an unknown reason is `stop`.
   *
   * @throws {UpstreamFailure} `malformed` when Gemini discarded a call: its text alone is no answer
   */
  finish(reason: string | undefined): AnswerEvent
}

function candidateReader(choice: number): CandidateReader {
  let callCount = 0

  /** Reads a part. Code that ran at Google is left out. */
  function readPart(part: JsonObject): readonly AnswerEvent[] {
    const { text, thought, functionCall, inlineData } = part
    const events: AnswerEvent[] = []
    if (typeof text === 'string' && text !== '') {
      events.push({ kind: thought === true ? 'reasoning' : 'text', choice, text })
    }
    if (isObject(functionCall)) events.push(...readCall(choice, callCount++, functionCall, part['thoughtSignature']))
    if (isObject(inlineData) && thought !== true) {
      const mediaType = textOf(inlineData['mimeType']) ?? 'image/png'
      events.push({ kind: 'image', choice, mediaType, base64: textOf(inlineData['data']) ?? '' })
    }
    return events
  }

  return {
    choice,
    read(candidate) {
      return objectsOf(objectOf(candidate['content'])['parts']).flatMap(readPart)
    },
    finish(reason) {
      if (isDiscarded(reason))
        throw new UpstreamFailure('malformed', `the answer ended with ${reason}`, { status: 200 })
      return { kind: 'finish', choice, reason: readFinishReason(reason, callCount > 0), raw: reason }
    },
  }
}

function readStart(response: JsonObject): AnswerEvent {
  return {
    kind: 'start',
    id: textOf(response['responseId']),
    model: textOf(response['modelVersion']),
    created: undefined,
  }
}

function readCall(choice: number, call: number, called: JsonObject, signature: unknown): readonly AnswerEvent[] {
  if (called['willContinue'] === true || called['partialArgs'] !== undefined) {
    throw new UpstreamFailure('malformed', 'the answer has an incomplete function call', { status: 200 })
  }
  const data = textOf(signature)
  return [
    {
      kind: 'call',
      choice,
      call,
      id: textOf(called['id']) || undefined,
      name: textOf(called['name']) ?? '',
      opaque: data === undefined ? undefined : { maker: 'google', data },
    },
    { kind: 'arguments', choice, call, text: JSON.stringify(objectOf(called['args'])) },
    { kind: 'callEnd', choice, call },
  ]
}

/** Whether the prompt was refused, so that there are no candidates. */
function isBlocked(response: JsonObject): boolean {
  const reason = textOf(objectOf(response['promptFeedback'])['blockReason'])
  return reason !== undefined && reason !== 'BLOCK_REASON_UNSPECIFIED'
}

function finishOf(candidate: JsonObject): string | undefined {
  return textOf(candidate['finishReason'])
}

function readUsage(usage: JsonObject | undefined, grounded: Grounding): readonly UsageEvent[] {
  if (usage === undefined) return []
  return [{ kind: 'usage', counts: withFacts(readUsageMetadata(usage), grounded.facts()), own: undefined }]
}

function readLogprobs(choice: number, candidate: JsonObject): readonly AnswerEvent[] {
  const { chosenCandidates, topCandidates } = objectOf(candidate['logprobsResult'])
  if (!Array.isArray(chosenCandidates)) return []
  const tops = objectsOf(topCandidates)
  const tokens = objectsOf(chosenCandidates).map((chosen, position) => ({
    ...readToken(chosen),
    top_logprobs: objectsOf(tops[position]?.['candidates']).map(readToken),
  }))
  return [{ kind: 'logprobs', choice, tokens, refusalTokens: undefined }]
}

function readToken({ token, logProbability }: JsonObject): JsonObject {
  return { token: textOf(token) ?? '', logprob: numberOf(logProbability) ?? 0, bytes: null }
}
