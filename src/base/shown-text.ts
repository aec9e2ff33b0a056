const codes = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const

/** A text style. */
export type Style = keyof typeof codes

/** Adds a style to text; returns the text unchanged on outputs without colour. */
export type Paint = (style: Style, text: string) => string

/** Makes the paint for an output. */
export function paintFor(output: { readonly hasColour: boolean }): Paint {
  return (style, text) => (output.hasColour && text !== '' ? `\u001b[${codes[style]}m${text}\u001b[0m` : text)
}

const dangerous = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/
const everyDangerous = new RegExp(dangerous, 'g')

/**
 * Makes foreign text safe for terminals and for tools that read lines. Control characters, line separators and
 * direction overrides are escaped, such as `\u001b`.
 */
export function harmless(text: string): string {
  return dangerous.test(text) ? text.replace(everyDangerous, escaped) : text
}

/** As {@link harmless}, for text of several lines: tabs and line feeds stay. */
export function harmlessLines(text: string): string {
  return dangerous.test(text)
    ? text.replace(everyDangerous, (letter) => (letter === '\n' || letter === '\t' ? letter : escaped(letter)))
    : text
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const needsQuoting = /["\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/

/**
 * Writes a text as a JSON string that is safe for terminals, too.
 *
 * @param lengthMax UTF-16 units; the rest is replaced by `…`
 */
export function jsonString(text: string, lengthMax = Infinity): string {
  const bounded = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
  // Nearly all texts need no escapes. The test and a concatenation take a fifth of the time of JSON.stringify.
  return needsQuoting.test(bounded) ? JSON.stringify(bounded).replace(everyDangerous, escaped) : `"${bounded}"`
}

/** `12 ms`, `1.2 s`, `2 min 3 s`. @param ms milliseconds */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return '–'
  if (ms < 999.5) return `${Math.round(Math.max(0, ms))} ms`
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
