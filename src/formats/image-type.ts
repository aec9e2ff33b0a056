/** The beginnings of images in base64, and their types. */
export const imageBeginnings: readonly (readonly [beginning: string, type: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** The type of an image by its first bytes: labels are wrong at times, and Anthropic compares them. */
export function imageTypeOf(base64: string): string | undefined {
  return imageBeginnings.find(([beginning]) => base64.startsWith(beginning))?.[1]
}
