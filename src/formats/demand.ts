import { JsonCursor, nameTable } from '../bytes/json-cursor.ts'
import { indexOfBytes, latin1 } from '../bytes/text.ts'
import type { Ask, Member } from './ask.ts'
import {
  assumed,
  mediaFinder,
  promptSizeOf,
  usualTokens,
  type Media,
  type MediaMarks,
  type PromptSize,
} from './size.ts'

/** The most that a request may make a provider do, for an upper bound of its cost. Absurd values are cut off. */
export interface Demand {
  /** Bytes of its body without media. */
  readonly textBytes: number
  /** Estimated tokens of its pictures, sounds and documents. */
  readonly mediaTokens: number
  /** Most tokens of one answer. Undefined: the request states no limit. */
  readonly answerTokens: number | undefined
  /** Number of answers that it asks for, 1 or more. */
  readonly answers: number
  /** Whether providers may write the prompt to a cache at a surcharge, and for how long. */
  readonly cacheWrite: 'none' | 'minutes' | 'hour'
  /** The service tier that it asks for. */
  readonly serviceTier: 'priority' | undefined
  /** The ways of serving that it asks for, and that multiply prices: see `multiples` of the bill. */
  readonly multiples?: readonly string[] | undefined
  /** What a model reads of it. */
  readonly prompt: PromptSize
  /** Providers may bill other units than tokens, so that an answer which they do not count is not estimated. */
  readonly hasOtherUnits: boolean
}

/** The members of a format's requests that determine their cost. */
export interface DemandFields {
  /** Top-level members that models read. */
  readonly prompt: readonly string[]
  /**
   * Top-level members with the most tokens of one answer. The largest counts. A number: of each answer, where requests
   * cannot state it. `none`: answers have no tokens.
   */
  readonly answerTokens: readonly string[] | number | 'none'
  /** Top-level members by which some servers are given another limit, before the usual one; others ignore them. */
  readonly otherLimits?: readonly string[]
  /** Top-level members with the number of answers. Absent: there is one. */
  readonly answers?: readonly string[]
  /** A top-level list with an answer for each of its prompts, which are strings or lists. */
  readonly prompts?: string
  /** Top-level members that are objects with further members of both kinds. */
  readonly within?: readonly string[]
  readonly media?: MediaMarks
  /** Providers may bill other units than tokens. */
  readonly hasOtherUnits?: boolean
}

const { countMax } = assumed
const numberBytesMax = 32
/** Longer than each text that is looked for, also in escapes. */
const textBytesMax = 256

const quote = 0x22
const encoder = new TextEncoder()
const cacheControl = encoder.encode('cache_control')
const hour = encoder.encode('"1h"')
/** Escapes of the characters from U+0030 to U+007F, which hardly any program writes; all begin alike. */
const escapeStart = encoder.encode('\\u00')
const escapes = ['\\u003', '\\u004', '\\u005', '\\u006', '\\u007'].map((text) => encoder.encode(text))

/** The reader of the demand of requests. It is linear in the size of a body, decodes nothing, and reads each once. */
export function demandReader(fields: DemandFields): (ask: Ask) => Demand {
  const mediaIn = mediaFinder(fields.media)
  const { hasOtherUnits = false } = fields
  return once(({ body, members }) => {
    const media = mediaIn(body)
    const { answerTokens, answers } = statedIn(body, members, fields)
    return {
      textBytes: body.length - media.bytes,
      mediaTokens: media.count * assumed.mediaTokens.high + Math.ceil(media.bytes / assumed.mediaBytesPerToken),
      answerTokens,
      answers,
      cacheWrite: cacheWriteOf(body),
      serviceTier: tierOf(body, members),
      multiples: multiplesOf(body, members),
      prompt: promptSizeOf(members, fields.prompt, media),
      hasOtherUnits,
    }
  })
}

