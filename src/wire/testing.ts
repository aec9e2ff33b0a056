import type { ChatChunk, ChunkHead } from './chat-chunk.ts'
import type { JsonObject } from './json-value.ts'
import { chunkOf, headMembers } from './make-chunk.ts'

/** A chunk with one choice that has this delta. For tests. */
export function deltaChunk(head: ChunkHead, delta: JsonObject, index = 0): ChatChunk {
  return choiceChunk(head, { index, delta, logprobs: null, finish_reason: null })
}

/** The first chunk of an answer: who speaks. For tests. */
export function roleChunk(head: ChunkHead): ChatChunk {
  return deltaChunk(head, { role: 'assistant', content: '', refusal: null })
}

/** A piece of text. For tests. */
export function textChunk(head: ChunkHead, text: string): ChatChunk {
  return deltaChunk(head, { content: text })
}

/** The last chunk with a choice. For tests. */
export function finishChunk(head: ChunkHead, finishReason: string): ChatChunk {
  return choiceChunk(head, { index: 0, delta: {}, logprobs: null, finish_reason: finishReason })
}

/** The chunk after the last, without choices. For tests. */
export function usageChunk(head: ChunkHead, promptTokens: number, completionTokens: number): ChatChunk {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  return chunkOf({ ...headMembers(head), choices: [], usage })
}

function choiceChunk(head: ChunkHead, choice: JsonObject): ChatChunk {
  return chunkOf({ ...headMembers(head), choices: [choice] })
}
