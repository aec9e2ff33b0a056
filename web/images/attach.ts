import type { ImageAttachment } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { decodeImage, type DecodeImage, type Drawing, type DecodedImage } from './decode-image.ts'
import { readImageHeader, type ImageHeader, type Size } from './image-header.ts'

/** Limits for the images of one message. */
export const imageLimits = {
  images: 10,
  /** Size of a file before scaling. */
  fileBytes: 20 * 1024 * 1024,
  /** Larger images are not decoded, to limit the page's memory. */
  pixels: 100_000_000,
  /** A longer side is scaled down to this. */
  side: 2048,
  /** Larger files are encoded again. */
  sentBytes: 4 * 1024 * 1024,
  /**
   * Characters of all data URLs together. A request has at most 32 MiB (docs/configuration.md), and a conversation
   * repeats its images.
   */
  characters: 24 * 1024 * 1024,
} as const

/** A rejected file, and the reason as a sentence. */
export interface RefusedFile {
  readonly name: string
  readonly why: string
}

/** Outcome of {@link readImages}. */
export interface ReadImages {
  readonly images: readonly ImageAttachment[]
  readonly refused: readonly RefusedFile[]
}

export interface ReadImagesOptions {
  /** Images already attached; they count towards the limits. */
  readonly attached?: readonly ImageAttachment[]
  /** Default: the browser's decoder. */
  readonly decode?: DecodeImage
}

/**
 * Reads files as images that can be sent, and scales down large ones. Files are read one at a time, so only one decoded
 * image is in memory.
 */
export async function readImages(
  files: readonly File[],
  { attached = [], decode = decodeImage }: ReadImagesOptions = {},
): Promise<ReadImages> {
  const images: ImageAttachment[] = [],
    refused: RefusedFile[] = []
  let characters = attached.reduce((sum, { dataUrl }) => sum + dataUrl.length, 0)
  for (const file of files) {
    const name = file.name.slice(0, nameCharactersMax) || 'picture'
    const isWithinLimit = attached.length + images.length < imageLimits.images
    const read = isWithinLimit
      ? await readImage(file, name, decode)
      : refuse(say.images.atMost(formatCount(imageLimits.images)))
    if (read.kind === 'refused') refused.push({ name, why: read.why })
    else if (characters + read.image.dataUrl.length > imageLimits.characters)
      refused.push({ name, why: say.images.tooLarge })
    else {
      images.push(read.image)
      characters += read.image.dataUrl.length
    }
  }
  return { images, refused }
}

/** Whether a file has the signature of a picture, also of one that cannot be sent. Drawings in SVG are text. */
export async function isPictureLike(file: File): Promise<boolean> {
  try {
    const { kind } = readImageHeader(new Uint8Array(await file.slice(0, 1024).arrayBuffer()))
    return kind !== 'unknown' && kind !== 'svg'
  } catch {
    // It cannot be read, which the reader of text says.
    return false
  }
}

const nameCharactersMax = 200

type ReadImage =
  | { readonly kind: 'image'; readonly image: ImageAttachment }
  | { readonly kind: 'refused'; readonly why: string }

function refuse(why: string): Extract<ReadImage, { kind: 'refused' }> {
  return { kind: 'refused', why }
}

async function readImage(file: File, name: string, decode: DecodeImage): Promise<ReadImage> {
  if (file.size > imageLimits.fileBytes) return refuse(say.images.larger(megabytes(imageLimits.fileBytes)))
  const bytes = await bytesOf(file)
  if (bytes === undefined) return refuse(say.images.notRead)
  const header = readImageHeader(bytes)
  if (!isPicture(header)) return refuse(whyNot(header))
  const { width, height } = header.size
  if (width * height > imageLimits.pixels)
    return refuse(
      say.images.tooManyPixels(formatCount(width), formatCount(height), formatCount(imageLimits.pixels / 1_000_000)),
    )
  const source = new Blob([bytes], { type: `image/${header.kind}` })
  const decoded = await decodeOrUndefined(source, decode)
  if (decoded === undefined) return refuse(say.images.broken)
  try {
    const sent = canSendAsIs(header, source)
      ? { blob: source, size: decoded }
      : await encode(decoded, header.kind === 'png')
    if (sent === undefined) return refuse(say.images.notScaled)
    return {
      kind: 'image',
      image: {
        id: newId(),
        name,
        dataUrl: await dataUrlOf(sent.blob),
        width: sent.size.width,
        height: sent.size.height,
      },
    }
  } finally {
    decoded.close()
  }
}

