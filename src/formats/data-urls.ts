import { indexOfBytes, latin1 } from '../bytes/text.ts'

/** Where base64 lies in a body, from its mark to the quote after it. */
export interface Base64Run {
  readonly start: number
  readonly end: number
}

const mark = new TextEncoder().encode(';base64,')
const quote = 0x22
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
