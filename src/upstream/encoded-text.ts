/** A text with some of its escapes decoded. Each character is one byte of UTF-8 (latin1). */
export interface DecodedText {
  readonly text: string
  /** Offset of each character in the original, and the original's length at the end. */
  readonly starts: Uint32Array
}

/** Levels of nested escapes that are decoded, such as a URL in HTML in JSON. */
const depthMax = 3

/** Decodes one kind of escape. `decode` returns its characters, or `undefined` for a match that is not an escape. */
interface EscapeKind {
  readonly escape: RegExp
  decode(match: RegExpExecArray): string | undefined
}

const percent: EscapeKind = {
  escape: /%([\dA-Fa-f]{2})/g,
  decode: ([, digits = '']) => unit(digits),
}

/** The names of ASCII characters (HTML, section 13.5). */
const entities: Readonly<Record<string, string>> = {
  Tab: '\t',
  NewLine: '\n',
  nbsp: '\u00a0',
  excl: '!',
  quot: '"',
  QUOT: '"',
  num: '#',
  dollar: '$',
  percnt: '%',
  amp: '&',
  AMP: '&',
  apos: "'",
  lpar: '(',
  rpar: ')',
  ast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  lt: '<',
  LT: '<',
  equals: '=',
  gt: '>',
  GT: '>',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  Hat: '^',
  lowbar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  rbrace: '}',
  hyphen: '-',
  dash: '-',
}

const html: EscapeKind = {
  escape: /&(?:#(\d{1,12})|#[Xx]([\dA-Fa-f]{1,12})|([A-Za-z]{2,8}));/g,
  decode([, decimal, hexadecimal, name]) {
    if (name !== undefined) return Object.hasOwn(entities, name) ? bytesOf(entities[name] ?? '') : undefined
    const codePoint = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
    return codePoint > 0x10ffff ? undefined : bytesOf(String.fromCodePoint(codePoint))
  },
}

const shortEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Also the escapes of JavaScript and Python: `\x2b`, `\'`. The first form is a surrogate pair. */
const json: EscapeKind = {
  escape: /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u([\da-f]{4})|x([\da-f]{2})|([bfnrt"'\\/`]))/gi,
  decode([, high, low, wide, narrow, short = '']) {
    if (high !== undefined && low !== undefined) return bytesOf(unit(high) + unit(low))
    const code = wide ?? narrow
    return code === undefined ? (shortEscapes[short] ?? short) : bytesOf(unit(code))
  },
}

function unit(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

const encodings = [percent, html, json]

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/**
 * Yields a text unchanged, then with its percent, HTML and JSON escapes decoded in every order, up to three in a row.
 * At most 40 readings, none longer than the text. Each reading comes once, so a text without escapes has one.
 *
 * @param text one character per byte of UTF-8
 */
export function* readings(text: string): Generator<DecodedText> {
  const seen = new Set([text])
  const starts = Uint32Array.from({ length: text.length + 1 }, (_, index) => index)
  let last: readonly DecodedText[] = [{ text, starts }]
  yield* last
  for (let depth = 0; depth < depthMax && last.length > 0; depth += 1) {
    const next: DecodedText[] = []
    for (const reading of last) {
      for (const encoding of encodings) {
        const decoded = undo(reading, encoding)
        if (decoded === undefined || seen.has(decoded.text)) continue
        seen.add(decoded.text)
        next.push(decoded)
        yield decoded
      }
    }
    last = next
  }
}

/** Decodes all escapes of one kind; `undefined` without any. */
function undo({ text, starts }: DecodedText, { escape, decode }: EscapeKind): DecodedText | undefined {
  const pieces: string[] = []
  // An escape is never shorter than its characters.
  const decodedStarts = new Uint32Array(text.length + 1)
  let length = 0,
    copied = 0

  function copyUntil(end: number): void {
    pieces.push(text.slice(copied, end))
    decodedStarts.set(starts.subarray(copied, end), length)
    length += end - copied
  }

  for (const match of text.matchAll(escape)) {
    const decoded = decode(match)
    if (decoded === undefined) continue
    copyUntil(match.index)
    pieces.push(decoded)
    decodedStarts.fill(starts[match.index] ?? 0, length, length + decoded.length)
    length += decoded.length
    copied = match.index + match[0].length
  }
  if (copied === 0) return undefined
  copyUntil(text.length)
  decodedStarts[length] = starts[text.length] ?? 0
  return { text: pieces.join(''), starts: decodedStarts.subarray(0, length + 1) }
}