/** The reader of the demand of forms, most of which are a picture or sound. */
export function formDemandReader(fields: DemandFields): (ask: Ask) => Demand {
  return once(({ body, members }) => ({
    ...noDemand,
    mediaTokens: Math.ceil(body.length / assumed.formBytesPerToken),
    ...statedIn(body, members, fields),
    prompt: promptSizeOf(members, fields.prompt, noMedia),
  }))
}

/** The reader of the demand of requests that cost nothing, but count in limits of tokens by their prompts. */
export function freeDemandReader({ prompt, media }: Pick<DemandFields, 'prompt' | 'media'>): (ask: Ask) => Demand {
  const mediaIn = mediaFinder(media)
  return once(({ body, members }) => ({ ...noDemand, prompt: promptSizeOf(members, prompt, mediaIn(body)) }))
}

/** Remembers the demand of each request: several limits and attempts ask for it. */
function once(read: (ask: Ask) => Demand): (ask: Ask) => Demand {
  const known = new WeakMap<Ask, Demand>()
  return (ask) => {
    const found = known.get(ask)
    if (found !== undefined) return found
    const demand = read(ask)
    known.set(ask, demand)
    return demand
  }
}

const noMedia: Media = { count: 0, bytes: 0 }

/** The demand of a request that costs nothing. */
export const noDemand: Demand = {
  textBytes: 0,
  mediaTokens: 0,
  answerTokens: 0,
  answers: 1,
  cacheWrite: 'none',
  serviceTier: undefined,
  prompt: { bytes: 0, media: 0 },
  hasOtherUnits: true,
}

/** The tokens that a request may take in limits of tokens. */
export interface AskedTokens {
  /** Estimated from the length of its texts. */
  readonly prompt: number
  /** Of all its answers, at most 131,072: the estimate stays where a provider tells no usage. */
  readonly answer: number
}

/** @param isText answers are text, so that a request without a limit takes 1,024 tokens for each; else 0 */
export function askedTokens({ answerTokens, answers, prompt }: Demand, isText: boolean): AskedTokens {
  const { low, most } = assumed.answerTokens
  const tokens = answerTokens ?? (isText ? low : 0)
  return { prompt: usualTokens(prompt), answer: Math.min(most, tokens * answers) }
}

interface Stated {
  answerTokens: number | undefined
  answers: number
}

/** Names of members with the most tokens of one answer. */
export function namesOfLimit({ answerTokens }: DemandFields): readonly string[] {
  return typeof answerTokens === 'object' ? answerTokens : []
}

function statedIn(body: Uint8Array, members: readonly Member[], fields: DemandFields): Stated {
  const { answers = [], prompts, within = [], otherLimits = [] } = fields
  const answerTokens = namesOfLimit(fields)
  const found: { tokens: number[]; answers: number[] } = { tokens: [], answers: [] }
  let otherLimit = 0
  let promptCount = 1
  for (const { name, valueStart, end } of members) {
    if (answerTokens.includes(name)) found.tokens.push(numberAt(body, valueStart, end))
    else if (otherLimits.includes(name)) otherLimit = Math.max(otherLimit, limitAt(body, valueStart, end))
    else if (answers.includes(name)) found.answers.push(numberAt(body, valueStart, end))
    else if (name === prompts) promptCount = Math.max(promptCount, promptsIn(body.subarray(valueStart, end)))
    else if (within.includes(name)) readWithin(body.subarray(valueStart, end), { answerTokens, answers }, found)
  }
  // Most requests state neither.
  if (found.tokens.length + found.answers.length + otherLimit === 0 && Array.isArray(fields.answerTokens))
    return { answerTokens: undefined, answers: Math.min(countMax, promptCount) }
  return {
    answerTokens: limitOf(fields, found.tokens, otherLimit),
    answers: Math.min(
      countMax,
      promptCount * Math.max(1, ...found.answers.filter((count) => count >= 1).map(Math.ceil)),
    ),
  }
}

