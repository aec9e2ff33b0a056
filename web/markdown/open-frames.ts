import { noLines } from './chunks.ts'
import { skipQuoteMark } from './continue-frames.ts'
import { indentAt, restOf, skipCharacters, skipColumns, skipIndent, type Indent } from './cursor.ts'
import { normaliseLabel, takeDefinitions } from './definitions.ts'
import {
  addBlock,
  closeInnermost,
  closeUnmatched,
  dropParagraph,
  innermost,
  openFrame,
  openParagraph,
  replaceInnermost,
  textOf,
  type LineState,
} from './frames.ts'
import { readHtmlStart } from './html-rules.ts'
import {
  isRule,
  readAlert,
  readAlignments,
  readFence,
  readHeading,
  readMarker,
  readTask,
  readUnderline,
  splitCells,
  type Marker,
} from './line-rules.ts'
import { beginDetails, readDetailsLine } from './open-details.ts'
import { beginFormula } from './open-formula.ts'
import { emptySequence, isEmpty } from './sequence.ts'

/**
 * Kind of the block that was opened: one that contains blocks, one that takes the rest of the line as text, one that
 * takes the whole line, or none.
 */
type Opened = 'container' | 'lines' | 'whole line' | 'nothing'

// Deeper quote and list marks are text, which bounds the nesting of elements.
const framesMax = 24
// A longer paragraph does not become a heading, nor do more columns become a table: changing a block that is already
// visible would render it again as a whole.
const underlinedCharactersMax = 2_000
const columnsMax = 100

/**
 * Opens the blocks that begin on the line, each within the previous one.
 *
 * @returns whether part of the line remains
 */
export function openFrames(state: LineState): 'goes on' | 'ended' {
  const deepest = state.frames[state.matched - 1]
  if (deepest?.kind === 'fence' || deepest?.kind === 'indented' || deepest?.kind === 'html') return 'goes on'
  for (;;) {
    const opened = openNext(state)
    if (opened === 'whole line') return 'ended'
    if (opened !== 'container') return 'goes on'
  }
}

