import type { Size } from './image-header.ts'

/** An encoding that a canvas can write. */
export type WrittenKind = 'image/png' | 'image/jpeg' | 'image/webp'

/** A decoded image, rotated upright. */
export interface DecodedImage extends Size {
  /** Draws the image in another size. */
  draw(size: Size): Drawing
  /** Frees the memory. */
  close(): void
}

/** An image in its final size. */
export interface Drawing {
  isOpaque(): boolean
  /** Encodes the image; `undefined` if this browser cannot. @param quality 0 to 1, for lossy kinds */
  write(kind: WrittenKind, quality?: number): Promise<Blob | undefined>
}

/** Decodes an image. Rejects if it is broken. */
export type DecodeImage = (bytes: Blob) => Promise<DecodedImage>

/** Decodes with the browser, which applies the EXIF orientation. */
export async function decodeImage(bytes: Blob): Promise<DecodedImage> {
  const bitmap = await createImageBitmap(bytes, { imageOrientation: 'from-image' })
  return { width: bitmap.width, height: bitmap.height, draw: (size) => draw(bitmap, size), close: () => bitmap.close() }
}

function draw(bitmap: ImageBitmap, { width, height }: Size): Drawing {
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('there is no canvas')
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, width, height)
  return {
    isOpaque: () => isOpaque(context.getImageData(0, 0, width, height).data),
    async write(kind, quality) {
      const blob = await canvas.convertToBlob(quality === undefined ? { type: kind } : { type: kind, quality })
      // Browsers write PNG instead of an unknown kind.
      return blob.type === kind ? blob : undefined
    },
  }
}

/** Every fourth byte is a pixel's opacity. */
function isOpaque(pixels: Uint8ClampedArray): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false
  return true
}
