/** A text as JSON writes it: halves of surrogate pairs, which UTF-8 cannot tell apart, stay different. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
