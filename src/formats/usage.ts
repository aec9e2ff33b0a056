import { insertMembers, readInteger, removeMember } from '../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../bytes/json-cursor.ts'
import type { Edit } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { TokenCounts } from './answer.ts'

/** Token counts of docs/api.md. Counts that a provider left out are absent. */
export interface Usage {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly totalTokens: number | undefined
  /** Prompt tokens that the provider had in its cache. */
  readonly cachedTokens?: number | undefined
  /** Prompt tokens that the provider wrote to its cache, at Anthropic's surcharges. */
  readonly cacheWriteTokens?: number | undefined
  /** Cache writes that are kept for an hour. */
  readonly cacheWriteHourTokens?: number | undefined
  /** Estimated by svc: the answer ended before its provider counted it. */
  readonly isEstimated?: true
}

/** Converts token counts to the gateway's usage. */
export function countedUsage({ prompt, completion, total, cached, cacheWrite, cacheWriteHour }: TokenCounts): Usage {
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: total ?? prompt + completion,
    cachedTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWriteHourTokens: cacheWriteHour,
  }
}

const countNames = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const
/** The last is DeepSeek's name for `prompt_tokens_details.cached_tokens`. */
const usageNames = nameTable([
  ...countNames,
  'prompt_tokens_details',
  'completion_tokens_details',
  'prompt_cache_hit_tokens',
])
const detailNames = nameTable([
  'cached_tokens',
  'audio_tokens',
  'text_tokens',
  'image_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
])

/** A count that is not a number, by its offsets. */
interface WrongCount {
  readonly code: number
  readonly start: number
  readonly end: number
}

/**
 * Passes and repairs the value of a `usage` member. A number in a string, a negative number and a fraction become
 * integers of 0 or more; a missing count is derived from the others; details that are not numbers are removed.
 * Undefined, without edits, when it is not an object or has no counts.
 */
export function readUsage(cursor: JsonCursor, edits: Edit[]): Usage | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const editsBefore = edits.length
  const counts: (number | undefined)[] = [undefined, undefined, undefined]
  let cachedTokens: number | undefined
  let cacheHits: number | undefined
  let wrong: WrongCount[] | undefined
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    const { nameStart } = cursor
    const kind = cursor.peek()
    const start = cursor.position
    if ((code === 3 || code === 4) && kind !== 'object') {
      cursor.skip()
      removeMember(cursor, edits, nameStart)
      continue
    }
    hasMembers = true
    if (code === -1) cursor.skip()
    else if (code === 3) cachedTokens = readDetails(cursor, edits) ?? cachedTokens
    else if (code === 4) readDetails(cursor, edits)
    else if (code === 5) cacheHits = readOtherCount(cursor) ?? cacheHits
    else {
      const count = readInteger(cursor, edits)
      if (count === undefined) (wrong ??= []).push({ code, start, end: cursor.position })
      else counts[code] = count
    }
  }
  const [promptTokens, completionTokens, totalTokens] = counts
  if (promptTokens === undefined && completionTokens === undefined && totalTokens === undefined) {
    edits.length = editsBefore
    return undefined
  }
  if (wrong !== undefined || counts.includes(undefined)) {
    const prompt = promptTokens ?? Math.max(0, (totalTokens ?? 0) - (completionTokens ?? 0))
    const completion = completionTokens ?? Math.max(0, (totalTokens ?? 0) - prompt)
    const filled = [prompt, completion, totalTokens ?? prompt + completion]
    const written = new Set(wrong?.map(({ code }) => code))
    for (const { code, start, end } of wrong ?? []) {
      edits.push({ start, end, replacement: encode(String(filled[code])) })
    }
    const missing = countNames.flatMap((name, code) =>
      counts[code] !== undefined || written.has(code) ? [] : [`"${name}":${filled[code]}`],
    )
    insertMembers(edits, cursor.position - 1, missing, hasMembers)
  }
  return { promptTokens, completionTokens, totalTokens, cachedTokens: cachedTokens ?? cacheHits }
}

/** Passes `prompt_tokens_details` or `completion_tokens_details`, repairs its counts, and returns `cached_tokens`. */
function readDetails(cursor: JsonCursor, edits: Edit[]): number | undefined {
  let cached: number | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const { nameStart } = cursor
    const code = cursor.nameCode(detailNames)
    if (code === -1) {
      cursor.skip()
      continue
    }
    const count = readInteger(cursor, edits)
    if (count === undefined) removeMember(cursor, edits, nameStart)
    else if (code === 0) cached = count
  }
  return cached
}

/** Passes any value; `undefined` unless it is a finite number of 0 or more. */
function readOtherCount(cursor: JsonCursor): number | undefined {
  if (cursor.peek() !== 'number') {
    cursor.skip()
    return undefined
  }
  const count = cursor.number()
  return Number.isFinite(count) && count >= 0 ? count : undefined
}
