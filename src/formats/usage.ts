import { insertMembers, numberIn, readInteger, removeMember } from '../bytes/fill.ts'
import { type JsonCursor, nameTable, type NameTable } from '../bytes/json-cursor.ts'
import type { Edit } from '../bytes/splice.ts'
import { encode, latin1 } from '../bytes/text.ts'
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
    promptTokens: lacks === 'prompt' || lacks === 'both' ? undefined : prompt,
    completionTokens: lacks === 'completion' || lacks === 'both' ? undefined : completion,
    totalTokens: total ?? (lacks === 'both' ? undefined : prompt + completion),
    cachedTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWriteHourTokens: cacheWriteHour,
    reasoningTokens: reasoning || undefined,
    billed,
  }
}

const countNames = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const
/**
 * Names of usage members. After the details come names for cache reads (DeepSeek, Moonshot, gateways) and writes, then
 * for searches (Perplexity), and last the costs of OpenRouter, Perplexity and xAI.
 */
const usageNames = nameTable([
  ...countNames,
  'prompt_tokens_details',
  'completion_tokens_details',
  'prompt_cache_hit_tokens',
  'cached_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'num_search_queries',
  'cost',
  'cost_details',
  'is_byok',
  'cost_in_usd_ticks',
  'server_tool_use',
])
/** Of Perplexity's cost, with its fees. */
const costNames = nameTable(['total_cost'])
const costDetailNames = nameTable(['upstream_inference_cost'])
const toolUseNames = nameTable(['web_search_requests'])
const detailNames = nameTable([
  'cached_tokens',
  'audio_tokens',
  'image_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'text_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
])

/** A count that is not a number, by its offsets. */
interface WrongCount {
  readonly code: number
  readonly start: number
  readonly end: number
}

/** Counts by their place in {@link countNames}, or by their codes. */
type Counts = (number | undefined)[]

/** The members of a usage that are not repaired. */
interface OtherFacts {
  /** By the codes of {@link detailNames}. */
  readonly prompt: Counts
  readonly answer: Counts
  cacheHits: number | undefined
  cacheWrites: number | undefined
  searches: number | undefined
  cost: number | undefined
  upstreamCost: number | undefined
  isByok: boolean
  costTicks: number | undefined
}

/**
 * Passes and repairs the value of a `usage` member. A number in a string, a negative number and a fraction become
 * integers of 0 or more; a missing count is derived from the others; details that are not numbers are removed; hits of
 * a cache under another name get the usual one, too. Undefined, without edits, when it is not an object or has no
 * counts. In the result, counts that were negative or fractions are undefined, and so is a count that the two others do
 * not tell.
 */
export function readUsage(cursor: JsonCursor, edits: Edit[]): Usage | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const start = cursor.position
  const editsBefore = edits.length
  const counts: Counts = [undefined, undefined, undefined]
  const wrong: WrongCount[] = []
  const others: OtherFacts = {
    prompt: [],
    answer: [],
    cacheHits: undefined,
    cacheWrites: undefined,
    searches: undefined,
    cost: undefined,
    upstreamCost: undefined,
    isByok: false,
    costTicks: undefined,
  }
  const incredible: boolean[] = []
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    seen |= 1 << code
    if (code === -1) cursor.skip()
    else if (code < countNames.length) incredible[code] = !readCount(cursor, edits, code, counts, wrong)
    else readOther(cursor, edits, code, others)
  }
  if (counts.every((count) => count === undefined)) {
    edits.length = editsBefore
    return undefined
  }
  const end = cursor.position - 1
  if (wrong.length > 0 || counts.includes(undefined)) completeCounts(edits, end, counts, wrong)
  if (others.cacheHits !== undefined && (seen & promptDetailsBit) === 0)
    insertMembers(edits, end, [`"prompt_tokens_details":{"cached_tokens":${others.cacheHits}}`], true)
  const usage = usageOfFacts(
    counts.map((count, code) => (incredible[code] === true ? undefined : count)),
    others,
  )
  addReasoning(edits, cursor.bytes.subarray(start, cursor.position), start, { answer: counts[1], usage })
  return usage
}

/** Counts reasoning in the answer, where xAI counts it beside it: clients of this format expect it there. */
function addReasoning(
  edits: Edit[],
  bytes: Uint8Array,
  start: number,
  {
    answer,
    usage: { completionTokens, reasoningTokens },
  }: { readonly answer: number | undefined; readonly usage: Usage },
): void {
  if (answer === undefined || completionTokens === undefined || completionTokens - answer !== reasoningTokens) return
  const found = /"completion_tokens"\s*:\s*(\d+)(?=\s*[,}])/d.exec(latin1(bytes, 0, bytes.length))?.indices?.[1]
  if (found === undefined) return
  edits.push({ start: start + found[0], end: start + found[1], replacement: encode(String(completionTokens)) })
}

const promptDetailsBit = 1 << 3

/** @returns whether it is a count as it is written, if it is a number at all */
function readCount(cursor: JsonCursor, edits: Edit[], code: number, counts: Counts, wrong: WrongCount[]): boolean {
  cursor.peek()
  const start = cursor.position
  const editsBefore = edits.length
  const count = readInteger(cursor, edits)
  if (count === undefined) wrong.push({ code, start, end: cursor.position })
  else counts[code] = count
  if (edits.length === editsBefore) return true
  const written = numberIn(latin1(cursor.bytes, start, cursor.position).replaceAll('"', ''))
  return written >= 0 && Number.isInteger(written)
}

