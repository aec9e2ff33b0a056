import { normaliseLabel, type Definitions } from './definitions.ts'
import { unescapeText } from './escapes.ts'

/** Where a link leads, and where what says so ends. */
export interface FoundTarget {
  readonly target: string
  readonly end: number
}

const spaces = /[ \t\n]*/y
const bracketed = /<([^<>\n\\]*(?:\\.[^<>\n\\]*)*)>/y
const title = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|\([^()\\]*(?:\\.[^()\\]*)*\)/sy
const label = /\[((?:[^[\]\\]|\\.){0,999})\]/sy
/** An escape, a parenthesis, or what is in no destination. */
const pause = /\\[!-~]|[()\x00-\x20\x7F]/g
const depthMax = 32

/**
 * What stands behind the text of a link: `(destination "title")`, which need not have a title (CommonMark 0.31, section
 * 6.3).
 */
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
 * What stands behind the text of a link by label: `[label]`, `[]`, or nothing. @param own the link's text as a label,
 * if it can be one
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

/** A destination without angle brackets ends at white space, or with the parenthesis that was not opened in it. */
function endOfDestination(text: string, start: number): number | undefined {
  pause.lastIndex = start
  let depth = 0
  for (let match = pause.exec(text); match !== null; match = pause.exec(text)) {
    if (match[0] === '(') depth += 1
    else if (match[0] === ')' && depth > 0) depth -= 1
    else if (match[0].length === 1) return depth === 0 ? match.index : undefined
    if (depth > depthMax) return undefined
  }
  return depth === 0 ? text.length : undefined
}
