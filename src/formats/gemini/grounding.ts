import type { BilledFacts } from '../answer.ts'
import { listOf, objectOf, objectsOf } from '../exact-json.ts'

/** Lists of `groundingMetadata` with a search for each entry. */
const queryLists = ['webSearchQueries', 'imageSearchQueries'] as const

/** The searches of one answer, which Google bills beside its tokens. */
export interface Grounding {
  /** Adds the `groundingMetadata` of a candidate, or of a piece of it: pieces may repeat each other. */
  add(metadata: unknown): void
  /** Undefined: there were none. */
  facts(): Pick<BilledFacts, 'searches' | 'tools'> | undefined
}

/** Starts collecting (https://ai.google.dev/gemini-api/docs/google-search). */
export function grounding(): Grounding {
  const queries = new Set<unknown>()
  let hasMaps = false
  return {
    add(metadata) {
      if (metadata === undefined) return
      const found = objectOf(metadata)
      for (const list of queryLists) for (const query of listOf(found[list])) if (query !== '') queries.add(query)
      hasMaps ||= objectsOf(found['groundingChunks']).some(({ maps }) => maps !== undefined)
    },
    facts() {
      if (queries.size === 0 && !hasMaps) return undefined
      return { searches: queries.size || undefined, tools: hasMaps ? { maps: 1 } : undefined }
    },
  }
}