function readOther(cursor: JsonCursor, edits: Edit[], code: number, facts: OtherFacts): void {
  switch (code) {
    case 3:
      return readDetails(cursor, edits, facts.prompt)
    case 4:
      return readDetails(cursor, edits, facts.answer)
    case 5:
    case 6:
    case 7:
      facts.cacheHits ??= readNumber(cursor)
      return
    case 8:
      facts.cacheWrites = readNumber(cursor)
      return
    case 9:
      facts.searches = readNumber(cursor)
      return
    case 10:
      facts.cost = cursor.peek() === 'object' ? readMember(cursor, costNames) : readNumber(cursor)
      return
    case 11:
      facts.upstreamCost = readMember(cursor, costDetailNames)
      return
    case 12:
      facts.isByok = cursor.isFilled()
      return
    case 13:
      facts.costTicks = readNumber(cursor)
      return
    default:
      facts.searches = readMember(cursor, toolUseNames)
  }
}

function usageOfFacts([prompt, completion, total]: Counts, facts: OtherFacts): Usage {
  const [cached, audioIn, imageIn, written] = facts.prompt
  const [, audioOut, imageOut, , reasoning] = facts.answer
  const { cacheHits, cacheWrites, searches } = facts
  const cost = reportedCost(facts)
  const hasMore = Boolean(audioIn || imageIn || audioOut || imageOut || searches) || cost !== undefined
  const beside = { cached: cached ?? cacheHits, cacheWrite: written ?? cacheWrites, reasoning }
  const [promptTokens, completionTokens] = countsByTotal(prompt, completion, total, beside)
  return {
    promptTokens,
    completionTokens,
    totalTokens: total,
    cachedTokens: beside.cached,
    cacheWriteTokens: beside.cacheWrite,
    reasoningTokens: reasoning || undefined,
    billed: hasMore ? { audioIn, imageIn, audioOut, imageOut, searches, cost } : undefined,
  }
}

/** xAI reports its cost in 10⁻¹⁰ USD (https://docs.x.ai/developers/cost-tracking). */
const ticksPerUsd = 1e10

/**
 * The cost in USD that a usage reports. With a key of one's own at the provider behind OpenRouter, `cost` is
 * OpenRouter's fee alone.
 */
export function reportedCost({
  cost,
  upstreamCost,
  isByok,
  costTicks,
}: Pick<OtherFacts, 'cost' | 'upstreamCost' | 'isByok' | 'costTicks'>): number | undefined {
  if (costTicks !== undefined) return costTicks / ticksPerUsd
  return isByok && upstreamCost !== undefined ? (cost ?? 0) + upstreamCost : cost
}

/** Larger counts are errors of their provider: a thousand times the largest context. */
export const countMax = 1_000_000_000

/** Counts of parts that a provider may count beside the prompt or the answer. */
interface BesideCounts {
  readonly cached?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly reasoning?: number | undefined
}

/**
 * The counts of a prompt and of an answer, by their total. A missing one is the rest of the total. A total above both
 * has tokens that neither counts: the cached ones if they are as many, else reasoning, which is a part of the answer.
 */
export function countsByTotal(
  prompt: number | undefined,
  completion: number | undefined,
  total: number | undefined,
  { cached = 0, cacheWrite = 0, reasoning }: BesideCounts = {},
): readonly [prompt: number | undefined, completion: number | undefined] {
  if (prompt === undefined || completion === undefined || total === undefined)
    return [prompt ?? difference(total, completion), completion ?? difference(total, prompt)]
  const rest = total - prompt - completion
  // A total alone does not show its parts.
  if (!(rest > 0) || total > countMax || total === rest) return [prompt, completion]
  const isOfPrompt = rest !== reasoning && [cached, cacheWrite, cached + cacheWrite].includes(rest)
  if (isOfPrompt || prompt === 0) return [prompt + rest, completion]
  return [prompt, Math.max(completion, total - Math.max(prompt, cached + cacheWrite))]
}

/** A part of a total, if both are known and do not contradict each other. */
function difference(total: number | undefined, other: number | undefined): number | undefined {
  return total === undefined || other === undefined || total < other ? undefined : total - other
}

/** Adds the service tier that an answer names. */
export function withTier(usage: Usage | undefined, serviceTier: string | undefined): Usage | undefined {
  if (usage === undefined || serviceTier === undefined) return usage
  return { ...usage, billed: { ...usage.billed, serviceTier } }
}

/** Adds the model that answered. Undefined: it is the one that was asked for. */
export function servedUsage(usage: Usage | undefined, model: string | undefined): Usage | undefined {
  if (usage === undefined || model === undefined) return usage
  return { ...usage, billed: { ...usage.billed, model } }
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
 * Passes `prompt_tokens_details` or `completion_tokens_details`, repairs its counts, and keeps them by their codes.
 * Removes a value that is not an object.
 */
function readDetails(cursor: JsonCursor, edits: Edit[], counts: Counts): void {
  if (cursor.peek() !== 'object') {
    const { nameStart } = cursor
    cursor.skip()
    removeMember(cursor, edits, nameStart)
    return
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const { nameStart } = cursor
    const code = cursor.nameCode(detailNames)
    if (code === -1) {
      cursor.skip()
      continue
    }
    const count = readInteger(cursor, edits)
    if (count === undefined) removeMember(cursor, edits, nameStart)
    else counts[code] = count
  }
}

/** Passes any value; `undefined` unless it is a finite number of 0 or more. */
function readNumber(cursor: JsonCursor): number | undefined {
  if (cursor.peek() !== 'number') {
    cursor.skip()
    return undefined
  }
  const number = cursor.number()
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Passes any value, and reads the number in the only member of an object that is in the table. */
function readMember(cursor: JsonCursor, names: NameTable): number | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  let found: number | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(names) === 0) found = readNumber(cursor)
    else cursor.skip()
  }
  return found
}
