import { indexOfBytes, latin1 } from '../bytes/text.ts'
import type { Member } from './ask.ts'
import type { Part } from './part.ts'
import type { WholeReply } from './reply.ts'

/**
 * Sizes that are assumed where neither the request nor the model states them, and nothing was learned. One table for
 * limits of tokens, budgets, and estimates of uncounted answers, so that these differ only in the column they use.
 */
export const assumed = {
  /** Bytes of text for a token. Low: base64 has 1.46, only a text made for it has fewer. Usual: of English. */
  bytesPerToken: { low: 1.4, usual: 4 },
  /** Tokens of a picture, sound or document. */
  mediaTokens: { usual: 800, high: 2_000 },
  /** Bytes of its base64 for each further token, for bounds. */
  mediaBytesPerToken: 512,
  /** Bytes of a form for a token, for bounds. Sound of 16 kbit/s takes 2,000 bytes for some 10 to 20 tokens. */
  formBytesPerToken: 100,
  /**
   * Tokens of an answer without a limit. Low: limits of tokens take them. Usual: budgets hold them. High: hard budgets
   * hold them, and budgets book them for an answer that did not come. Most: of any answer.
   */
  answerTokens: { low: 1_024, usual: 4_096, high: 16_384, most: 131_072 },
  /** Tokens of a model's context: that of the largest usual models. */
  contextTokens: 1_048_576,
  /** Larger counts would be taken for faults. */
  countMax: 1_000_000_000,
} as const

/** What a model reads of a request. */
export interface PromptSize {
  /** Of texts and tools, without media. */
  readonly bytes: number
  /** Number of pictures, sounds and documents. */
  readonly media: number
}

/** The pictures, sounds and documents of a request. */
export interface Media {
  readonly count: number
  /** Bytes of their base64 in the body. */
  readonly bytes: number
}

/** How a format names media in its requests. */
export interface MediaMarks {
  /** Text that each picture, sound or document has in a body, as often as `times`. */
  readonly texts: readonly string[]
  /** Default: 1. */
  readonly times?: number
}

/** Measures the prompt in the members with these names. @param media in the body */
export function promptSizeOf(members: readonly Member[], names: readonly string[], media: Media): PromptSize {
  let bytes = 0
  for (const { name, valueStart, end } of members) if (names.includes(name)) bytes += end - valueStart
  return { bytes: Math.max(0, bytes - media.bytes), media: media.count }
}

/** Estimates the tokens of a prompt: by the bytes of its text, and 800 for each picture, sound or document. */
export function usualTokens({ bytes, media }: PromptSize, bytesPerToken: number = assumed.bytesPerToken.usual): number {
  return Math.ceil(bytes / bytesPerToken) + media * assumed.mediaTokens.usual
}

/** Bytes of a usual part beside its content. */
const partFrameBytes = 200
/** Bytes of a usual whole answer beside its content. */
const wholeFrameBytes = 400
/** Characters from here on (Hangul, kana, CJK, emoji) take about 3 bytes of UTF-8. */
const firstWide = 0x1100

/** Bytes of the text of a part, about. Other content counts by the bytes of its part, as a token at least. */
export function answerBytes({ text, isBeyondText, data }: Part): number {
  if (isBeyondText) return Math.max(assumed.bytesPerToken.usual, data.length - partFrameBytes)
  return text.charCodeAt(0) >= firstWide ? 3 * text.length : text.length
}

/** Bytes of the text of a whole answer, about: those of a token at least, if it has content. */
export function wholeAnswerBytes(format: { readonly isPromptOnly?: true }, reply: WholeReply): number {
  if (format.isPromptOnly === true || reply.isBlank === true) return 0
  return Math.max(assumed.bytesPerToken.usual, reply.body.length - wholeFrameBytes)
}

/** Shorter texts in `data` are not searched for media. */
const mediaBytesMin = 256
const quote = 0x22
const encoder = new TextEncoder()
const dataMember = encoder.encode('"data"')

/** Makes the function that finds media in a body, in linear time: as data URLs, as base64, or by its address. */
export function mediaFinder({ texts, times = 1 }: MediaMarks = { texts: [] }): (body: Uint8Array) => Media {
  const marks = texts.map((text) => encoder.encode(text))
  return (body) => {
    let bytes = 0
    let count = 0
    for (const { start, end } of dataUrlsIn(body)) {
      bytes += end - start
      count += 1
    }
    for (let start = indexOfBytes(body, dataMember); start !== -1;) {
      const [from, end] = base64After(body, start + dataMember.length)
      bytes += end - from
      if (end > from) count += 1
      start = indexOfBytes(body, dataMember, end)
    }
    let named = 0
    for (const mark of marks) named += occurrences(body, mark)
    return { count: Math.max(count, Math.ceil(named / times)), bytes }
  }
}

/** The bounds of the base64 that is the value of a member whose name ended at `position`; equal if it is not base64. */
function base64After(body: Uint8Array, position: number): readonly [number, number] {
  let start = position
  while (isBetween(body[start])) start += 1
  if (body[start] !== quote) return [start, start]
  const end = indexOfBytes(body, quote, start + 1)
  if (end - start < mediaBytesMin) return [start, start]
  const isBase64 = /^[A-Za-z0-9+/_=-]+$/.test(latin1(body, start + 1, start + mediaBytesMin))
  return isBase64 && hasNoSpace(body, start, end) ? [start, end] : [start, start]
}

/** A colon, or white space around it. */
function isBetween(byte: number | undefined): boolean {
  return byte === 0x3a || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function occurrences(body: Uint8Array, text: Uint8Array): number {
  let count = 0
  for (let at = indexOfBytes(body, text); at !== -1; at = indexOfBytes(body, text, at + text.length)) count += 1
  return count
}

/** Where base64 lies in a body, from its mark to the quote after it. */
export interface Base64Run {
  readonly start: number
  readonly end: number
}

const mark = encoder.encode(';base64,')
const space = 0x20
/** Bytes before the mark that are looked at: the name of a member, and a media type. */
const headBytesMax = 160
/** A member for media, up to its data URL. In texts and arguments that are strings, the quotes have a backslash. */
const head =
  /(?<!\\)"(?:url|image_url|video_url|audio_url|file_url|file_data|data|image)"\s*:\s*"data:(?:[^"\\]|\\\/)*$/i

/**
 * The data URLs that are values of members for pictures, sounds and documents. Others are text for a model, and cost
 * what text costs. Linear in the size of the body.
 */
export function dataUrlsIn(body: Uint8Array): readonly Base64Run[] {
  const runs: Base64Run[] = []
  let from = 0
  for (let start = indexOfBytes(body, mark); start !== -1; start = indexOfBytes(body, mark, from)) {
    from = start + mark.length
    if (!head.test(latin1(body, Math.max(0, start - headBytesMax), start))) continue
    const end = indexOfBytes(body, quote, start)
    if (end === -1) break
    from = end
    if (hasNoSpace(body, start, end)) runs.push({ start, end })
  }
  return runs
}

/** Base64 has no spaces, and nearly all texts have. */
export function hasNoSpace(body: Uint8Array, start: number, end: number): boolean {
  return !body.subarray(start, end).includes(space)
}
