import { readFile, stat } from 'node:fs/promises'
import { UsageError } from '../app/start-errors.ts'
import { show } from './arguments.ts'

const imageBytesMax = 20 * 1024 * 1024

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
 * The URL of an image for an `image_url` part: a `data:` URL of a file, or an unchanged http URL.
 *
 * @throws {UsageError} when the file does not exist, is larger than 20 MB, or is not a PNG, JPEG, GIF or WebP image
 */
export async function imageUrl(file: string): Promise<string> {
  if (/^https?:\/\//i.test(file)) return file
  const bytes = await read(file)
  const type = imageType(bytes)
  if (type === undefined) throw new UsageError(`--image: ${show(file)} is not a PNG, JPEG, GIF or WebP image`)
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
}

async function read(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size > imageBytesMax)
      throw new UsageError(`--image: ${show(file)} has ${size} bytes, allowed: at most ${imageBytesMax}`)
    return await readFile(file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const fault = code === 'ENOENT' ? 'does not exist' : `cannot be read${code === '' ? '' : ` (${code})`}`
    throw new UsageError(`--image: ${show(file)} ${fault}`, { cause: error })
  }
}