function openNext(state: LineState): Opened {
  const indent = indentAt(state.cursor)
  if (indent.isBlank) return 'nothing'
  if (indent.width > 3) return openIndented(state)
  const text = state.cursor.line.slice(indent.offset)
  if (!/^[#`~*+_=<>|:$[\\\d-]/.test(text)) return 'nothing'
  for (const open of openers) {
    const opened = open(state, text, indent)
    if (opened !== 'nothing') return opened
  }
  return 'nothing'
}

// By precedence: a line of hyphens is an underline or delimiter row before a rule, and a rule before a list item.
const openers: readonly ((state: LineState, text: string, indent: Indent) => Opened)[] = [
  openQuote,
  openHeading,
  openFence,
  openDetails,
  openHtml,
  openFormula,
  underline,
  openTable,
  openRule,
  openItem,
  openAlert,
  openFootnote,
]

function openIndented(state: LineState): Opened {
  // An indented line continues a paragraph, even one whose container marks are missing.
  if (innermost(state).kind === 'paragraph') return 'nothing'
  state.cursor = skipColumns(state.cursor, 4)
  openFrame(state, { kind: 'indented', lines: noLines, blank: '' })
  return 'lines'
}

function openQuote(state: LineState, _text: string, indent: Indent): Opened {
  if (state.matched >= framesMax || !skipQuoteMark(state, indent)) return 'nothing'
  openFrame(state, { kind: 'quote', alert: undefined, children: emptySequence })
  return 'container'
}

function openHeading(state: LineState, text: string): Opened {
  const heading = readHeading(text)
  if (heading === undefined) return 'nothing'
  addHeading(state, heading.depth, heading.text)
  return 'whole line'
}

function addHeading(state: LineState, depth: number, text: string): void {
  state.outline = [...state.outline.filter((each) => each < depth), depth]
  addBlock(state, { kind: 'heading', depth, level: state.outline.length, text })
}

function openFence(state: LineState, text: string, indent: Indent): Opened {
  const fence = readFence(text)
  if (fence === undefined) return 'nothing'
  openFrame(state, { kind: 'fence', fence, indent: indent.width, lines: noLines })
  return 'whole line'
}

function openDetails(state: LineState, text: string): Opened {
  if (text[0] !== '<' || state.matched >= framesMax) return 'nothing'
  if (readDetailsLine(state, text)) return 'whole line'
  return beginDetails(state, text) ? 'container' : 'nothing'
}

function openHtml(state: LineState, text: string): Opened {
  const end = readHtmlStart(text, innermost(state).kind === 'paragraph')
  if (end === undefined) return 'nothing'
  openFrame(state, { kind: 'html', end, lines: noLines })
  return 'lines'
}

function openFormula(state: LineState, text: string): Opened {
  return beginFormula(state, text) ? 'whole line' : 'nothing'
}

function underline(state: LineState, text: string): Opened {
  const paragraph = openParagraph(state),
    depth = paragraph && readUnderline(text)
  if (paragraph === undefined || depth === undefined) return 'nothing'
  const { rest, found } = takeDefinitions(textOf(paragraph), state.found)
  if (rest.trim() === '' || rest.length > underlinedCharactersMax) return 'nothing'
  state.found = found
  dropParagraph(state)
  addHeading(state, depth, rest.trim())
  return 'whole line'
}

/** A table is recognised at its delimiter row; until then its header is the last line of a paragraph. */
function openTable(state: LineState, text: string): Opened {
  const paragraph = openParagraph(state),
    alignments = paragraph && readAlignments(text)
  if (paragraph === undefined || alignments === undefined || alignments.length > columnsMax) return 'nothing'
  const header = splitCells(paragraph.lastLine)
  if (header.length !== alignments.length) return 'nothing'
  dropParagraph(state)
  if (paragraph.earlier !== '') {
    openFrame(state, { kind: 'paragraph', earlier: '', lastLine: paragraph.earlier })
    closeInnermost(state, false)
  }
  openFrame(state, { kind: 'table', header, alignments, rows: emptySequence })
  return 'whole line'
}

function openRule(state: LineState, text: string): Opened {
  if (!isRule(text)) return 'nothing'
  addBlock(state, { kind: 'rule' })
  return 'whole line'
}

/** Makes an empty quote an alert. */
function openAlert(state: LineState, text: string): Opened {
  const frame = innermost(state),
    alert = readAlert(text)
  if (alert === undefined || state.matched < state.frames.length) return 'nothing'
  if (frame.kind !== 'quote' || frame.alert !== undefined || !isEmpty(frame.children)) return 'nothing'
  replaceInnermost(state, { ...frame, alert })
  return 'whole line'
}

function openFootnote(state: LineState, text: string): Opened {
  const label = /^\[\^([^\]\s\\]{1,50})\]:/.exec(text)?.[1]
  if (label === undefined || state.matched >= framesMax) return 'nothing'
  state.cursor = skipIndent(skipCharacters(skipIndent(state.cursor), label.length + 4))
  state.found = { label: `^${normaliseLabel(label)}`, destination: label, earlier: state.found }
  openFrame(state, { kind: 'footnote', width: 4, label, children: emptySequence })
  return 'container'
}

function openItem(state: LineState, text: string, indent: Indent): Opened {
  const marker = readMarker(text)
  if (marker === undefined || state.matched >= framesMax - 1) return 'nothing'
  const isContentless = text.slice(marker.length).trim() === ''
  // A number within text does not begin a list: only an item that starts at 1 and has content may interrupt a
  // paragraph.
  if (openParagraph(state) !== undefined && (isContentless || (marker.number ?? 1) !== 1)) return 'nothing'
  const afterMarker = skipCharacters(skipIndent(state.cursor), marker.length),
    space = indentAt(afterMarker).width
  const padding = isContentless || space > 4 ? 1 : space
  state.cursor = skipColumns(afterMarker, padding)
  const isSpaced = continueList(state, marker) && state.isAfterBlankLine
  openFrame(state, {
    kind: 'item',
    width: indent.width + marker.length + padding,
    isSpaced,
    task: takeTask(state),
    children: emptySequence,
  })
  return 'container'
}

/**
 * Continues the innermost list, or opens a list of this style.
 *
 * @returns whether the list has items
 */
function continueList(state: LineState, marker: Marker): boolean {
  closeUnmatched(state)
  const open = innermost(state)
  if (open.kind === 'list' && open.style === marker.style) return !isEmpty(open.items)
  openFrame(state, { kind: 'list', style: marker.style, start: marker.number, items: emptySequence })
  return false
}

function takeTask(state: LineState): 'none' | 'open' | 'done' {
  const task = readTask(restOf(state.cursor))
  if (task !== 'none') state.cursor = skipIndent(skipCharacters(state.cursor, 3))
  return task
}
