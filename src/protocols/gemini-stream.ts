import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { chunkWriter, newId } from './chat-reply.ts'
import type { ChunkWriter, MessageFields } from './chat-reply.ts'
import { addUsage, finishReasonOf, isBlocked, messageFields, producedBy, tokenCounts } from './gemini-reply.ts'
import { objectsOf, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** Turns the responses of one generateContent stream, already parsed and no errors, into chunks. */
export interface GeminiStream {
  read(response: JsonObject): readonly ChatChunk[]
}

/**
 * Begins the reading of a stream of GenerateContentResponses. It has no end marker: the body ends after the one that
 * has a `finishReason`, and usage follows the finish at once. Of several candidates the first is read.
 */
export function geminiStream({
  model: asked,
  includeUsage,
}: Pick<ChatRequest, 'model' | 'includeUsage'>): GeminiStream {
  let writer: ChunkWriter | undefined
  let usage: JsonObject | undefined
  let callCount = 0
  let hasOutput = false
  let isFinished = false

  /** The role chunk, once, before anything else. */
  function begin(response: JsonObject): { readonly writer: ChunkWriter; readonly opening: readonly ChatChunk[] } {
    if (writer !== undefined) return { writer, opening: [] }
    writer = chunkWriter(
      { id: textOf(response['responseId']) ?? newId('chatcmpl'), model: textOf(response['modelVersion']) ?? asked },
      includeUsage,
    )
    return { writer, opening: [writer.delta({ role: 'assistant', content: '' })] }
  }

  function numbered(fields: MessageFields): MessageFields {
    const { tool_calls } = fields
    return tool_calls === undefined
      ? fields
      : { ...fields, tool_calls: tool_calls.map((call) => ({ index: callCount++, ...call })) }
  }

  function finish(chunks: ChunkWriter, reason: string | undefined): readonly ChatChunk[] {
    if (isFinished || reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return []
    const finishReason = finishReasonOf(reason, { hasCalls: callCount > 0, hasOutput })
    isFinished = true
    return chunks.finish(finishReason, usage && tokenCounts(usage))
  }

  return {
    read(response) {
      usage = addUsage(usage, response['usageMetadata'])
      const [candidate] = objectsOf(response['candidates'])
      if (candidate === undefined) {
        if (!isBlocked(response)) return []
        const { writer: chunks, opening } = begin(response)
        return [...opening, ...finish(chunks, 'SAFETY')]
      }
      const { writer: chunks, opening } = begin(response)
      const fields = numbered(messageFields(candidate))
      hasOutput ||= producedBy(fields).hasOutput
      const deltas = Object.keys(fields).length === 0 ? [] : [chunks.delta(fields)]
      return [...opening, ...deltas, ...finish(chunks, textOf(candidate['finishReason']))]
    },
  }
}
