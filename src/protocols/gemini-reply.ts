import { UpstreamFailure } from '../service/failure.ts'
import { newId, toolCall, wholeReply } from './chat-reply.ts'
import type { Choice, FinishReason, MessageFields, TokenCounts } from './chat-reply.ts'
import { isObject, numberOf, objectOf, objectsOf, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import type { WholeReply } from './protocol.ts'

const filtered: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
])
/** The model tried something that Gemini threw away. */
const broken: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
])

/**
 * Translates a complete GenerateContentResponse (https://ai.google.dev/api/generate-content). A blocked prompt is an
 * empty answer with `content_filter`.
 *
 * @param asked the model's name where the response has none
 * @throws {UpstreamFailure} `malformed` when it has no candidates, or only a function call that Gemini itself calls
 *   malformed
 */
export function geminiReply(response: JsonObject, asked: string): WholeReply {
  const head = {
    id: textOf(response['responseId']) ?? newId('chatcmpl'),
    model: textOf(response['modelVersion']) ?? asked,
  }
  const usage = addUsage(undefined, response['usageMetadata'])
  const choices = objectsOf(response['candidates']).map(readCandidate)
  if (choices.length > 0) return wholeReply(head, choices, usage && tokenCounts(usage))
  if (!isBlocked(response)) throw new UpstreamFailure('malformed', 'an answer without candidates', { status: 200 })
  return wholeReply(head, [{ index: 0, message: {}, finishReason: 'content_filter' }], usage && tokenCounts(usage))
}

/** Whether the prompt was refused, so that there are no candidates. */
export function isBlocked(response: JsonObject): boolean {
  const reason = textOf(objectOf(response['promptFeedback'])['blockReason'])
  return reason !== undefined && reason !== 'BLOCK_REASON_UNSPECIFIED'
}

/**
 * The message that the parts of a candidate make. Code that ran at Google is left out.
 *
 * @throws {UpstreamFailure} for a function call in pieces, which only comes when it was asked for
 */
export function messageFields(candidate: JsonObject): MessageFields {
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: JsonObject[] = []
  const images: JsonObject[] = []
  for (const part of objectsOf(objectOf(candidate['content'])['parts'])) {
    const { text, thought, functionCall, inlineData } = part
    if (typeof text === 'string') (thought === true ? thoughts : texts).push(text)
    if (isObject(functionCall)) calls.push(readCall(functionCall, textOf(part['thoughtSignature'])))
    if (isObject(inlineData) && thought !== true) images.push(readImage(inlineData))
  }
  const content = texts.join('')
  const reasoning = thoughts.join('')
  return {
    ...(content === '' ? {} : { content }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(images.length === 0 ? {} : { images }),
  }
}

/** What an answer had in it when it ended. */
export interface Produced {
  readonly hasCalls: boolean
  /** Text, calls or images: not thinking alone. */
  readonly hasOutput: boolean
}

/**
 * The `finish_reason` for Gemini's. A `STOP` after function calls is `tool_calls`; what is not known yet is `stop`.
 *
 * @throws {UpstreamFailure} `malformed` when nothing came but a call that Gemini threw away
 */
export function finishReasonOf(reason: string | undefined, { hasCalls, hasOutput }: Produced): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason !== undefined && (filtered.has(reason) || reason.startsWith('IMAGE_'))) return 'content_filter'
  if (reason !== undefined && broken.has(reason) && !hasOutput) {
    throw new UpstreamFailure('malformed', `an answer that ended with ${reason}`, { status: 200 })
  }
  return hasCalls ? 'tool_calls' : 'stop'
}

/** The newest usage fields over the older ones: those of a stream are cumulative, and the last wins. */
export function addUsage(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage) || numberOf(usage['promptTokenCount'] ?? usage['totalTokenCount']) === undefined) return known
  return { ...known, ...usage }
}

/** Gemini counts thoughts apart from the candidates; the chat-completions format counts them in. */
export function tokenCounts(usage: JsonObject): TokenCounts {
  const reasoning = numberOf(usage['thoughtsTokenCount'])
  return {
    prompt: numberOf(usage['promptTokenCount']) ?? 0,
    completion: (numberOf(usage['candidatesTokenCount']) ?? 0) + (reasoning ?? 0),
    total: numberOf(usage['totalTokenCount']),
    cached: numberOf(usage['cachedContentTokenCount']),
    reasoning,
  }
}

/** What a message has in it. */
export function producedBy({ content, tool_calls, images }: MessageFields): Produced {
  const hasCalls = tool_calls !== undefined
  return { hasCalls, hasOutput: hasCalls || images !== undefined || (content ?? '') !== '' }
}

/** `logprobs` of a candidate, in the format's own shape. */
export function logprobsOf(candidate: JsonObject): JsonObject | undefined {
  const { chosenCandidates, topCandidates } = objectOf(candidate['logprobsResult'])
  if (!Array.isArray(chosenCandidates)) return undefined
  const tops = objectsOf(topCandidates)
  const content = objectsOf(chosenCandidates).map((chosen, position) => ({
    ...tokenLogprob(chosen),
    top_logprobs: objectsOf(tops[position]?.['candidates']).map(tokenLogprob),
  }))
  return { content, refusal: null }
}

function readCandidate(candidate: JsonObject, position: number): Choice {
  const message = messageFields(candidate)
  return {
    index: numberOf(candidate['index']) ?? position,
    message,
    finishReason: finishReasonOf(textOf(candidate['finishReason']), producedBy(message)),
    logprobs: logprobsOf(candidate),
  }
}

function readCall(call: JsonObject, signature: string | undefined): JsonObject {
  if (call['willContinue'] === true || call['partialArgs'] !== undefined) {
    throw new UpstreamFailure('malformed', 'a function call in pieces', { status: 200 })
  }
  const extra = signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }
  return toolCall(
    textOf(call['id']) || newId('call'),
    textOf(call['name']) ?? '',
    JSON.stringify(objectOf(call['args'])),
    extra,
  )
}

function readImage({ mimeType, data }: JsonObject): JsonObject {
  return {
    type: 'image_url',
    image_url: { url: `data:${textOf(mimeType) ?? 'image/png'};base64,${textOf(data) ?? ''}` },
  }
}

function tokenLogprob({ token, logProbability }: JsonObject): JsonObject {
  return { token: textOf(token) ?? '', logprob: numberOf(logProbability) ?? 0, bytes: null }
}
