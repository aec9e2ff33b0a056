import { countMax, type Usage } from '../formats/usage.ts'

/** The billed units of one answer. They are disjoint, so that a cost is a plain sum. */
export interface Units {
  /** All other prompt tokens. */
  readonly input: number
  /** Prompt tokens read from a cache. */
  readonly cached: number
  /** Prompt tokens written to a cache, kept for 5 minutes, or for a time that the provider chooses. */
  readonly write5: number
  /** Prompt tokens written to a cache for an hour. */
  readonly write60: number
  /** All other answer tokens. */
  readonly output: number
  readonly reasoning: number
  readonly audioIn: number
  readonly audioOut: number
  readonly imageIn: number
  readonly imageOut: number
  readonly request: number
  readonly search: number
  /** 1 for an answer with searches, else 0. */
  readonly searchRequest: number
}

/** The units of one answer, and the reliability of its provider's counts. */
export interface MeasuredUnits {
  readonly units: Units
  /** False: the units of the prompt are a lower bound. */
  readonly isPromptKnown: boolean
  /** False: the units of the answer are a lower bound. */
  readonly isAnswerKnown: boolean
  /** The counts contradict each other. The larger ones were taken. */
  readonly hasConflict: boolean
}

/** A count reported by a provider; `undefined` when missing, negative, a fraction, or above 1,000,000,000. */
export function countOf(count: number | undefined): number | undefined {
  return count !== undefined && count >= 0 && count <= countMax && Number.isInteger(count) ? count : undefined
}

/**
 * Divides the counts of an answer into disjoint units. Cached and written tokens are parts of the prompt; audio and
 * images are parts of the rest. Reasoning, audio and images are parts of the answer.
 */
export function measureUnits(usage: Usage = noUsage): MeasuredUnits {
  // One function: results of parts would be more objects, for each of several costs of a request.
  const { billed } = usage
  const prompt = countOf(usage.promptTokens)
  const cached = partOf(usage.cachedTokens)
  const write60 = partOf(usage.cacheWriteHourTokens)
  const written = Math.max(partOf(usage.cacheWriteTokens), write60)
  const audio = partOf(billed?.audioIn)
  const image = partOf(billed?.imageIn)
  // Audio and images may be cached, too: only their own sum can exceed the prompt.
  const parts = Math.max(cached + written, audio + image)
  const fresh = Math.max(prompt ?? 0, parts) - cached - written
  const audioIn = Math.min(audio, fresh)
  const imageIn = Math.min(image, fresh - audioIn)

  const count = countOf(usage.completionTokens)
  const answer = count ?? 0
  const reasoning = partOf(usage.reasoningTokens)
  const spoken = reasoning > answer ? answer : answer - reasoning
  const audioOut = Math.min(partOf(billed?.audioOut), spoken)
  const imageOut = Math.min(partOf(billed?.imageOut), spoken - audioOut)
  const search = partOf(billed?.searches)
  return {
    units: {
      input: fresh - audioIn - imageIn,
      cached,
      write5: written - write60,
      write60,
      output: spoken - audioOut - imageOut,
      reasoning,
      audioIn,
      audioOut,
      imageIn,
      imageOut,
      request: 1,
      search,
      searchRequest: search > 0 ? 1 : 0,
    },
    isPromptKnown: prompt !== undefined,
    isAnswerKnown: count !== undefined,
    hasConflict: (prompt !== undefined && parts > prompt) || (count !== undefined && reasoning > count),
  }
}

/** Whether a bill has nothing but tokens of text. */
export function isPlain(usage: Usage | undefined): boolean {
  const { cost: _cost, model: _model, ...facts } = usage?.billed ?? {}
  return !Object.values(facts).some(Boolean)
}

const noUsage: Usage = { promptTokens: undefined, completionTokens: undefined, totalTokens: undefined }

function partOf(count: number | undefined): number {
  return countOf(count) ?? 0
}
