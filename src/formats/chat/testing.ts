import type { JsonObject } from '../../base/json-value.ts'
import type { Part } from '../part.ts'
import type { ChunkHead } from './chunk.ts'
import { chunkPart, headMembers } from './whole-and-parts.ts'

/** A part with one choice that has this delta. For tests. */
export function deltaPart(head: ChunkHead, delta: JsonObject, index = 0): Part {
  return choicePart(head, { index, delta, logprobs: null, finish_reason: null })
}

/** The first part of an answer, with the role. For tests. */
export function rolePart(head: ChunkHead): Part {
  return deltaPart(head, { role: 'assistant', content: '', refusal: null })
}

/** A part with text. For tests. */
export function textPart(head: ChunkHead, text: string): Part {
  return deltaPart(head, { content: text })
}

/** The last part of a choice. For tests. */
export function finishPart(head: ChunkHead, finishReason: string): Part {
  return choicePart(head, { index: 0, delta: {}, logprobs: null, finish_reason: finishReason })
}

/** The part with usage, without choices. For tests. */
export function usagePart(head: ChunkHead, promptTokens: number, completionTokens: number): Part {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  return chunkPart({ ...headMembers(head), choices: [], usage })
}

/** A part with this choice. For tests. */
export function choicePart(head: ChunkHead, choice: JsonObject): Part {
  return chunkPart({ ...headMembers(head), choices: [choice] })
}
