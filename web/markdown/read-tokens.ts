import { readAddress } from './address.ts'
import { normaliseLabel, type Definitions } from './definitions.ts'
import { matchRuns, readRun } from './delimiter-run.ts'
import { htmlTag } from './html-tag.ts'
import type { DelimiterRun, FoundToken, Opening, Token } from './inline-token.ts'
import type { Style } from './inline.ts'
import { readReference, readTarget } from './link-target.ts'
import { readBackslashed, readDollars } from './read-formula.ts'

// Marks that may have a meaning. An address does not begin within a word, and `www.` only after white space or
// certain marks.
const mark =
  /\\(?:\n *|[!-/:-@[-`{-~])?|`+|\$+|([*_~])\1*|!?\[|\]|<|(?<! ) *\n *|(?<![a-z])https?:\/\/|(?<=^|[\s*_~([])www\./gi

const element = /<(sub|sup|kbd|b|strong|i|em)>([^<]*)<\/\1>/iy
const styles: ReadonlyMap<string, Style> = new Map([
  ['sub', 'sub'],
  ['sup', 'sup'],
  ['kbd', 'kbd'],
  ['b', 'strong'],
  ['strong', 'strong'],
  ['i', 'emphasis'],
  ['em', 'emphasis'],
])
/** Label of a footnote, after the bracket. */
const footnote = /\^([^\]\s\\]{1,50})\]/y

/** Mutable tokeniser state. */
interface Scan {
  readonly text: string
  readonly definitions: Definitions
  readonly tokens: Token[]
  /** Runs that are not matched yet. */
  readonly runs: DelimiterRun[]
  readonly brackets: Bracket[]
  /** Number of open brackets that contain a link, and so cannot become links themselves. */
  bracketsAroundLink: number
  readonly missing: Set<string>
  ticks: ReadonlyMap<number, number> | undefined
}

interface Bracket {
  readonly token: Opening
  /** Offset of the text within the brackets. */
  readonly start: number
  /** Number of unmatched runs before the bracket. */
  readonly runsBefore: number
  hasBrackets: boolean
}

/** Splits inline text into tokens, in one pass and linear time (CommonMark 0.31, chapter 6). */
export function readTokens(text: string, definitions: Definitions): readonly Token[] {
  const scan: Scan = {
    text,
    definitions,
    tokens: [],
    runs: [],
    brackets: [],
    bracketsAroundLink: 0,
    missing: new Set(),
    ticks: undefined,
  }
  for (let offset = 0; offset < text.length;) {
    mark.lastIndex = offset
    const match = mark.exec(text),
      at = match?.index ?? text.length,
      marks = match?.[0] ?? ''
    if (at > offset) scan.tokens.push({ kind: 'source', text: text.slice(offset, at) })
    const found = marks === '' ? undefined : readMark(scan, at, marks)
    if (found !== undefined) scan.tokens.push(found.token)
    else if (marks !== '') scan.tokens.push({ kind: 'source', text: marks })
    offset = found?.end ?? at + marks.length
  }
  matchRuns(scan.runs)
  return scan.tokens
}

/** Parses the token that begins with these marks; undefined if they are text. */
function readMark(scan: Scan, at: number, marks: string): FoundToken | undefined {
  const end = at + marks.length
  switch (marks[0]) {
    case '\\':
      return readEscape(scan.text, marks, end)
    case ' ':
    case '\n':
      return { token: marks.startsWith('  ') ? { kind: 'break' } : { kind: 'text', text: '\n' }, end }
    case '`':
      return readCodeSpan(scan.text, end, marks.length, (scan.ticks ??= lastTicks(scan.text)))
    case '$':
      return readDollars(scan.text, end, marks.length)
    case '*':
    case '_':
    case '~':
      return addRun(scan, readRun(scan.text, at, marks), end)
    case '!':
    case '[':
      return openBracket(scan, marks, end)
    case ']':
      return closeBracket(scan, at)
    case '<':
      return readElement(scan, at)
    default:
      return readAddress(scan.text, at, marks, scan.brackets.length > 0)
  }
}

function readEscape(text: string, marks: string, end: number): FoundToken | undefined {
  const formula = readBackslashed(text, end, marks)
  if (formula !== undefined) return formula
  if (marks.length === 1) return undefined
  return { token: marks[1] === '\n' ? { kind: 'break' } : { kind: 'text', text: marks.slice(1) }, end }
}

function addRun(scan: Scan, run: DelimiterRun, end: number): FoundToken {
  if (run.canOpen || run.canClose) scan.runs.push(run)
  return { token: run, end }
}

/** Parses an element of HTML without attributes, whose text has no other tag, or anything else that begins with `<`. */
function readElement(scan: Scan, at: number): FoundToken | undefined {
  element.lastIndex = at
  const [, name = '', text = ''] = element.exec(scan.text) ?? [],
    style = styles.get(name.toLowerCase())
  if (style === undefined) return readAngle(scan.text, at, scan.missing)
  return { token: { kind: 'element', style, tokens: readTokens(text, scan.definitions) }, end: element.lastIndex }
}

function openBracket(scan: Scan, marks: string, end: number): FoundToken {
  footnote.lastIndex = end
  const label = marks === '[' ? footnote.exec(scan.text)?.[1] : undefined,
    defined = label && scan.definitions.get(`^${normaliseLabel(label)}`)
  if (defined) return { token: { kind: 'footnote', label: defined }, end: footnote.lastIndex }
  const token: Opening = { kind: 'opening', mark: marks === '[' ? '[' : '![', target: undefined },
    outer = scan.brackets.at(-1)
  if (outer !== undefined) outer.hasBrackets = true
  scan.brackets.push({ token, start: end, runsBefore: scan.runs.length, hasBrackets: false })
  return { token, end }
}

/**
 * Completes the link or image of the innermost bracket, if there is a destination. Links do not nest: the inner one
 * wins.
 */
function closeBracket(scan: Scan, at: number): FoundToken | undefined {
  const bracket = scan.brackets.pop(),
    depth = scan.brackets.length
  if (bracket === undefined) return undefined
  const isImage = bracket.token.mark === '![',
    isWithin = depth < scan.bracketsAroundLink
  scan.bracketsAroundLink = Math.min(scan.bracketsAroundLink, depth)
  if (isWithin && !isImage) return undefined
  const own = bracket.hasBrackets ? '' : scan.text.slice(bracket.start, at)
  const found = readTarget(scan.text, at + 1) ?? readReference(scan.text, at + 1, own, scan.definitions)
  if (found === undefined) return undefined
  bracket.token.target = found.target
  matchRuns(scan.runs.splice(bracket.runsBefore))
  if (!isImage) scan.bracketsAroundLink = depth
  return { token: { kind: 'closing', source: scan.text.slice(at, found.end) }, end: found.end }
}

// CommonMark 0.31, sections 6.5 and 6.6. The patterns are unambiguous, so matching takes linear time.
const address = /<([a-z][a-z0-9+.-]{1,31}:[^<>\x00-\x20]*)>/iy
const mailbox =
  /<([a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)>/iy
const tag = new RegExp(htmlTag, 'iy')

/**
 * HTML comments, processing instructions, CDATA sections and declarations. `from`: offset after the start at which the
 * search for the closing mark begins.
 */
const enclosures = [
  { opening: /<!--/y, closing: '-->', from: 2 },
  { opening: /<\?/y, closing: '?>', from: 2 },
  { opening: /<!\[CDATA\[/y, closing: ']]>', from: 9 },
  { opening: /<![a-z]/iy, closing: '>', from: 2 },
]

/**
 * Parses an address, a mail address or HTML that starts with `<`.
 *
 * @param missing closing marks that the rest of the text does not contain; keeps the total time linear
 */
function readAngle(text: string, offset: number, missing: Set<string>): FoundToken | undefined {
  const [link, linked = ''] = matchAt(address, text, offset)
  if (link !== undefined)
    return { token: { kind: 'address', target: linked, text: linked, source: link }, end: offset + link.length }
  const [mail, box = ''] = matchAt(mailbox, text, offset)
  if (mail !== undefined)
    return { token: { kind: 'address', target: `mailto:${box}`, text: box, source: mail }, end: offset + mail.length }
  const [html = readEnclosure(text, offset, missing)] = matchAt(tag, text, offset)
  if (html === undefined) return undefined
  return {
    token: /^<br\s*\/?>$/i.test(html) ? { kind: 'break' } : { kind: 'text', text: html },
    end: offset + html.length,
  }
}

function readEnclosure(text: string, offset: number, missing: Set<string>): string | undefined {
  for (const { opening, closing, from } of enclosures) {
    if (missing.has(closing) || matchAt(opening, text, offset).length === 0) continue
    const found = text.indexOf(closing, offset + from)
    if (found !== -1) return text.slice(offset, found + closing.length)
    missing.add(closing)
  }
  return undefined
}

function matchAt(pattern: RegExp, text: string, offset: number): readonly (string | undefined)[] {
  pattern.lastIndex = offset
  return pattern.exec(text) ?? []
}

/**
 * Parses a code span after its opening back-ticks (CommonMark 0.31, section 6.1).
 *
 * @param last of `lastTicks`
 */
function readCodeSpan(
  text: string,
  start: number,
  length: number,
  last: ReadonlyMap<number, number>,
): FoundToken | undefined {
  if ((last.get(length) ?? -1) < start) return undefined
  const ticks = /`+/g
  ticks.lastIndex = start
  for (let match = ticks.exec(text); match !== null; match = ticks.exec(text)) {
    if (match[0].length === length)
      return {
        token: { kind: 'code', text: withoutMargin(text.slice(start, match.index).replaceAll('\n', ' ')) },
        end: ticks.lastIndex,
      }
  }
  return undefined
}

/**
 * Returns the offset of the last run of back-ticks, by length. Skipping searches without a match keeps the time linear.
 */
function lastTicks(text: string): ReadonlyMap<number, number> {
  return new Map([...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => [ticks.length, index]))
}

/** Strips one space at each end. The spaces allow code to begin or end with a back-tick. */
function withoutMargin(code: string): string {
  return code.startsWith(' ') && code.endsWith(' ') && /[^ ]/.test(code) ? code.slice(1, -1) : code
}
