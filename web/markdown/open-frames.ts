import { noLines } from './chunks.ts'
import { skipQuoteMark } from './continue-frames.ts'
import { indentAt, restOf, skipCharacters, skipColumns, skipIndent, type Indent } from './cursor.ts'
import { takeDefinitions } from './definitions.ts'
import {
  addBlock,
  closeInnermost,
  closeUnmatched,
  dropParagraph,
  innermost,
  openFrame,
  openParagraph,
  textOf,
  type Work,
} from './frames.ts'
import { readHtmlStart } from './html-rules.ts'
import {
  isRule,
  readAlignments,
  readFence,
  readHeading,
  readMarker,
  readTask,
  readUnderline,
  splitCells,
  type Marker,
} from './line-rules.ts'
import { emptySequence, isEmpty } from './sequence.ts'

/**
 * What a line may begin: something that holds blocks, something that holds what is left of the line, something that the
 * line is all of, or nothing of the kind.
 */
type Opened = 'container' | 'lines' | 'whole line' | 'nothing'

// Deeper marks of quotes and lists are text: what is nested without end would be drawn without end.
const framesMax = 24
// A longer paragraph is not made a heading by the line under it, nor are more columns a table: what was shown would be shown anew as a whole.
const underlinedCharactersMax = 2_000
const columnsMax = 100

/** Opens what begins on the line, one within another. @returns whether anything is left of the line */
export function openFrames(work: Work): 'goes on' | 'ended' {
  const deepest = work.frames[work.matched - 1]
  if (deepest?.kind === 'fence' || deepest?.kind === 'indented' || deepest?.kind === 'html') return 'goes on'
  for (;;) {
    const opened = openNext(work)
    if (opened === 'whole line') return 'ended'
    if (opened !== 'container') return 'goes on'
  }
}

function openNext(work: Work): Opened {
  const indent = indentAt(work.cursor)
  if (indent.isBlank) return 'nothing'
  if (indent.width > 3) return openIndented(work)
  const text = work.cursor.line.slice(indent.offset)
  if (!/^[#`~*+_=<>|:\d-]/.test(text)) return 'nothing'
  for (const open of openers) {
    const opened = open(work, text, indent)
    if (opened !== 'nothing') return opened
  }
  return 'nothing'
}

// In the order of precedence: a line of hyphens is an underline or a table's before it is a rule, and a rule before it is an item.
const openers: readonly ((work: Work, text: string, indent: Indent) => Opened)[] = [
  openQuote,
  openHeading,
  openFence,
  openHtml,
  underline,
  openTable,
  openRule,
  openItem,
]

function openIndented(work: Work): Opened {
  // An indented line goes on with a paragraph, even with one whose marks it lacks.
  if (innermost(work).kind === 'paragraph') return 'nothing'
  work.cursor = skipColumns(work.cursor, 4)
  openFrame(work, { kind: 'indented', lines: noLines, blank: '' })
  return 'lines'
}

function openQuote(work: Work, _text: string, indent: Indent): Opened {
  if (work.matched >= framesMax || !skipQuoteMark(work, indent)) return 'nothing'
  openFrame(work, { kind: 'quote', children: emptySequence })
  return 'container'
}

function openHeading(work: Work, text: string): Opened {
  const heading = readHeading(text)
  if (heading === undefined) return 'nothing'
  addHeading(work, heading.depth, heading.text)
  return 'whole line'
}

function addHeading(work: Work, depth: number, text: string): void {
  work.outline = [...work.outline.filter((each) => each < depth), depth]
  addBlock(work, { kind: 'heading', depth, level: work.outline.length, text })
}

function openFence(work: Work, text: string, indent: Indent): Opened {
  const fence = readFence(text)
  if (fence === undefined) return 'nothing'
  openFrame(work, { kind: 'fence', fence, indent: indent.width, lines: noLines })
  return 'whole line'
}

function openHtml(work: Work, text: string): Opened {
  const end = readHtmlStart(text, innermost(work).kind === 'paragraph')
  if (end === undefined) return 'nothing'
  openFrame(work, { kind: 'html', end, lines: noLines })
  return 'lines'
}

function underline(work: Work, text: string): Opened {
  const paragraph = openParagraph(work),
    depth = paragraph && readUnderline(text)
  if (paragraph === undefined || depth === undefined) return 'nothing'
  const { rest, found } = takeDefinitions(textOf(paragraph), work.found)
  if (rest.trim() === '' || rest.length > underlinedCharactersMax) return 'nothing'
  work.found = found
  dropParagraph(work)
  addHeading(work, depth, rest.trim())
  return 'whole line'
}

/** A table begins with the line under its header, so its header is the last line of a paragraph until then. */
function openTable(work: Work, text: string): Opened {
  const paragraph = openParagraph(work),
    alignments = paragraph && readAlignments(text)
  if (paragraph === undefined || alignments === undefined || alignments.length > columnsMax) return 'nothing'
  const header = splitCells(paragraph.lastLine)
  if (header.length !== alignments.length) return 'nothing'
  dropParagraph(work)
  if (paragraph.earlier !== '') {
    openFrame(work, { kind: 'paragraph', earlier: '', lastLine: paragraph.earlier })
    closeInnermost(work, false)
  }
  openFrame(work, { kind: 'table', header, alignments, rows: emptySequence })
  return 'whole line'
}

function openRule(work: Work, text: string): Opened {
  if (!isRule(text)) return 'nothing'
  addBlock(work, { kind: 'rule' })
  return 'whole line'
}

function openItem(work: Work, text: string, indent: Indent): Opened {
  const marker = readMarker(text)
  if (marker === undefined || work.matched >= framesMax - 1) return 'nothing'
  const isContentless = text.slice(marker.length).trim() === ''
  // A number in running text begins no list: only one that starts at 1, and has content, interrupts a paragraph.
  if (openParagraph(work) !== undefined && (isContentless || (marker.number ?? 1) !== 1)) return 'nothing'
  const afterMarker = skipCharacters(skipIndent(work.cursor), marker.length),
    space = indentAt(afterMarker).width
  const padding = isContentless || space > 4 ? 1 : space
  work.cursor = skipColumns(afterMarker, padding)
  const isSpaced = goOnWithList(work, marker) && work.isAfterBlankLine
  openFrame(work, {
    kind: 'item',
    width: indent.width + marker.length + padding,
    isSpaced,
    task: takeTask(work),
    children: emptySequence,
  })
  return 'container'
}

/** Makes a list of such items the innermost frame. @returns whether it has items */
function goOnWithList(work: Work, marker: Marker): boolean {
  closeUnmatched(work)
  const open = innermost(work)
  if (open.kind === 'list' && open.style === marker.style) return !isEmpty(open.items)
  openFrame(work, { kind: 'list', style: marker.style, start: marker.number, items: emptySequence })
  return false
}

function takeTask(work: Work): 'none' | 'open' | 'done' {
  const task = readTask(restOf(work.cursor))
  if (task !== 'none') work.cursor = skipIndent(skipCharacters(work.cursor, 3))
  return task
}
