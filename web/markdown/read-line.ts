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
  type Frame,
  type FrameOf,
  type Work,
} from './frames.ts'
import { endsHtml } from './html-rules.ts'
import { readRow } from './line-rules.ts'
import { openFrames } from './open-frames.ts'
import { append, emptySequence, type Sequence } from './sequence.ts'

/** A text that was read so far. A value: reading on gives another one, and they share what is complete. */
export interface Reading {
  /** What is open, each within the one before. */
  readonly frames: readonly Frame[]
  readonly found: FoundDefinition | undefined
  readonly isAfterBlankLine: boolean
  readonly outline: readonly number[]
}

/** Nothing read yet. */
export const emptyReading: Reading = {
  frames: [{ kind: 'document', children: emptySequence }],
  found: undefined,
  isAfterBlankLine: false,
  outline: [],
}

/**
 * Reads one line, given without its end (CommonMark 0.31, appendix A, phase 1). The time it takes depends on the line,
 * not on what was read before.
 */
export function readLine(reading: Reading, line: string): Reading {
  const work: Work = { ...reading, frames: [...reading.frames], matched: 1, cursor: startOf(line) }
  let isBlank = false
  if (continueFrames(work) === 'goes on') {
    isBlank = indentAt(work.cursor).isBlank
    if (openFrames(work) === 'goes on') addText(work)
  }
  return { frames: work.frames, found: work.found, isAfterBlankLine: isBlank, outline: work.outline }
}

/** The blocks so far, and the definitions of links in them. `isOpen`: more may come, so the last block may go on. */
export function blocksOf(
  reading: Reading,
  isOpen: boolean,
): { readonly blocks: Sequence<Block>; readonly found: FoundDefinition | undefined } {
  const work: Work = { ...reading, frames: [...reading.frames], matched: 1, cursor: startOf('') }
  while (work.frames.length > 1) closeInnermost(work, isOpen)
  const document = innermost(work)
  return { blocks: document.kind === 'document' ? document.children : emptySequence, found: work.found }
}

/** Adds what is left of the line to the innermost frame. */
function addText(work: Work): void {
  const isBlank = indentAt(work.cursor).isBlank,
    innermostBefore = innermost(work)
  // Also where marks of quotes or lists are missing: a paragraph goes on without them.
  if (!isBlank && innermostBefore.kind === 'paragraph') return addToParagraph(work, innermostBefore)
  closeUnmatched(work)
  const frame = innermost(work)
  switch (frame.kind) {
    case 'fence':
      return replaceInnermost(work, { ...frame, lines: addLine(frame.lines, restOf(work.cursor)) })
    case 'indented':
      return addToIndented(work, frame, isBlank)
    case 'html':
      return addToHtml(work, frame)
    case 'table':
      return replaceInnermost(work, {
        ...frame,
        rows: append(frame.rows, readRow(restOf(work.cursor), frame.header.length)),
      })
    case 'document':
    case 'quote':
    case 'list':
    case 'item':
    case 'paragraph':
      if (!isBlank) openFrame(work, { kind: 'paragraph', earlier: '', lastLine: restOf(skipIndent(work.cursor)) })
  }
}

function addToParagraph(work: Work, paragraph: FrameOf<'paragraph'>): void {
  replaceInnermost(work, { kind: 'paragraph', earlier: textOf(paragraph), lastLine: restOf(skipIndent(work.cursor)) })
}

function addToIndented(work: Work, frame: FrameOf<'indented'>, isBlank: boolean): void {
  const line = restOf(work.cursor)
  if (isBlank) replaceInnermost(work, { ...frame, blank: `${frame.blank}${line}\n` })
  else replaceInnermost(work, { kind: 'indented', lines: addLine(frame.lines, frame.blank + line), blank: '' })
}

function addToHtml(work: Work, frame: FrameOf<'html'>): void {
  const line = restOf(work.cursor)
  replaceInnermost(work, { ...frame, lines: addLine(frame.lines, line) })
  if (endsHtml(line, frame.end)) closeInnermost(work, false)
}
