import { open } from 'node:fs/promises'
import { show } from '../../src/base/command-line/arguments.ts'
import { errorCode, isMissing } from '../../src/base/error-code.ts'
import { UsageError } from '../../src/base/start-errors.ts'
import type { Attachment } from './messages.ts'

const pictureBytesMax = 20 * 1024 * 1024
const readBytes = 64 * 1024
const textBytesMax = 4 * 1024 * 1024

/** The image types that models commonly accept, by their first bytes. */
const signatures: readonly { readonly type: string; readonly bytes: RegExp }[] = [
  { type: 'image/png', bytes: /^\x89PNG\r\n\x1a\n/ },
  { type: 'image/jpeg', bytes: /^\xff\xd8\xff/ },
  { type: 'image/gif', bytes: /^GIF8[79]a/ },
  { type: 'image/webp', bytes: /^RIFF[^]{4}WEBP/ },
]

/** The media type of an image, by its first bytes; `undefined` for other data. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return signatures.find((signature) => signature.bytes.test(head))?.type
}

/**
 * Reads an image of `--image`: as a `data:` URL of a file, or an unchanged http URL.
 *
 * @throws {UsageError} when the file cannot be read, is larger than 20 MB, or is not a PNG, JPEG, GIF or WebP image
 */
export async function readImage(file: string): Promise<Attachment> {
  if (/^https?:\/\//i.test(file)) return { kind: 'picture', url: file }
  const bytes = await readBounded('--image', file)
  const found = pictureOf(bytes)
  if (found === undefined) throw new UsageError(`--image: ${show(file)} is not a PNG, JPEG, GIF or WebP image`)
  return found
}

/**
 * Reads a file beside a question: a picture as for {@link readImage}, or text in UTF-8 of at most 4 MiB.
 *
 * @param given how the user named it, such as `--file`
 * @throws {UsageError} when the file cannot be read, is too large, or is neither
 */
export async function readAttachment(given: string, file: string): Promise<Attachment> {
  const bytes = await readBounded(given, file)
  const picture = pictureOf(bytes)
  if (picture !== undefined) return picture
  if (bytes.length > textBytesMax)
    throw new UsageError(`${given}: ${show(file)} has more than ${textBytesMax} bytes, which is too much for text`)
  const text = textIn(bytes)
  if (text === undefined)
    throw new UsageError(`${given}: ${show(file)} is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP image`)
  return { kind: 'text', name: file, text }
}

function pictureOf(bytes: Uint8Array): Attachment | undefined {
  const type = imageType(bytes)
  return type === undefined
    ? undefined
    : { kind: 'picture', url: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` }
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    // Not UTF-8.
    return undefined
  }
}

/** Reads at most 20 MB, also of pipes and devices, whose size is not known. */
async function readBounded(given: string, file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r')
    try {
      const pieces: Uint8Array[] = []
      let size = 0
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(readBytes))
        if (bytesRead === 0) break
        pieces.push(buffer.subarray(0, bytesRead))
        size += bytesRead
        if (size > pictureBytesMax)
          throw new UsageError(`${given}: ${show(file)} has more than ${pictureBytesMax} bytes, allowed: at most these`)
      }
      return Buffer.concat(pieces)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = errorCode(error)
    const fault = isMissing(error) ? 'does not exist' : `cannot be read${code === undefined ? '' : ` (${code})`}`
    throw new UsageError(`${given}: ${show(file)} ${fault}`, { cause: error })
  }
}
