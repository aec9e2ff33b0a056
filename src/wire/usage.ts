import type { JsonCursor } from './json-cursor.ts'
import { nameTable } from './json-cursor.ts'

/** Token counts of docs/api.md. What a provider left out is absent. */
export interface Usage {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly totalTokens: number | undefined
  /** Of the prompt tokens, those that the provider had in its cache; absent where it does not tell. */
  readonly cachedTokens?: number | undefined
}

/** The last is DeepSeek's name for what others tell in `prompt_tokens_details`. */
const usageNames = nameTable([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'prompt_cache_hit_tokens',
])
const detailNames = nameTable(['cached_tokens'])

/** Passes the value of a `usage` member. Undefined when it is not an object, or has none of the counts. */
export function readUsage(cursor: JsonCursor): Usage | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const counts: (number | undefined)[] = [undefined, undefined, undefined, undefined, undefined]
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    if (code === -1) cursor.skip()
    else counts[code] = (code === 3 ? readCachedTokens(cursor) : readCount(cursor)) ?? counts[code]
  }
  const [promptTokens, completionTokens, totalTokens, cachedTokens, cacheHits] = counts
  if (promptTokens === undefined && completionTokens === undefined && totalTokens === undefined) return undefined
  return { promptTokens, completionTokens, totalTokens, cachedTokens: cachedTokens ?? cacheHits }
}

/** Passes the value of `prompt_tokens_details`. */
function readCachedTokens(cursor: JsonCursor): number | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  let cached: number | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(detailNames) === -1) cursor.skip()
    else cached = readCount(cursor) ?? cached
  }
  return cached
}

/** Passes any value; `undefined` when it is not a finite number. */
function readCount(cursor: JsonCursor): number | undefined {
  if (cursor.peek() !== 'number') {
    cursor.skip()
    return undefined
  }
  const count = cursor.number()
  return Number.isFinite(count) ? count : undefined
}
