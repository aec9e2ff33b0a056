import { readAddress } from './address.ts'
import { readAngle } from './angle.ts'
import { lastTicks, readCodeSpan } from './code-span.ts'
import type { Definitions } from './definitions.ts'
import { matchRuns, readRun } from './delimiter-run.ts'
import type { Found, Opening, Run, Token } from './inline-token.ts'
import { readReference, readTarget } from './link-target.ts'

// Everything that may be more than text. An address does not begin within a word, nor `www.` just anywhere.
const mark =
  /\\(?:\n *|[!-/:-@[-`{-~])?|`+|([*_~])\1*|!?\[|\]|<|(?<! ) *\n *|(?<![a-z])https?:\/\/|(?<=^|[\s*_~([])www\./gi

/** A text while it is read. */
interface Scan {
  readonly text: string
  readonly definitions: Definitions
  readonly tokens: Token[]
  /** Those not matched yet. */
  readonly runs: Run[]
  readonly brackets: Bracket[]
  /** A link is within so many brackets, which therefore open none. */
  withinLink: number
  readonly missing: Set<string>
  ticks: ReadonlyMap<number, number> | undefined
}

interface Bracket {
  readonly token: Opening
  /** Where the text between the brackets begins. */
  readonly start: number
  /** How many runs were there before it. */
  readonly runsBefore: number
  hasBrackets: boolean
}

/** Reads running text in one pass, in linear time (CommonMark 0.31, chapter 6). */
export function readTokens(text: string, definitions: Definitions): readonly Token[] {
  const scan: Scan = {
    text,
    definitions,
    tokens: [],
    runs: [],
    brackets: [],
    withinLink: 0,
    missing: new Set(),
    ticks: undefined,
  }
  for (let offset = 0; offset < text.length;) {
    mark.lastIndex = offset
    const match = mark.exec(text),
      at = match?.index ?? text.length,
      marks = match?.[0] ?? ''
    if (at > offset) scan.tokens.push({ kind: 'source', text: text.slice(offset, at) })
    const found = readMark(scan, at, marks)
    if (found !== undefined) scan.tokens.push(found.token)
    else if (marks !== '') scan.tokens.push({ kind: 'source', text: marks })
    offset = found?.end ?? at + marks.length
  }
  matchRuns(scan.runs)
  return scan.tokens
}

/** What the marks are, or undefined if they are text. */
function readMark(scan: Scan, at: number, marks: string): Found | undefined {
  const end = at + marks.length
  switch (marks[0]) {
    case undefined:
      return undefined
    case '\\':
      return readEscape(marks, end)
    case ' ':
    case '\n':
      return { token: marks.startsWith('  ') ? { kind: 'break' } : { kind: 'text', text: '\n' }, end }
    case '`':
      return readCodeSpan(scan.text, end, marks.length, (scan.ticks ??= lastTicks(scan.text)))
    case '*':
    case '_':
    case '~':
      return addRun(scan, readRun(scan.text, at, marks), end)
    case '!':
      return openBracket(scan, '![', end)
    case '[':
      return openBracket(scan, '[', end)
    case ']':
      return closeBracket(scan, at)
    case '<':
      return readAngle(scan.text, at, scan.missing)
    default:
      return readAddress(scan.text, at, marks, scan.brackets.length > 0)
  }
}

function readEscape(marks: string, end: number): Found | undefined {
  if (marks.length === 1) return undefined
  return { token: marks[1] === '\n' ? { kind: 'break' } : { kind: 'text', text: marks.slice(1) }, end }
}

function addRun(scan: Scan, run: Run, end: number): Found {
  if (run.canOpen || run.canClose) scan.runs.push(run)
  return { token: run, end }
}

function openBracket(scan: Scan, bracket: Opening['mark'], end: number): Found {
  const token: Opening = { kind: 'opening', mark: bracket, target: undefined },
    outer = scan.brackets.at(-1)
  if (outer !== undefined) outer.hasBrackets = true
  scan.brackets.push({ token, start: end, runsBefore: scan.runs.length, hasBrackets: false })
  return { token, end }
}

/**
 * A link or an image ends here, if the bracket that was opened last can be one. No link is within another: the inner
 * one counts.
 */
function closeBracket(scan: Scan, at: number): Found | undefined {
  const bracket = scan.brackets.pop(),
    depth = scan.brackets.length
  if (bracket === undefined) return undefined
  const isImage = bracket.token.mark === '![',
    isWithin = depth < scan.withinLink
  scan.withinLink = Math.min(scan.withinLink, depth)
  if (isWithin && !isImage) return undefined
  const own = bracket.hasBrackets ? '' : scan.text.slice(bracket.start, at)
  const found = readTarget(scan.text, at + 1) ?? readReference(scan.text, at + 1, own, scan.definitions)
  if (found === undefined) return undefined
  bracket.token.target = found.target
  matchRuns(scan.runs.splice(bracket.runsBefore))
  if (!isImage) scan.withinLink = depth
  return { token: { kind: 'closing', source: scan.text.slice(at, found.end) }, end: found.end }
}