/** Most tokens of one answer. @param other 0: without one */
function limitOf({ answerTokens }: DemandFields, stated: readonly number[], other: number): number | undefined {
  const limits = stated.filter((count) => !Number.isNaN(count))
  if (answerTokens === 'none') limits.push(0)
  else if (typeof answerTokens === 'number') limits.push(answerTokens)
  if (other > 0) limits.push(limits.length === 0 ? Math.max(other, assumed.answerTokens.usual) : other)
  // Some upstreams take -1 for no limit.
  const isLimited = limits.length > 0 && limits.every((count) => count >= 0)
  return isLimited ? Math.min(countMax, Math.ceil(Math.max(...limits))) : undefined
}

/** A limit; the largest for one that is none. */
function limitAt(body: Uint8Array, start: number, end: number): number {
  const limit = numberAt(body, start, end)
  return limit >= 0 ? limit : Number.isNaN(limit) ? 0 : countMax
}

/** The number of prompts in a value: a list of numbers is one prompt of tokens. */
function promptsIn(bytes: Uint8Array): number {
  const cursor = new JsonCursor(bytes)
  if (cursor.peek() !== 'array') return 1
  let count = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() === 'number') return 1
    count += 1
    cursor.skip()
  }
  return count
}

/** Reads the numbers of an object that was checked before. */
function readWithin(
  bytes: Uint8Array,
  names: { readonly answerTokens: readonly string[]; readonly answers: readonly string[] },
  found: { readonly tokens: number[]; readonly answers: number[] },
): void {
  const tables = { answerTokens: nameTable(names.answerTokens), answers: nameTable(names.answers) }
  const cursor = new JsonCursor(bytes)
  if (cursor.peek() !== 'object') return
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const list =
      cursor.nameCode(tables.answerTokens) !== -1
        ? found.tokens
        : cursor.nameCode(tables.answers) !== -1
          ? found.answers
          : undefined
    if (list !== undefined && cursor.peek() === 'number') list.push(cursor.number())
    else cursor.skip()
  }
}

/**
 * The number between two offsets; NaN for anything else. Some providers read numbers in strings: another string, or a
 * number with very many digits, is infinite.
 */
function numberAt(body: Uint8Array, start: number, end: number): number {
  const isString = body[start] === quote
  if (end - start > numberBytesMax) return isString || isDigit(body[start]) ? Infinity : NaN
  const number = Number(latin1(body, isString ? start + 1 : start, isString ? end - 1 : end))
  return isString && Number.isNaN(number) ? Infinity : number
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** A request that may hide a name or a time in escapes has the dearest. */
function cacheWriteOf(body: Uint8Array): Demand['cacheWrite'] {
  if (indexOfBytes(body, escapeStart) !== -1 && escapes.some((escape) => indexOfBytes(body, escape) !== -1))
    return 'hour'
  if (indexOfBytes(body, cacheControl) === -1) return 'none'
  return indexOfBytes(body, hour) === -1 ? 'minutes' : 'hour'
}

/** Of OpenAI, Anthropic, and Google. */
const tierNames: ReadonlySet<string> = new Set(['service_tier', 'serviceTier'])
const priorityTier = /^(?:service_tier_)?priority$/i

function tierOf(body: Uint8Array, members: readonly Member[]): Demand['serviceTier'] {
  for (const member of members)
    if (tierNames.has(member.name) && shortText(body, member).some((tier) => priorityTier.test(tier))) return 'priority'
  return undefined
}

/** Anthropic's fast mode, and the place of its computers: of each way, whether the text asks for it. */
const ways: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['speed', (text) => text === 'fast'],
  ['inference_geo', (text) => text !== 'global'],
])

function multiplesOf(body: Uint8Array, members: readonly Member[]): readonly string[] | undefined {
  let asked: string[] | undefined
  for (const member of members) {
    const isAsked = ways.get(member.name)
    if (isAsked !== undefined) for (const text of shortText(body, member)) if (isAsked(text)) (asked ??= []).push(text)
  }
  return asked
}

/** The text of a member, if it is a short one. */
function shortText(body: Uint8Array, { valueStart, end }: Member): readonly string[] {
  if (body[valueStart] !== quote || end - valueStart > textBytesMax) return []
  return [new JsonCursor(body).stringAt(valueStart, end)]
}
