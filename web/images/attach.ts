import type { ImageAttachment } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { readImageHeader } from './image-header.ts'
import type { ImageHeader, Size } from './image-header.ts'
import { decodePicture } from './picture.ts'
import type { DecodePicture, Drawing, Picture } from './picture.ts'

/** What holds for the pictures of one message. */
export const imageLimits = {
  images: 10,
  /** Of a file, before anything is done to it. */
  fileBytes: 20 * 1024 * 1024,
  /** More is not decoded: it would take the memory of the page. */
  pixels: 100_000_000,
  /** A longer side is scaled down to this. */
  side: 2048,
  /** A larger file is written anew. */
  sentBytes: 4 * 1024 * 1024,
  /**
   * Characters of all data URLs together: a request has at most 32 MiB (docs/configuration.md), and a conversation
   * repeats them.
   */
  characters: 24 * 1024 * 1024,
} as const

/** A file that was not taken, and why, in a sentence. */
export interface RefusedFile {
  readonly name: string
  readonly why: string
}

/** What became of files. */
export interface ReadImages {
  readonly images: readonly ImageAttachment[]
  readonly refused: readonly RefusedFile[]
}

/** What {@link readImages} may be told. */
export interface ReadImagesOptions {
  /** Pictures the message has already: they count. */
  readonly already?: readonly ImageAttachment[]
  /** Default: the browser. */
  readonly decode?: DecodePicture
}

/**
 * Makes pictures that can be sent out of files; what is too large is scaled down. One file after the other, so that one
 * picture at a time is in memory.
 */
export async function readImages(
  files: readonly File[],
  { already = [], decode = decodePicture }: ReadImagesOptions = {},
): Promise<ReadImages> {
  const images: ImageAttachment[] = [],
    refused: RefusedFile[] = []
  let characters = already.reduce((sum, { dataUrl }) => sum + dataUrl.length, 0)
  for (const file of files) {
    const name = file.name.slice(0, nameCharactersMax) || 'picture'
    const hasRoom = already.length + images.length < imageLimits.images
    const read = hasRoom
      ? await readImage(file, name, decode)
      : refuse(`At most ${imageLimits.images} pictures fit into one message.`)
    if (read.kind === 'refused') refused.push({ name, why: read.why })
    else if (characters + read.image.dataUrl.length > imageLimits.characters)
      refused.push({ name, why: 'Together the pictures of this message would be too large to send.' })
    else {
      images.push(read.image)
      characters += read.image.dataUrl.length
    }
  }
  return { images, refused }
}

const nameCharactersMax = 200

type ReadImage =
  | { readonly kind: 'image'; readonly image: ImageAttachment }
  | { readonly kind: 'refused'; readonly why: string }

function refuse(why: string): Extract<ReadImage, { kind: 'refused' }> {
  return { kind: 'refused', why }
}

async function readImage(file: File, name: string, decode: DecodePicture): Promise<ReadImage> {
  if (file.size > imageLimits.fileBytes) return refuse(`It is larger than ${megabytes(imageLimits.fileBytes)}.`)
  const bytes = await bytesOf(file)
  if (bytes === undefined) return refuse('It could not be read.')
  const header = readImageHeader(bytes)
  if (!isPicture(header)) return refuse(whyNot(header))
  const { width, height } = header.size
  if (width * height > imageLimits.pixels)
    return refuse(`It has ${width} × ${height} pixels: at most ${imageLimits.pixels / 1_000_000} million can be read.`)
  const source = new Blob([bytes], { type: `image/${header.kind}` })
  const picture = await decodedOrNot(source, decode)
  if (picture === undefined) return refuse('It is broken: it could not be decoded.')
  try {
    const sent = canStay(header, source)
      ? { blob: source, size: picture }
      : await rewrite(picture, header.kind === 'png')
    if (sent === undefined) return refuse('This browser could not scale it down.')
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
    picture.close()
  }
}

type PictureHeader = Extract<ImageHeader, { size: Size }>

function isPicture(header: ImageHeader): header is PictureHeader {
  return 'size' in header
}

function whyNot(header: Exclude<ImageHeader, PictureHeader>): string {
  switch (header.kind) {
    case 'svg':
      return 'It is a drawing (SVG), which models do not read: save it as PNG.'
    case 'heic':
      return 'It is in HEIC, which most models and browsers do not read: save it as JPEG.'
    case 'broken':
      return 'It is broken: it begins as a picture, and does not go on as one.'
    case 'unknown':
      return 'It is no picture that can be sent: PNG, JPEG, WebP, GIF and AVIF can.'
  }
}

async function bytesOf(file: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await file.arrayBuffer())
  } catch {
    // Moved or deleted since it was picked, or a folder.
    return undefined
  }
}

async function decodedOrNot(source: Blob, decode: DecodePicture): Promise<Picture | undefined> {
  try {
    return await decode(source)
  } catch {
    // Every reason a browser gives is the same: it is none it can show.
    return undefined
  }
}

/** AVIF is read by few models, and not every one turns a picture as EXIF says: such are written anew. */
function canStay({ kind, size, isUpright }: PictureHeader, source: Blob): boolean {
  return (
    kind !== 'avif' &&
    isUpright &&
    Math.max(size.width, size.height) <= imageLimits.side &&
    source.size <= imageLimits.sentBytes
  )
}

/** The same shape, with the longer side at most as long as allowed. */
export function fitted({ width, height }: Size): Size {
  const factor = Math.min(1, imageLimits.side / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) }
}

async function rewrite(
  picture: Picture,
  wasPng: boolean,
): Promise<{ readonly blob: Blob; readonly size: Size } | undefined> {
  const size = fitted(picture),
    drawing = picture.draw(size)
  const blob = await smallest(drawing, wasPng)
  return blob === undefined ? undefined : { blob, size }
}

/**
 * PNG for screenshots and what one can see through, while it is small; then JPEG, which every model reads, or WebP for
 * what one can see through.
 */
async function smallest(drawing: Drawing, wasPng: boolean): Promise<Blob | undefined> {
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
  // Pieces of a multiple of three bytes join without padding between them.
  for (let start = 0; start < bytes.length; start += chunkBytes)
    parts.push(btoa(latin1(bytes.subarray(start, start + chunkBytes))))
  return `data:${blob.type};base64,${parts.join('')}`
}

/** As fast as there is: spreading the bytes takes five times as long. */
function latin1(bytes: Uint8Array): string {
  return Reflect.apply(String.fromCharCode, undefined, bytes)
}

function megabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}
