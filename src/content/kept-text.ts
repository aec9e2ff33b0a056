import { Buffer } from 'node:buffer'
import { measuredMedia } from './media-text.ts'
import { answerText, questionText } from './readable-text.ts'
import type { RemoveSecrets } from './remove-secrets.ts'
import { streamedText } from './streamed-text.ts'
import type { TakenAnswer, TakenContent } from './taken-content.ts'

/** Limit of a question, and of an answer, in bytes of UTF-8. */
export const keptBytesMax: number = 256 * 1024
/** Text behind the limit in which secrets are still found whole. */
const marginCharacters = 8 * 1024

/** A text that is kept. */
export interface KeptText {
  /** UTF-8. */
  readonly bytes: Uint8Array
  /** There was more. */
  readonly isCut: boolean
}

/** The texts of a request that are kept. */
export interface KeptTexts {
  readonly question: KeptText
  readonly answer: KeptText
}

/** Makes the texts of a request: readable, without secrets, and bounded. @throws {TooManySteps} */
export function keptTexts({ question, answer, redact }: TakenContent, remove: RemoveSecrets): KeptTexts {
  const keep = (text: string, isCut = false): KeptText => bounded(text, isCut, (found) => remove(found, redact))
  return {
    question: keep(questionText(question)),
    answer: keep(textOf(answer), answer?.kind === 'parts' && answer.isCut),
  }
}

function textOf(answer: TakenAnswer | undefined): string {
  switch (answer?.kind) {
    case 'whole':
      return answerText(answer.sent)
    case 'parts':
      return streamedText(answer.pieces, answer.isCut)
    case 'media':
      return measuredMedia(answer.contentType, answer.length, answer.sha256)
    case undefined:
      return ''
  }
}

/** Secrets are removed before the text is cut, so that no half of one stays. */
function bounded(text: string, wasCut: boolean, remove: (text: string) => string): KeptText {
  const isLong = text.length > keptBytesMax + marginCharacters
  const clean = remove(isLong ? text.slice(0, keptBytesMax + marginCharacters) : text)
  const bytes = Buffer.from(isLong || wasCut ? clean.slice(0, -marginCharacters) : clean)
  if (bytes.length <= keptBytesMax) return { bytes, isCut: isLong || wasCut }
  let end = keptBytesMax
  // Whole characters: bytes behind the first one of a character begin with 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return { bytes: bytes.subarray(0, end), isCut: true }
}
