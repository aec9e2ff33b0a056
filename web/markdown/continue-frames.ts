import { indentAt, skipCharacters, skipColumns, skipIndent, type Indent } from './cursor.ts'
import { closeInnermost, innermost, type Frame, type FrameOf, type Work } from './frames.ts'
import { closesFence } from './line-rules.ts'
import { isEmpty } from './sequence.ts'

/** Finds the open frames that the line goes on with. @returns whether anything is left of the line */
export function continueFrames(work: Work): 'goes on' | 'ended' {
  for (const frame of work.frames.slice(1)) {
    const answer = continueFrame(work, frame)
    if (answer === 'ended') return 'ended'
    if (answer === 'no') break
    work.matched += 1
  }
  return 'goes on'
}

/** Reads over the mark of a quote, if there is one. */
export function skipQuoteMark(work: Work, indent: Indent): boolean {
  if (indent.width > 3 || work.cursor.line[indent.offset] !== '>') return false
  work.cursor = skipColumns(skipCharacters(skipIndent(work.cursor), 1), 1)
  return true
}

function continueFrame(work: Work, frame: Frame): 'yes' | 'no' | 'ended' {
  const indent = indentAt(work.cursor)
  switch (frame.kind) {
    case 'document':
    case 'list':
      return 'yes'
    case 'quote':
      return skipQuoteMark(work, indent) ? 'yes' : 'no'
    case 'item':
      return continueItem(work, frame, indent)
    case 'paragraph':
    case 'table':
      return indent.isBlank ? 'no' : 'yes'
    case 'fence':
      return continueFence(work, frame, indent)
    case 'indented':
      return continueIndented(work, indent)
    case 'html':
      return indent.isBlank && frame.end === 'blank line' ? 'no' : 'yes'
  }
}

function continueItem(work: Work, item: FrameOf<'item'>, indent: Indent): 'yes' | 'no' {
  if (indent.isBlank) {
    // An item may begin with one blank line, not with two.
    if (isEmpty(item.children) && innermost(work) === item) return 'no'
    work.cursor = skipColumns(work.cursor, item.width)
    return 'yes'
  }
  if (indent.width < item.width) return 'no'
  work.cursor = skipColumns(work.cursor, item.width)
  return 'yes'
}

function continueFence(work: Work, frame: FrameOf<'fence'>, indent: Indent): 'yes' | 'ended' {
  if (indent.width < 4 && closesFence(work.cursor.line.slice(indent.offset), frame.fence)) {
    closeInnermost(work, false)
    return 'ended'
  }
  work.cursor = skipColumns(work.cursor, frame.indent)
  return 'yes'
}

function continueIndented(work: Work, indent: Indent): 'yes' | 'no' {
  if (indent.width < 4 && !indent.isBlank) return 'no'
  work.cursor = skipColumns(work.cursor, 4)
  return 'yes'
}
