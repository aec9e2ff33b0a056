import type { Ask } from './ask.ts'
import { dataUrlsIn } from './data-urls.ts'
import type { Part } from './part.ts'
import type { Usage } from './usage.ts'

/** Average bytes of English text per token. */
const bytesPerToken = 4
const pictureTokens = 800
/** Smaller bodies are not searched for pictures, which would change little. */
const searchedBytesMin = 8 * 1024
/** Bytes of a usual part beside its content. */
const partFrameBytes = 200
/** Characters from here on (Hangul, kana, CJK, emoji) take about 3 bytes of UTF-8. */
const firstWide = 0x1100

/**
 * Estimates the prompt tokens of a request from the length of its texts and tools; 800 for each picture sent as data.
 * Costs a subtraction, and a byte search above 8 KiB.
 */
export function promptTokensOf({ body, members }: Ask): number {
  let bytes = 0
  for (const { name, valueStart, end } of members) if (promptNames.has(name)) bytes += end - valueStart
  const { count, bytes: pictureBytes } = body.length < searchedBytesMin ? noPictures : picturesIn(body)
  return Math.ceil(Math.max(0, bytes - pictureBytes) / bytesPerToken) + count * pictureTokens
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
const noPictures = { count: 0, bytes: 0 }

function picturesIn(body: Uint8Array): typeof noPictures {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const runs = dataUrlsIn(buffer)
  return { count: runs.length, bytes: runs.reduce((sum, { start, end }) => sum + end - start, 0) }
}

/** Estimates the tokens of a part, in quarters: text by its length, other content by its bytes. */
export function answerQuarters({ text, isBeyondText, data }: Part): number {
  if (isBeyondText) return Math.max(bytesPerToken, data.length - partFrameBytes)
  return text.charCodeAt(0) >= firstWide ? 3 * text.length : text.length
}

/**
 * Estimates the usage of an answer that ended before its provider counted it.
 *
 * @param reported usage so far; its prompt tokens count, and its completion tokens as a minimum
 * @param prompt see {@link promptTokensOf}
 * @param quarters sum of {@link answerQuarters}
 */
export function estimatedUsage(reported: Usage | undefined, prompt: number, quarters: number): Usage {
  const promptTokens = reported?.promptTokens ?? prompt
  const completionTokens = Math.max(reported?.completionTokens ?? 0, Math.ceil(quarters / 4))
  return {
    ...reported,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    isEstimated: true,
  }
}
