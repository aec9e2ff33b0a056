import { indentAt, skipCharacters, skipColumns, skipIndent, type Indent } from './cursor.ts'
import { closeInnermost, innermost, type Frame, type FrameOf, type LineState } from './frames.ts'
import { closesFence } from './line-rules.ts'
import { isEmpty } from './sequence.ts'

/**
 * Matches the open blocks that the line continues.
 *
 * @returns whether part of the line remains
 */
export function continueFrames(state: LineState): 'goes on' | 'ended' {
  for (const frame of state.frames.slice(1)) {
    const answer = continueFrame(state, frame)
    if (answer === 'ended') return 'ended'
    if (answer === 'no') break
    state.matched += 1
  }
  return 'goes on'
}

/** Skips a quote mark. Returns whether there was one. */
export function skipQuoteMark(state: LineState, indent: Indent): boolean {
  if (indent.width > 3 || state.cursor.line[indent.offset] !== '>') return false
  state.cursor = skipColumns(skipCharacters(skipIndent(state.cursor), 1), 1)
  return true
}

function continueFrame(state: LineState, frame: Frame): 'yes' | 'no' | 'ended' {
  const indent = indentAt(state.cursor)
  switch (frame.kind) {
    case 'quote':
      return skipQuoteMark(state, indent) ? 'yes' : 'no'
    case 'item':
    case 'footnote':
      return continueItem(state, frame, indent)
    case 'paragraph':
    case 'table':
      return indent.isBlank ? 'no' : 'yes'
    case 'fence':
      return continueFence(state, frame, indent)
    case 'indented':
      return continueIndented(state, indent)
    case 'html':
      return continueHtml(state, frame, indent)
    default:
      return 'yes'
  }
}

/** The end of `<details>` is not part of raw HTML in it. */
function continueHtml(state: LineState, frame: FrameOf<'html'>, indent: Indent): 'yes' | 'no' {
  if (frame.end !== 'blank line') return 'yes'
  const isEnd =
    /^<\/details>\s*$/i.test(state.cursor.line.slice(indent.offset)) &&
    state.frames.some(({ kind }) => kind === 'details')
  return indent.isBlank || isEnd ? 'no' : 'yes'
}

function continueItem(state: LineState, item: FrameOf<'item' | 'footnote'>, indent: Indent): 'yes' | 'no' {
  if (indent.isBlank) {
    // An item may begin with at most one blank line.
    if (isEmpty(item.children) && innermost(state) === item) return 'no'
    state.cursor = skipColumns(state.cursor, item.width)
    return 'yes'
  }
  if (indent.width < item.width) return 'no'
  state.cursor = skipColumns(state.cursor, item.width)
  return 'yes'
}

function continueFence(state: LineState, frame: FrameOf<'fence'>, indent: Indent): 'yes' | 'ended' {
  if (indent.width < 4 && closesFence(state.cursor.line.slice(indent.offset), frame.fence)) {
    closeInnermost(state, false)
    return 'ended'
  }
  state.cursor = skipColumns(state.cursor, frame.indent)
  return 'yes'
}

function continueIndented(state: LineState, indent: Indent): 'yes' | 'no' {
  if (indent.width < 4 && !indent.isBlank) return 'no'
  state.cursor = skipColumns(state.cursor, 4)
  return 'yes'
}
