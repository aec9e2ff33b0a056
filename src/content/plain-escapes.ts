const plain: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '/': '/' }

/**
 * JSON with characters in place of their escapes, so that what a person looks for in it, or a pattern, is found. Quotes
 * and backslashes keep theirs.
 */
export function plainEscapes(json: string): string {
  if (!json.includes('\\')) return json
  return json.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (whole, code: string | undefined, letter: string = '') => {
    const character = code === undefined ? plain[letter] : String.fromCharCode(Number.parseInt(code, 16))
    return character === undefined || character === '"' || character === '\\' ? whole : character
  })
}
