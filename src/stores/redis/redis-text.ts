/** The text with JSON escapes: lone surrogates, which UTF-8 cannot encode, stay distinct. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The text that {@link escaped} has escaped. */
export function unescaped(text: string): string {
  return String(JSON.parse(`"${text}"`))
}
