import type { Block } from './block.ts'
import { addLine } from './chunks.ts'
import { continueFrames } from './continue-frames.ts'
import { indentAt, restOf, skipIndent, startOf } from './cursor.ts'
import type { FoundDefinition } from './definitions.ts'
import {
  closeInnermost,
  closeUnmatched,
  innermost,
  openFrame,
  replaceInnermost,
  textOf,
  type FrameOf,
  type LineState,
  type ParsedLines,
} from './frames.ts'
import { endsHtml } from './html-rules.ts'
import { readRow } from './line-rules.ts'
import { continueFormula, showOpenFormula } from './open-formula.ts'
import { openFrames } from './open-frames.ts'
import { append, emptySequence, type Sequence } from './sequence.ts'

/** The state before the first line. */
export const noParsedLines: ParsedLines = {
  frames: [{ kind: 'document', children: emptySequence }],
  found: undefined,
  isAfterBlankLine: false,
  outline: [],
  formula: undefined,
}

/**
 * Parses one line, given without its line end (CommonMark 0.31, appendix A, phase 1). The time depends on the line
 * only.
 */
export function readLine(parsed: ParsedLines, line: string): ParsedLines {
  const formula = parsed.formula && continueFormula(parsed.formula, line)
  if (formula !== undefined && 'frames' in formula) return formula
  const state: LineState = { ...parsed, frames: [...parsed.frames], matched: 1, cursor: startOf(line), formula }
  let isBlank = false
  if (continueFrames(state) === 'goes on') {
    isBlank = indentAt(state.cursor).isBlank
    if (openFrames(state) === 'goes on') addText(state)
  }
  const { frames, found, outline } = state
  return { frames, found, isAfterBlankLine: isBlank, outline, formula: state.formula }
}

/**
 * Returns the blocks so far, and the definitions in them. `isOpen`: more text may follow, so the last block is
 * incomplete.
 */
export function blocksOf(
  parsed: ParsedLines,
  isOpen: boolean,
): { readonly blocks: Sequence<Block>; readonly found: FoundDefinition | undefined } {
  const shown = isOpen && parsed.formula !== undefined ? showOpenFormula(parsed.formula) : parsed
  const state: LineState = { ...shown, frames: [...shown.frames], matched: 1, cursor: startOf('') }
  while (state.frames.length > 1) closeInnermost(state, isOpen)
  const document = innermost(state)
  return { blocks: document.kind === 'document' ? document.children : emptySequence, found: state.found }
}

/** Adds the rest of the line to the innermost frame. */
function addText(state: LineState): void {
  const isBlank = indentAt(state.cursor).isBlank,
    innermostBefore = innermost(state)
  // A paragraph also continues on lines without the marks of its quotes and lists.
  if (!isBlank && innermostBefore.kind === 'paragraph') return addToParagraph(state, innermostBefore)
  closeUnmatched(state)
  const frame = innermost(state)
  switch (frame.kind) {
    case 'fence':
      return replaceInnermost(state, { ...frame, lines: addLine(frame.lines, restOf(state.cursor)) })
    case 'indented':
      return addToIndented(state, frame, isBlank)
    case 'html':
      return addToHtml(state, frame)
    case 'table':
      return replaceInnermost(state, {
        ...frame,
        rows: append(frame.rows, readRow(restOf(state.cursor), frame.header.length)),
      })
    case 'document':
    case 'quote':
    case 'list':
    case 'item':
    case 'details':
    case 'footnote':
    case 'paragraph':
      if (!isBlank) openFrame(state, { kind: 'paragraph', earlier: '', lastLine: restOf(skipIndent(state.cursor)) })
  }
}

function addToParagraph(state: LineState, paragraph: FrameOf<'paragraph'>): void {
  replaceInnermost(state, { kind: 'paragraph', earlier: textOf(paragraph), lastLine: restOf(skipIndent(state.cursor)) })
}

function addToIndented(state: LineState, frame: FrameOf<'indented'>, isBlank: boolean): void {
  const line = restOf(state.cursor)
  if (isBlank) replaceInnermost(state, { ...frame, blank: `${frame.blank}${line}\n` })
  else replaceInnermost(state, { kind: 'indented', lines: addLine(frame.lines, frame.blank + line), blank: '' })
}

function addToHtml(state: LineState, frame: FrameOf<'html'>): void {
  const line = restOf(state.cursor)
  replaceInnermost(state, { ...frame, lines: addLine(frame.lines, line) })
  if (endsHtml(line, frame.end)) closeInnermost(state, false)
}
