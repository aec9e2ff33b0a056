import type { Ask, Member } from './ask.ts'
import { mediaFinder, type Media, type MediaMarks } from './find-media.ts'
import type { Part } from './part.ts'
import type { WholeReply } from './reply.ts'

/** What a model reads of a request. */
export interface PromptSize {
  /** Of texts and tools, without media. */
  readonly bytes: number
  /** Number of pictures, sounds and documents. */
  readonly media: number
}

/** Average bytes of English text for a token. */
export const usualBytesPerToken = 4
const mediaTokens = 800
/** Bytes of a usual part beside its content. */
const partFrameBytes = 200
/** Bytes of a usual whole answer beside its content. */
const wholeFrameBytes = 400
/** Characters from here on (Hangul, kana, CJK, emoji) take about 3 bytes of UTF-8. */
const firstWide = 0x1100

/** Makes the function that measures prompts of a format. It searches the body for media, and decodes nothing. */
export function promptSizeReader(media?: MediaMarks): (ask: Ask) => PromptSize {
  const mediaIn = mediaFinder(media)
  return ({ body, members }) => promptSizeOf(members, mediaIn(body))
}

/** The size of the prompt in these members of a request. @param media in its body */
export function promptSizeOf(members: readonly Member[], media: Media): PromptSize {
  let bytes = 0
  for (const { name, valueStart, end } of members) if (promptNames.has(name)) bytes += end - valueStart
  return { bytes: Math.max(0, bytes - media.bytes), media: media.count }
}

/** Estimates the tokens of a prompt: by the bytes of its text, and 800 for each picture, sound or document. */
export function usualTokens({ bytes, media }: PromptSize, bytesPerToken = usualBytesPerToken): number {
  return Math.ceil(bytes / bytesPerToken) + media * mediaTokens
}

/** Fields that models read, of all formats. */
const promptNames: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'tools',
  'input',
  'instructions',
  'contents',
  'systemInstruction',
  'system_instruction',
  'prompt',
  'query',
  'documents',
  'content',
  'requests',
])

/** Bytes of the text of a part, about. Other content counts by the bytes of its part, as a token at least. */
export function answerBytes({ text, isBeyondText, data }: Part): number {
  if (isBeyondText) return Math.max(usualBytesPerToken, data.length - partFrameBytes)
  return text.charCodeAt(0) >= firstWide ? 3 * text.length : text.length
}

/** Bytes of the text of a whole answer, about: those of a token at least, if it has content. */
export function wholeAnswerBytes(format: { readonly isPromptOnly?: true }, reply: WholeReply): number {
  if (format.isPromptOnly === true || reply.isBlank === true) return 0
  return Math.max(usualBytesPerToken, reply.body.length - wholeFrameBytes)
}
