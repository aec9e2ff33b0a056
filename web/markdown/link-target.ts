import { normaliseLabel, type Definitions } from './definitions.ts'
import { unescapeText } from './escapes.ts'

/** Destination of a link, with the end of its source. */
export interface FoundTarget {
  readonly target: string
  readonly end: number
}

const spaces = /[ \t\n]*/y
const bracketed = /<([^<>\n\\]*(?:\\.[^<>\n\\]*)*)>/y
const title = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|\([^()\\]*(?:\\.[^()\\]*)*\)/sy
const label = /\[((?:[^[\]\\]|\\.){0,999})\]/sy
/** An escape, a parenthesis, or a character that ends a destination. */
const stop = /\\[!-~]|[()\x00-\x20\x7F]/g
const depthMax = 32

/** Parses `(destination "title")` after the text of a link; the title is optional (CommonMark 0.31, section 6.3). */
export function readTarget(text: string, offset: number): FoundTarget | undefined {
  if (text[offset] !== '(') return undefined
  const start = endOf(spaces, text, offset + 1) ?? offset,
    isBracketed = text[start] === '<'
  const end = isBracketed ? endOf(bracketed, text, start) : endOfDestination(text, start)
  if (end === undefined) return undefined
  const titleStart = endOf(spaces, text, end) ?? end
  const titleEnd = titleStart === end ? end : (endOf(title, text, titleStart) ?? titleStart)
  const last = endOf(spaces, text, titleEnd) ?? titleEnd
  return text[last] === ')'
    ? { target: unescapeText(isBracketed ? text.slice(start + 1, end - 1) : text.slice(start, end)), end: last + 1 }
    : undefined
}

/**
 * Resolves `[label]`, `[]` or nothing after the text of a link.
 *
 * @param own the text of the link as a label; empty if it cannot be one
 */
export function readReference(
  text: string,
  offset: number,
  own: string,
  definitions: Definitions,
): FoundTarget | undefined {
  if (definitions.size === 0) return undefined
  label.lastIndex = offset
  const match = label.exec(text),
    target = definitions.get(normaliseLabel(match?.[1] || own))
  return target === undefined ? undefined : { target, end: match === null ? offset : label.lastIndex }
}

function endOf(pattern: RegExp, text: string, offset: number): number | undefined {
  pattern.lastIndex = offset
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Finds the end of a destination without angle brackets: white space or an unbalanced closing parenthesis. */
function endOfDestination(text: string, start: number): number | undefined {
  stop.lastIndex = start
  let depth = 0
  for (let match = stop.exec(text); match !== null; match = stop.exec(text)) {
    if (match[0] === '(') depth += 1
    else if (match[0] === ')' && depth > 0) depth -= 1
    else if (match[0].length === 1) return depth === 0 ? match.index : undefined
    if (depth > depthMax) return undefined
  }
  return depth === 0 ? text.length : undefined
}
