import type { Size } from './image-header.ts'

/** How a picture can be written. */
export type WrittenKind = 'image/png' | 'image/jpeg' | 'image/webp'

/** A picture that was decoded, upright. */
export interface Picture extends Size {
  /** Draws it in another size. */
  draw(size: Size): Drawing
  /** Gives its memory back. */
  close(): void
}

/** A picture in its final size. */
export interface Drawing {
  isOpaque(): boolean
  /** `undefined`: this browser cannot write that kind. @param quality 0 to 1, where the kind loses something */
  write(kind: WrittenKind, quality?: number): Promise<Blob | undefined>
}

/** Decodes a picture. Rejects when it is broken. */
export type DecodePicture = (bytes: Blob) => Promise<Picture>

/** Decodes with the browser, which turns and mirrors as EXIF says. */
export async function decodePicture(bytes: Blob): Promise<Picture> {
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
      // A browser that does not know the kind writes PNG.
      return blob.type === kind ? blob : undefined
    },
  }
}

/** Every fourth byte is how opaque a pixel is. */
function isOpaque(pixels: Uint8ClampedArray): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false
  return true
}