type PictureHeader = Extract<ImageHeader, { size: Size }>

function isPicture(header: ImageHeader): header is PictureHeader {
  return 'size' in header
}

function whyNot(header: Exclude<ImageHeader, PictureHeader>): string {
  switch (header.kind) {
    case 'svg':
      return say.images.svg
    case 'heic':
      return say.images.heic
    case 'broken':
      return say.images.onlyBeginning
    case 'unknown':
      return say.images.unknown
  }
}

async function bytesOf(file: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await file.arrayBuffer())
  } catch {
    // Moved or deleted since it was chosen, or a folder.
    return undefined
  }
}

async function decodeOrUndefined(source: Blob, decode: DecodeImage): Promise<DecodedImage | undefined> {
  try {
    return await decode(source)
  } catch {
    // The browser's reasons do not differ: it cannot decode the image.
    return undefined
  }
}

/**
 * Whether the file can be sent unchanged. Few models read AVIF, and some ignore the EXIF orientation: these are encoded
 * again.
 */
function canSendAsIs({ kind, size, isUpright }: PictureHeader, source: Blob): boolean {
  return (
    kind !== 'avif' &&
    isUpright &&
    Math.max(size.width, size.height) <= imageLimits.side &&
    source.size <= imageLimits.sentBytes
  )
}

/** Scales a size so that the longer side is within the limit. */
export function fitSize({ width, height }: Size): Size {
  const factor = Math.min(1, imageLimits.side / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) }
}

async function encode(
  decoded: DecodedImage,
  wasPng: boolean,
): Promise<{ readonly blob: Blob; readonly size: Size } | undefined> {
  const size = fitSize(decoded),
    drawing = decoded.draw(size)
  const blob = await encodeSmall(drawing, wasPng)
  return blob === undefined ? undefined : { blob, size }
}

/**
 * Encodes as PNG while that is small, for screenshots and transparency. Otherwise as JPEG, which every model reads, or
 * WebP for transparency.
 */
async function encodeSmall(drawing: Drawing, wasPng: boolean): Promise<Blob | undefined> {
  const isOpaque = drawing.isOpaque()
  const png = wasPng || !isOpaque ? await drawing.write('image/png') : undefined
  if (png !== undefined && png.size <= imageLimits.sentBytes / 2) return png
  let last: Blob | undefined
  for (const quality of [0.9, 0.75, 0.5]) {
    last = await drawing.write(isOpaque ? 'image/jpeg' : 'image/webp', quality)
    if (last !== undefined && last.size <= imageLimits.sentBytes) return last
  }
  return last ?? png
}

const chunkBytes = 0x1800

/** `data:image/…;base64,…` */
async function dataUrlOf(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  const parts: string[] = []
  // Multiples of three bytes give base64 without padding, so that chunks can be joined.
  for (let start = 0; start < bytes.length; start += chunkBytes)
    parts.push(btoa(latin1(bytes.subarray(start, start + chunkBytes))))
  return `data:${blob.type};base64,${parts.join('')}`
}

/** A loop is five times as fast as spreading the bytes. */
function latin1(bytes: Uint8Array): string {
  return String.fromCharCode.apply(undefined, bytes as never)
}

function megabytes(bytes: number): string {
  return say.images.megabytes(formatCount(bytes / 1024 / 1024))
}
