import { insertMembers, readInteger, removeMember } from '../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../bytes/json-cursor.ts'
import type { Edit } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { BilledFacts, TokenCounts } from './answer.ts'

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
  /** Answer tokens spent on reasoning. */
  readonly reasoningTokens?: number | undefined
  readonly billed?: BilledFacts | undefined
  /** Estimated by svc: the answer ended before its provider counted it. */
  readonly isEstimated?: true
}

/** Converts token counts to the gateway's usage. */
export function countedUsage(counts: TokenCounts): Usage {
  const { prompt, completion, total, cached, cacheWrite, cacheWriteHour, reasoning, billed, lacks } = counts
  return {
    promptTokens: lacks === 'prompt' ? undefined : prompt,
    completionTokens: lacks === 'completion' ? undefined : completion,
    totalTokens: total ?? prompt + completion,
    cachedTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWriteHourTokens: cacheWriteHour,
    reasoningTokens: reasoning || undefined,
    billed,
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

/** Counts by their place in {@link countNames}. */
type Counts = (number | undefined)[]

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
  const counts: Counts = [undefined, undefined, undefined]
  const wrong: WrongCount[] = []
  let cachedTokens: number | undefined
  let cacheHits: number | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    switch (code) {
      case 3:
        cachedTokens = readDetails(cursor, edits) ?? cachedTokens
        break
      case 4:
        readDetails(cursor, edits)
        break
      case 5:
        cacheHits = readOtherCount(cursor) ?? cacheHits
        break
      case -1:
        cursor.skip()
        break
      default:
        readCount(cursor, edits, code, counts, wrong)
    }
  }
  const [promptTokens, completionTokens, totalTokens] = counts
  if (promptTokens === undefined && completionTokens === undefined && totalTokens === undefined) {
    edits.length = editsBefore
    return undefined
  }
  if (wrong.length > 0 || counts.includes(undefined)) completeCounts(edits, cursor.position - 1, counts, wrong)
  return { promptTokens, completionTokens, totalTokens, cachedTokens: cachedTokens ?? cacheHits }
}

function readCount(cursor: JsonCursor, edits: Edit[], code: number, counts: Counts, wrong: WrongCount[]): void {
  cursor.peek()
  const start = cursor.position
  const count = readInteger(cursor, edits)
  if (count === undefined) wrong.push({ code, start, end: cursor.position })
  else counts[code] = count
}

/** Replaces wrong counts, and inserts missing ones before the closing brace at `end`. */
function completeCounts(edits: Edit[], end: number, counts: Counts, wrong: readonly WrongCount[]): void {
  const filled = derivedCounts(counts)
  for (const { code, ...place } of wrong) edits.push({ ...place, replacement: encode(String(filled[code])) })
  const written = new Set(wrong.map(({ code }) => code))
  const missing = countNames.flatMap((name, code) =>
    counts[code] !== undefined || written.has(code) ? [] : [`"${name}":${filled[code]}`],
  )
  insertMembers(edits, end, missing, true)
}

function derivedCounts([promptTokens, completionTokens, totalTokens]: Counts): readonly number[] {
  const prompt = promptTokens ?? Math.max(0, (totalTokens ?? 0) - (completionTokens ?? 0))
  const completion = completionTokens ?? Math.max(0, (totalTokens ?? 0) - prompt)
  return [prompt, completion, totalTokens ?? prompt + completion]
}

/**
 * Passes `prompt_tokens_details` or `completion_tokens_details`, repairs its counts, and returns `cached_tokens`.
 * Removes a value that is not an object.
 */
function readDetails(cursor: JsonCursor, edits: Edit[]): number | undefined {
  if (cursor.peek() !== 'object') {
    const { nameStart } = cursor
    cursor.skip()
    removeMember(cursor, edits, nameStart)
    return undefined
  }
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
