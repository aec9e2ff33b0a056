import type { FoundToken } from './inline-token.ts'

/** Most characters of a formula. A longer one is text. */
export const formulaCharactersMax = 4_000

const stop = /\\[^]|\$+|`/g

/**
 * Parses a formula after its opening `$` or `$$`. As in Pandoc, the content of `$…$` neither begins nor ends with white
 * space, no digit follows it, and it has no back-tick; so `$5 and $10` is text. In addition, no letter or digit
 * precedes it, and it is neither a range of amounts nor the first of two variables: `$5 to 10$`, `$PATH:$HOME`. Linear
 * time: the search ends at the next dollar sign that could open a formula.
 */
export function readDollars(text: string, start: number, length: number): FoundToken | undefined {
  if (length > 2 || (length === 1 && !canOpen(text, start - 1))) return undefined
  stop.lastIndex = start
  for (let match = stop.exec(text); match !== null; match = stop.exec(text)) {
    const [mark] = match
    if (mark[0] === '\\') continue
    if (mark.length === length && mark !== '`')
      return length === 2 || (canClose(text, match.index) && isMathematics(text, start, match.index))
        ? formulaAt(text, start, match.index, length)
        : undefined
    if (length === 1 || mark.length > 2) return undefined
  }
  return undefined
}

/** Parses a formula after the marks `\(` or `\[`. Linear time: the search ends at the next such mark. */
export function readBackslashed(text: string, start: number, marks: string): FoundToken | undefined {
  const opening = marks[1]
  if (opening !== '(' && opening !== '[') return undefined
  const closing = opening === '(' ? ')' : ']'
  for (let at = text.indexOf('\\', start); at !== -1; at = text.indexOf('\\', at + 2)) {
    const mark = text[at + 1]
    if (mark === opening) return undefined
    // `\[a\](b)` has escaped brackets.
    if (mark === closing) return text[at + 2] === '(' ? undefined : formulaAt(text, start, at, 2)
  }
  return undefined
}

/** Whether a single dollar sign at this offset may begin a formula. */
function canOpen(text: string, at: number): boolean {
  return !/\s|^$/.test(text.charAt(at + 1)) && !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))
}

/** Whether a single dollar sign at this offset may end a formula. */
function canClose(text: string, at: number): boolean {
  return !/\s/.test(text.charAt(at - 1)) && !/\d/.test(text.charAt(at + 1))
}

/** Amounts of money, and variables of a shell, stand between dollar signs by chance. */
function isMathematics(text: string, start: number, end: number): boolean {
  if (end - start > amountsMax) return true
  const source = text.slice(start, end)
  if (/^\d[\d.,]*\s[^\\^_{}=+*/<>|]*[\d.,]$/.test(source)) return false
  return !(/^(?:\{\w+\}|[A-Za-z_]\w+)[^\w\s]*$/.test(source) && /[\w{]/.test(text.charAt(end + 1)))
}

/** Longer texts between dollar signs are neither amounts nor names. */
const amountsMax = 100

function formulaAt(text: string, start: number, end: number, length: number): FoundToken | undefined {
  const source = text.slice(start, end)
  if (source.length > formulaCharactersMax || source.trim() === '') return undefined
  const written = text.slice(start - length, end + length)
  return {
    token: { kind: 'formula', source, written, isDisplay: written.startsWith('$$') || written.startsWith('\\[') },
    end: end + length,
  }
}
